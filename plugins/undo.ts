import fp from 'fastify-plugin'
import { createTransform } from '../services/tools/transform/transform.ts'
import { createUndo, type Undo } from '../services/undo/undo.ts'

declare module 'fastify' {
  interface FastifyInstance {
    undo: Undo
  }
}

/**
 * Keeps files before tools change them, and restores them on request. Work that the last shutdown interrupted is completed after the
 * service listens.
 */
export default fp<{ home: string }>(async (app, { home }) => {
  const { store, clock, config, paths, log } = app
  const transform = createTransform({ clock })
  const undo = createUndo({
    transform,
    store,
    clock,
    home,
    paths,
    log,
    settings: () => config.current.undo,
    // The plugins of the copies, the engine and the runs are registered after this one.
    takenBack: (owner, paths) => app.copies.takenBack(owner, paths),
    copyOf: (owner, folder) => app.copies.find(owner, folder),
    isRehearsal: async (runId) => (await app.engine.runs.get(runId))?.trigger === 'rehearsal',
    isLive: (runId) => app.runs.isLive(runId)
  })
  app.decorate('undo', undo)
  const closing = new AbortController()
  let sweeping: Promise<void> | undefined
  app.addHook('onListen', () => {
    sweeping = undo.sweep(closing.signal).catch((error) => {
      if (!closing.signal.aborted) log.warn({ err: error }, 'what is kept for undo could not be cleaned up')
    })
  })
  app.addHook('preClose', async () => {
    closing.abort()
    await sweeping
    await undo.idle()
  })
  // Closed late: before that, the service compares the files of the calls that the shutdown has stopped.
  app.addHook('onClose', () => transform.close())
}, { name: 'undo', dependencies: ['store', 'clock', 'config', 'paths'] })
