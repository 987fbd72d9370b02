import fp from 'fastify-plugin'
import { announceRuns, logRuns } from '../services/runs/announce-runs.ts'
import { createRunService, type RunService } from '../services/runs/run-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    runs: RunService
  }
}

/** The runs of conversations and of tasks. The event streams are closed after all runs, when the end of each run has been sent. */
export default fp(async (app) => {
  const { store, clock, log, engine: { runs: stored, activeRuns }, ledger, events, openApprovals, agent, tasks } = app
  app.addHook('onReady', announceRuns({ store, clock, emit: events.emit }).load)
  logRuns({ onEvent: events.onEvent, clock, log })
  const runs = createRunService({ store, clock, runs: stored, activeRuns, ledger, openOf: openApprovals.of, agent, tasks, events })
  app.decorate('runs', runs)
  app.addHook('preClose', async () => {
    runs.close()
    events.close()
  })
}, { name: 'runs', dependencies: ['store', 'clock', 'ledger', 'engine', 'events', 'agent', 'tasks'] })
