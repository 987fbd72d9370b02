import { homedir } from 'node:os'
import fp from 'fastify-plugin'
import { type Copies, createCopies } from '../services/copies/copies.ts'
import { createTransform } from '../services/tools/transform/transform.ts'

declare module 'fastify' {
  interface FastifyInstance {
    copies: Copies
  }
}

/** Copies of folders that conversations work in. They lie beside the folder of data, which no tool may use. */
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
    async endCommands (runId) {
      await app.backgroundCommands.endOf({ runId })
      await app.undo.settled(runId)
    },
    // Runs are made of the tools.
    async placeOf (runId) {
      const isLive = await app.agent.isRunLive(runId)
      const record = await app.engine.runs.get(runId)
      const isRehearsal = record?.trigger === 'rehearsal'
      return record && (isRehearsal || isLive !== undefined) ? { cwd: record.cwd, isLive: isLive === true, isRehearsal } : undefined
    }
  })
  app.decorate('copies', copies)
  app.addHook('onReady', async () => {
    await copies.load()
    app.events.onEvent((event) => {
      if (event.type !== 'thread:deleted') return
      app.backgroundCommands.endOf({ threadId: event.threadId })
        .then(() => copies.removeOf(app.store.digest(event.threadId)))
        .catch((error) => app.log.warn({ err: error }, 'a copy could not be deleted'))
    })
  })
  app.addHook('onClose', () => transform.close())
}, { name: 'copies', dependencies: ['store', 'clock', 'paths', 'undo'] })
