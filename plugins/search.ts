import fp from 'fastify-plugin'
import { runInBackground } from './core/background.ts'
import { createSearchIndexing } from '../services/threads/search/indexing.ts'
import { createThreadSearch } from '../services/threads/search/thread-search.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threadSearch: ReturnType<typeof createThreadSearch>
  }
}

/** Delay after the start, so that the first requests are not slowed down. Milliseconds. */
const DELAY_MS = 5_000

/** The search in all texts, and its index, which is kept up to date in the background. */
export default fp(async (app) => {
  const { store, clock, log, threadRepository: threads } = app
  const indexing = createSearchIndexing({ store, clock, readAnswer: threads.readAnswer, log })
  app.decorate('threadSearch', createThreadSearch({ store, clock, threads, onDamage: indexing.rebuild }))

  runInBackground(app, DELAY_MS, indexing.run)
}, { name: 'threadSearch', dependencies: ['store', 'clock', 'threadRepository'] })
