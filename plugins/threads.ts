import fp from 'fastify-plugin'
import { createThreadService, type ThreadService } from '../services/threads/thread-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threads: ThreadService
  }
}

/** Threads with the state of their runs, for the routes. */
export default fp(async (app) => {
  const { store, clock, events, threadRepository, agent, ledger, undo, usage } = app
  const { emit } = events
  app.decorate('threads', createThreadService({ store, clock, emit, threads: threadRepository, agent, ledger, undo, usage }))
}, { name: 'threads', dependencies: ['store', 'clock', 'events', 'threadRepository', 'ledger', 'undo', 'usage', 'agent'] })
