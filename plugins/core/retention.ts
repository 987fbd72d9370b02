import fp from 'fastify-plugin'
import type { Settings } from '../../settings.ts'
import { threadKey } from '../../services/store/keys.ts'
import { removeOldCopies } from '../../services/store/database-files.ts'
import { createRetention } from '../../services/store/retention/retention.ts'
import { runInBackground } from './background.ts'

/** Delay after the start, in milliseconds. */
const DELAY_MS = 60_000

/** How long the backups that repairs and migrations make are kept, in milliseconds. */
const COPIES_MS = 7 * 24 * 60 * 60 * 1000

/** Removes old records in the background, from one minute after the start. A home folder whose thread cannot be read is kept. */
export default fp<Pick<Settings, 'home'>>(async (app, { home }) => {
  const { store, clock, log, threads, usage, undo, runs, grants, notifications, attachments, brain } = app
  // Backups of earlier data still hold records that the user has deleted since, so they are removed after a week.
  const copies = { sweep: () => removeOldCopies(home, { ms: COPIES_MS, now: clock.now() }) }
  // The names that plugins/sandbox.ts gives to the home folders of conversations and of runs.
  const isKept = async (name: string) => {
    const [, kind, id] = /^(thread|run)-(.+)$/.exec(name) ?? []
    if (kind === 'thread') return await store.get(threadKey(id)).catch(() => null) !== undefined
    return kind === 'run' && await runs.isLive(id) === true
  }
  const homes = { sweep: () => app.sandbox.sweepOwners(isKept) }
  const owners = [usage, undo, runs, grants, notifications, attachments, brain, threads, copies, homes]
  const retention = createRetention({ store, clock, log, prune: threads.prune, owners })
  runInBackground(app, DELAY_MS, retention.run)
}, { name: 'retention', dependencies: ['store', 'clock', 'threads', 'usage', 'undo', 'runs', 'ledger', 'notifications', 'brain'] })
