import fp from 'fastify-plugin'
import { createSearchIndexing } from '../services/threads/search/indexing.ts'
import { createThreadSearch } from '../services/threads/search/thread-search.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threadSearch: ReturnType<typeof createThreadSearch>
  }
}

/** Delay after the start, so that the first requests are not slowed down. Milliseconds. */
const DELAY_MS = 5_000

/** The search in all texts, and the index that it reads, which is kept in the background. */
export default fp(async (app) => {
  const { store, clock, log, threadRepository: threads } = app
  const indexing = createSearchIndexing({ store, clock, log })
  app.decorate('threadSearch', createThreadSearch({ store, clock, threads }))

  const stop = new AbortController()
  let running: Promise<void> | undefined
  app.addHook('onListen', async () => {
    running = clock.sleep(DELAY_MS, stop.signal).then(() => indexing.run(stop.signal), () => {})
  })
  app.addHook('preClose', async () => {
    stop.abort()
    await running
  })
}, { name: 'threadSearch', dependencies: ['store', 'clock', 'threadRepository'] })
