import fp from 'fastify-plugin'
import { createInbox, type Inbox } from '../services/approvals/inbox.ts'

declare module 'fastify' {
  interface FastifyInstance {
    approvals: Inbox
  }
}

/** All that waits for a person, for the routes. */
export default fp(async (app) => {
  const { ledger, agent, tasks } = app
  app.decorate('approvals', createInbox({ ledger, agent, tasks }))
}, { name: 'approvals', dependencies: ['ledger', 'agent', 'tasks'] })
