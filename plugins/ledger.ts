import fp from 'fastify-plugin'
import type { Settings } from '../settings.ts'
import { createGrants, type Grants } from '../services/approvals/grants/grants.ts'
import { createDueCalls, type DueCalls } from '../services/approvals/app-calls/due-calls.ts'
import { createLedger, type Ledger } from '../services/approvals/ledger.ts'

declare module 'fastify' {
  interface FastifyInstance {
    ledger: Ledger
    dueCalls: DueCalls
    grants: Grants
  }
}

/** The one record of approvals, which conversations and tasks write, and the grants that answers give. */
export default fp<Pick<Settings, 'token'>>(async (app, { token }) => {
  const { store, clock, tools } = app
  const dueCalls = createDueCalls()
  app.decorate('dueCalls', dueCalls)
  app.decorate('ledger', createLedger({ store, clock, dueCalls }))
  app.decorate('grants', createGrants({ store, clock, tools, hasToken: token !== undefined }))
}, { name: 'ledger', dependencies: ['store', 'clock', 'tools'] })
