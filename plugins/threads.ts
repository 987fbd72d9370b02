import fp from 'fastify-plugin'
import { createThreadRepository, type ThreadRepository } from '../services/threads/thread-repository.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threads: ThreadRepository
  }
}

export default fp(async (app) => {
  app.decorate('threads', createThreadRepository({ store: app.store, clock: app.clock }))
}, { name: 'threads', dependencies: ['store', 'clock'] })
