import fp from 'fastify-plugin'
import type { Backup } from '../services/backup/backup.ts'

declare module 'fastify' {
  interface FastifyInstance {
    backup: Pick<Backup, 'export' | 'import'>
  }
}

/** Headers arrive as Latin-1; a passphrase is UTF-8. */
const utf8 = (header: string) => Buffer.from(header, 'latin1').toString()

/** All that is remembered as one file, and back; loaded when first asked for. */
export default fp<{ home: string, replaced?: () => void }>(async (app, { home, replaced = () => {} }) => {
  const { store, clock, config, agent, tasks, draining, log } = app
  const closing = new AbortController()
  let made: Promise<Backup> | undefined
  const backup = () => {
    made ??= import('../services/backup/backup.ts').then(({ createBackup }) =>
      createBackup({
        dir: home,
        store,
        clock,
        config: () => config.raw,
        busy: () => agent.activeRunCount > 0 ? 'A run is under way.' : tasks.live > 0 ? 'A run of a task is under way.' : undefined,
        shut: () => {
          draining.value = true
        },
        replaced,
        log
      })
    )
    return made
  }
  app.decorate('backup', {
    export: async (passphrase, gone) => (await backup()).export(utf8(passphrase), AbortSignal.any([gone, closing.signal])),
    import: async (body, passphrase, gone) => (await backup()).import(body, utf8(passphrase), gone)
  })
  app.addHook('preClose', async () => closing.abort())
}, { name: 'backup', dependencies: ['store', 'clock', 'config', 'gate', 'agent', 'tasks', 'stream'] })
