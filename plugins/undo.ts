import fp from 'fastify-plugin'
import { createTransform } from '../services/tools/transform/transform.ts'
import { createUndo, type Undo } from '../services/undo/undo.ts'

declare module 'fastify' {
  interface FastifyInstance {
    undo: Undo
  }
}

/**
 * Keeps what tools are about to change, and takes changes back. What the last end of the service left unfinished is completed once the
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
    // All of them are made after this plugin.
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
  // The calls that the end of the service stops are compared by then.
  app.addHook('onClose', () => transform.close())
}, { name: 'undo', dependencies: ['store', 'clock', 'config', 'paths'] })
