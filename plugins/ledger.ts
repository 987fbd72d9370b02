import fp from 'fastify-plugin'
import type { Settings } from '../settings.ts'
import { createGrants, type Grants } from '../services/approvals/grants/grants.ts'
import { createLedger, type Ledger } from '../services/approvals/ledger.ts'

declare module 'fastify' {
  interface FastifyInstance {
    ledger: Ledger
    grants: Grants
  }
}

/** The one record of approvals, which conversations and tasks write, and the grants that answers give. */
export default fp<Pick<Settings, 'token'>>(async (app, { token }) => {
  const { store, clock, tools } = app
  app.decorate('ledger', createLedger({ store, clock }))
  app.decorate('grants', createGrants({ store, clock, tools, hasToken: token !== undefined }))
}, { name: 'ledger', dependencies: ['store', 'clock', 'tools'] })
