import fp from 'fastify-plugin'
import { createJournal, type Journal } from '../services/undo/journal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    journal: Journal
  }
}

/** The journal of changed files. What the last end of the service left unfinished is completed once the service listens. */
export default fp<{ home: string }>(async (app, { home }) => {
  const { store, clock, config, paths, log } = app
  const journal = createJournal({
    store,
    clock,
    home,
    paths,
    log,
    settings: () => config.current.journal,
    // Both are made with the journal.
    isLive: async (runId) => await app.agent.isRunLive(runId) ?? await app.tasks.isRunLive(runId)
  })
  app.decorate('journal', journal)
  const closing = new AbortController()
  let sweeping: Promise<void> | undefined
  app.addHook('onListen', () => {
    sweeping = journal.sweep(closing.signal).catch((error) => {
      if (!closing.signal.aborted) log.warn({ err: error }, 'the journal could not be cleaned up')
    })
  })
  app.addHook('preClose', async () => {
    closing.abort()
    await sweeping
    await journal.idle()
  })
}, { name: 'journal', dependencies: ['store', 'clock', 'config', 'paths'] })
