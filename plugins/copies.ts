import { homedir } from 'node:os'
import fp from 'fastify-plugin'
import { type Copies, createCopies } from '../services/copies/copies.ts'
import { createTransform } from '../services/tools/transform/transform.ts'

declare module 'fastify' {
  interface FastifyInstance {
    copies: Copies
  }
}

/** Copies of folders in which conversations work. The copies are beside the data folder, because no tool may use the data folder itself. */
export default fp<{ home: string }>(async (app, { home }) => {
  const transform = createTransform({ clock: app.clock })
  const copies = createCopies({
    store: app.store,
    clock: app.clock,
    root: `${home}-copies`,
    ownHome: home,
    homes: [homedir()],
    transform,
    paths: app.paths,
    undo: app.undo,
    log: app.log,
    endCommands: ({ runId, threadId }) => app.backgroundCommands.endOf(threadId === undefined ? { runId } : { threadId }),
    // The engine is created after the tools, so `app.engine` is read only at a call.
    async placeOf (runId) {
      const { cwd, threadId, trigger } = await app.engine.runs.get(runId) ?? {}
      const isRehearsal = trigger === 'rehearsal'
      if (cwd === undefined || (!isRehearsal && threadId === undefined)) return undefined
      const isLive = threadId !== undefined && await app.runs.isLive(runId) === true
      const isBusy = threadId !== undefined && await app.threads.isBusy(threadId)
      return { cwd, threadId, isLive, isBusy, isRehearsal }
    }
  })
  app.decorate('copies', copies)
  app.addHook('onReady', async () => {
    await copies.load()
    app.events.onEvent((event) => {
      if (event.type !== 'thread:deleted') return
      copies.removeOf(app.store.digest(event.threadId)).catch((error) => app.log.warn({ err: error }, 'a copy could not be deleted'))
    })
  })
  app.addHook('onClose', () => transform.close())
}, { name: 'copies', dependencies: ['store', 'clock', 'paths', 'undo'] })
