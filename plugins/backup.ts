import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import { Draining } from '../services/http/gate.ts'
import { logFile } from '../services/log/rotating-file.ts'
import type { ImportProgress } from '../schemas/backup.ts'
import { readableExport } from '../services/store/backup/readable-export.ts'
import type { Backup } from '../services/store/backup/backup.ts'

declare module 'fastify' {
  interface FastifyInstance {
    backup: Pick<Backup, 'export' | 'import' | 'check' | 'erase'> & {
      /** Returns the progress of the current import. */
      progress(): Promise<ImportProgress>
      /** Returns a stream of JSON with all data that people can read, without secrets. */
      readable(): Readable
    }
  }
}

/** Decodes a passphrase from its header: Node reads headers as Latin-1, and clients send the passphrase as UTF-8. */
const utf8 = (header: string) => Buffer.from(header, 'latin1').toString()

/** Entries that the export for people reads at a time from each list. */
const PAGE = 100

/** Export and import of all data as one file; loaded on first use. */
export default fp<{ home: string, replaced?: () => void }>(async (app, { home, replaced = () => {} }) => {
  const { store, clock, config, agent, tasks, draining, log } = app
  const closing = new AbortController()
  let loading: Promise<Backup> | undefined
  const backup = () => {
    loading ??= import('../services/store/backup/backup.ts').then(({ createBackup }) =>
      createBackup({
        dir: home,
        store,
        attachments: app.attachmentFiles,
        clock,
        config,
        busy: () => agent.activeRunCount > 0 ? 'A run is in progress.' : tasks.live > 0 ? 'A run of a task is in progress.' : undefined,
        refuseRequests: () => {
          draining.value = true
        },
        // On Windows, a child process inherits the open log of LevelDB. Until that child ends, the data folder cannot be removed or
        // renamed.
        endChildren: async () => {
          if (process.platform === 'win32') await app.shutdown.closeParts()
        },
        replaced,
        logFile,
        log
      })
    )
    return loading
  }
  app.decorate('backup', {
    export: async (passphrase, gone) => (await backup()).export(passphrase && utf8(passphrase), AbortSignal.any([gone, closing.signal])),
    import: async (body, passphrase, gone) => (await backup()).import(body, utf8(passphrase), gone),
    check: async (body, passphrase, gone) => (await backup()).check(body, utf8(passphrase), gone),
    progress: async () => (await loading)?.progress() ?? { step: 'none', bytes: 0 },
    erase: async (gone) => (await backup()).erase(gone),
    readable: () =>
      Readable.from(
        readableExport({
          config: () => config.masked(app.secrets.all()),
          brain: () => app.brain.recall(),
          agents: () => app.agents.list(),
          threads: (cursor) => app.threads.list({ limit: PAGE, cursor }),
          thread: (id, cursor) => app.threads.get(id, { limit: PAGE, cursor }),
          versions: async (id) => {
            const { versions } = await app.threads.versions(id)
            return Promise.all(versions.map((version) => app.threads.version(id, version.id)))
          },
          tasks: (cursor) => tasks.list({ limit: PAGE, cursor }),
          runs: (taskId, cursor) => app.runs.list({ taskId, limit: PAGE, cursor }),
          decisions: (cursor) => app.ledger.decided.list({ limit: PAGE, cursor }),
          grants: (cursor) => app.grants.list({ limit: PAGE, cursor }),
          now: clock.now
        }),
        { objectMode: false }
      )
  })
  app.addHook('preClose', async () => closing.abort(new Draining()))
}, { name: 'backup', dependencies: ['store', 'shutdown', 'attachments', 'clock', 'config', 'gate', 'agent', 'agents', 'tasks', 'stream'] })
