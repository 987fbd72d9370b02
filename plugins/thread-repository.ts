import fp from 'fastify-plugin'
import { createThreadRepository, type ThreadRepository } from '../services/threads/thread-repository.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threadRepository: ThreadRepository
  }
}

/** The stored conversations. The answers in them are read from the logs of runs, which `engine` has. */
export default fp(async (app) => {
  app.decorate('threadRepository', createThreadRepository({
    store: app.store,
    clock: app.clock,
    readAnswer: (stored) => app.answers.read(stored)
  }))
}, { name: 'threadRepository', dependencies: ['store', 'clock'] })
