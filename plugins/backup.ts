import fp from 'fastify-plugin'
import type { Backup } from '../services/store/backup/backup.ts'

declare module 'fastify' {
  interface FastifyInstance {
    backup: Pick<Backup, 'export' | 'import' | 'erase'>
  }
}

/** Headers arrive as Latin-1; a passphrase is UTF-8. */
const utf8 = (header: string) => Buffer.from(header, 'latin1').toString()

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
        clock,
        config: () => config.raw,
        busy: () => agent.activeRunCount > 0 ? 'A run is in progress.' : tasks.live > 0 ? 'A run of a task is in progress.' : undefined,
        refuseRequests: () => {
          draining.value = true
        },
        replaced,
        log
      })
    )
    return loading
  }
  app.decorate('backup', {
    export: async (passphrase, gone) => (await backup()).export(utf8(passphrase), AbortSignal.any([gone, closing.signal])),
    import: async (body, passphrase, gone) => (await backup()).import(body, utf8(passphrase), gone),
    erase: async (gone) => (await backup()).erase(gone)
  })
  app.addHook('preClose', async () => closing.abort())
}, { name: 'backup', dependencies: ['store', 'clock', 'config', 'gate', 'agent', 'tasks', 'stream'] })
