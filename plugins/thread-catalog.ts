import fp from 'fastify-plugin'
import { createLedger } from '../services/approvals/ledger.ts'
import { createThreadService, type ThreadService } from '../services/threads/thread-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    catalog: ThreadService
  }
}

/** Threads with the state of their runs, for the routes. */
export default fp(async (app) => {
  const { store, clock, threads, agent } = app
  app.decorate('catalog', createThreadService({ store, threads, agent, ledger: createLedger({ store, clock }) }))
}, { name: 'catalog', dependencies: ['store', 'clock', 'threads', 'agent'] })
