import fp from 'fastify-plugin'
import type { Settings } from '../../settings.ts'
import { removeOldCopies } from '../../services/store/database-files.ts'
import { createRetention } from '../../services/store/retention/retention.ts'

/** How long copies from before repairs and migrations are kept, milliseconds. */
const COPIES_MS = 7 * 24 * 60 * 60 * 1000

/** Removes old records in the background, from one minute after the start. */
export default fp<Pick<Settings, 'home'>>(async (app, { home }) => {
  const { store, clock, log, threads: { prune }, usage, undo, runs, grants, notifications, attachments, brain } = app
  // What was deleted since stands in copies of earlier data, too.
  const copies = { sweep: () => removeOldCopies(home, { ms: COPIES_MS, now: clock.now() }) }
  const owners = [usage, undo, runs, grants, notifications, attachments, brain, copies]
  const retention = createRetention({ store, clock, log, prune, owners })
  const stop = new AbortController()
  let running: Promise<void> | undefined
  app.addHook('onListen', async () => {
    running = app.clock.sleep(60_000, stop.signal).then(() => retention.run(stop.signal), () => {})
  })
  app.addHook('preClose', async () => {
    stop.abort()
    await running
  })
}, { name: 'retention', dependencies: ['store', 'clock', 'threads', 'usage', 'undo', 'runs', 'ledger', 'notifications', 'brain'] })
