import fp from 'fastify-plugin'
import { createThreadRepository, type ThreadRepository } from '../services/threads/thread-repository.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threadRepository: ThreadRepository
  }
}

/** The stored conversations. */
export default fp(async (app) => {
  app.decorate('threadRepository', createThreadRepository({ store: app.store, clock: app.clock }))
}, { name: 'threadRepository', dependencies: ['store', 'clock'] })
