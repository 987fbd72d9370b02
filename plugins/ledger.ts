import fp from 'fastify-plugin'
import { createLedger, type Ledger } from '../services/approvals/ledger.ts'

declare module 'fastify' {
  interface FastifyInstance {
    ledger: Ledger
  }
}

/** The one record of approvals, which conversations and tasks write. */
export default fp(async (app) => {
  app.decorate('ledger', createLedger({ store: app.store, clock: app.clock }))
}, { name: 'ledger', dependencies: ['store', 'clock'] })
