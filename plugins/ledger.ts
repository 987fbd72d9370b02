import fp from 'fastify-plugin'
import type { Settings } from '../settings.ts'
import { createGrants, type Grants } from '../services/approvals/grants/grants.ts'
import { createLedger, type Ledger } from '../services/approvals/ledger.ts'
import { largestKept } from '../services/workspace/space.ts'
import { createLiveQuestions, type LiveQuestions } from '../services/approvals/questions/live-questions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    ledger: Ledger
    liveQuestions: LiveQuestions
    grants: Grants
  }
}

/** The ledger, to which conversations and tasks add their approvals, and the grants that answers create. */
export default fp<Pick<Settings, 'token'>>(async (app, { token }) => {
  const { store, clock, tools, config } = app
  const ledger = createLedger({ store, clock, notifications: app.notifications })
  app.decorate('ledger', ledger)
  app.decorate('liveQuestions', createLiveQuestions({ ledger, store, clock }))
  const hasToken = token !== undefined
  const grants = createGrants({ store, clock, tools, hasToken, largestKept: () => largestKept(config.current.undo) })
  app.decorate('grants', grants)
  // The clock might be set back before the next start, so the ends of grants are stored now.
  const keepEnds = () => grants.sweep().catch((error) => app.log.warn({ err: error }, 'ends of grants could not be stored'))
  app.addHook('onReady', keepEnds)
  app.addHook('preClose', keepEnds)
}, { name: 'ledger', dependencies: ['store', 'clock', 'tools', 'config', 'notifications'] })
