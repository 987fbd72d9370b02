import fp from 'fastify-plugin'
import { createGrantService, type GrantService } from '../services/approvals/grants/grant-service.ts'
import { announceServers } from '../services/approvals/announce-approvals.ts'
import { createCallPreviews } from '../services/approvals/call-preview.ts'
import { createInbox, type Inbox } from '../services/approvals/inbox.ts'
import { withRunTools } from '../services/runs/options/with-run-options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    inbox: Inbox
    grantService: GrantService
  }
}

/** Approvals and grants, as the routes read and answer them. */
export default fp(async (app) => {
  const { ledger, liveQuestions: live, grants, agent, agents, tasks, threads, tools: host, workspace, engine, mcp, clock, events } = app
  mcp.watchWaiting(announceServers({ clock, emit: events.emit }))
  const previews = createCallPreviews({ ledger, host, withRunTools, runs: { find: engine.runs.get } })
  app.decorate('inbox', createInbox({ ledger, live, previews, agent, tasks, servers: mcp }))
  app.decorate('grantService', createGrantService({
    ...{ grants, host, withRunTools, tasks, threads, workspace },
    resolve: agents.resolve,
    runs: engine.runs
  }))
}, { name: 'approvals', dependencies: ['ledger', 'agent', 'agents', 'tasks', 'threads', 'tools', 'engine', 'mcp', 'events'] })
