import fp from 'fastify-plugin'
import { createAppCalls, type AppCalls } from '../services/approvals/app-calls/app-calls.ts'

declare module 'fastify' {
  interface FastifyInstance {
    toolCalls: AppCalls
  }
}

/** The calls that applications execute. Overdue ones are closed once the runs of tasks, which then go on, were recovered. */
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
