import fp from 'fastify-plugin'
import type { Settings } from '../../settings.ts'
import { removeOldCopies } from '../../services/store/database-files.ts'
import { createRetention } from '../../services/store/retention/retention.ts'
import { runInBackground } from './background.ts'

/** Delay after the start, milliseconds. */
const DELAY_MS = 60_000

/** How long copies from before repairs and migrations are kept, milliseconds. */
const COPIES_MS = 7 * 24 * 60 * 60 * 1000

/** Removes old records in the background, from one minute after the start. */
export default fp<Pick<Settings, 'home'>>(async (app, { home }) => {
  const { store, clock, log, threads: { prune }, usage, undo, runs, grants, notifications, attachments, brain } = app
  // What was deleted since stands in copies of earlier data, too.
  const copies = { sweep: () => removeOldCopies(home, { ms: COPIES_MS, now: clock.now() }) }
  const owners = [usage, undo, runs, grants, notifications, attachments, brain, copies]
  const retention = createRetention({ store, clock, log, prune, owners })
  runInBackground(app, DELAY_MS, retention.run)
}, { name: 'retention', dependencies: ['store', 'clock', 'threads', 'usage', 'undo', 'runs', 'ledger', 'notifications', 'brain'] })
