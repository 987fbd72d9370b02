import fp from 'fastify-plugin'
import { createThreadService, type ThreadService } from '../services/threads/thread-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    catalog: ThreadService
  }
}

/** Threads with the state of their runs, for the routes. */
export default fp(async (app) => {
  const { store, clock, events, threads, agent, ledger, undo, usage } = app
  app.decorate('catalog', createThreadService({ store, clock, emit: events.emit, threads, agent, ledger, undo, usage }))
}, { name: 'catalog', dependencies: ['store', 'clock', 'events', 'threads', 'ledger', 'undo', 'usage', 'agent'] })
