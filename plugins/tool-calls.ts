import fp from 'fastify-plugin'
import { createAppCalls, type AppCalls } from '../services/approvals/app-calls/app-calls.ts'

declare module 'fastify' {
  interface FastifyInstance {
    toolCalls: AppCalls
  }
}

/**
 * Calls that applications execute. Overdue calls are closed after the runs of tasks are recovered, because closing a call continues its
 * run.
 */
export default fp(async (app) => {
  const { ledger, store, clock, agent, tasks, log } = app
  const toolCalls = createAppCalls({ ledger, store, clock, agent, tasks, log })
  app.decorate('toolCalls', toolCalls)
  const closing = new AbortController()
  let running: Promise<void> | undefined
  app.addHook('onListen', async () => {
    running = tasks.recovered.then(() => toolCalls.run(closing.signal)).catch((error) => {
      if (!closing.signal.aborted) log.error({ err: error }, 'overdue calls of applications are not closed any more; restart the service')
    })
  })
  app.addHook('preClose', async () => {
    closing.abort()
    await running
  })
}, { name: 'tool-calls', dependencies: ['ledger', 'store', 'clock', 'agent', 'tasks'] })
