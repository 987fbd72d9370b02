import fp from 'fastify-plugin'
import { requestTrace } from '../../services/lib/request-trace.ts'
import type { RunRecord } from '../../services/runs/index.ts'
import { RUNS } from '../../services/store/index.ts'
import { askedTraces } from '../../services/traces/asked-traces.ts'
import { isTraceparent, createTraces, type Traces } from '../../services/traces/traces.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined if the environment variables ask for no traces. */
    traces: Traces | undefined
  }
}

/** Sends traces of runs to an OpenTelemetry collector, if environment variables ask for them. */
export default fp(async (app) => {
  const { clock, log, store } = app
  const asked = askedTraces(process.env)
  if (typeof asked === 'string') log.warn(asked)
  if (asked === undefined || typeof asked === 'string') {
    app.decorate('traces', undefined)
    return
  }
  // The engine and the ledger are created later, so both are read only at a call.
  const traces = createTraces({
    ...{ asked, env: process.env, clock, log },
    activeRun: (runId) => app.engine.activeRuns.find(runId)?.run.record,
    findRun: (runId) => app.engine.runs.get(runId)
  })
  app.decorate('traces', traces)
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers
    if (typeof traceparent === 'string' && isTraceparent(traceparent)) requestTrace.run(traceparent, done)
    else done()
  })
  store.onCommit((ops) => {
    for (const op of ops) if (op.type === 'put' && op.key.startsWith(RUNS)) traces.runStored(op.value as RunRecord)
  })
  app.addHook('onReady', async () => {
    app.events.onEvent((event) => {
      if (event.type !== 'approval:closed' && event.type !== 'tool-call:closed') return
      app.ledger.find(event.approvalId)
        .then((approval) => approval && traces.waited(approval))
        .catch((error) => log.warn({ err: error }, 'a wait could not be traced'))
    })
  })
  app.addHook('onClose', traces.close)
}, { name: 'traces', dependencies: ['clock', 'store'] })
