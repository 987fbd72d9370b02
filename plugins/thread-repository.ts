import fp from 'fastify-plugin'
import { createThreadRepository, type ThreadRepository } from '../services/threads/thread-repository.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threadRepository: ThreadRepository
  }
}

/** The stored conversations. Their answers are read from run logs, through the engine. */
export default fp(async (app) => {
  app.decorate('threadRepository', createThreadRepository({
    store: app.store,
    clock: app.clock,
    readAnswer: (stored) => app.answers.read(stored)
  }))
}, { name: 'threadRepository', dependencies: ['store', 'clock'] })
