import fp from 'fastify-plugin'
import { createActiveRuns, type ActiveRuns } from '../services/runs/engine/active-runs.ts'
import type { EngineDeps } from '../services/runs/engine/attempt.ts'
import { withRunTools } from '../services/runs/options/with-run-options.ts'
import type { Tool } from '../services/contracts/tool.ts'
import { createInvestigate } from '../services/runs/engine/investigate.ts'
import { createHelperQueue, type HelperQueue } from '../services/models/advice/helper-queue.ts'
import { createIdempotency, type Idempotency } from '../services/http/idempotency.ts'
import { factsLine } from '../services/judge/facts-line.ts'
import { createRunRepository } from '../services/runs/run-repository.ts'
import { createStoredAnswers } from '../services/runs/stored-answers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The active runs, and the collaborators of the code that executes them. */
    engine: EngineDeps & { activeRuns: ActiveRuns }
    /** Renders the answers of threads from the run logs. */
    answers: ReturnType<typeof createStoredAnswers>
    /** Makes helper calls to local model servers wait while a run uses the same server. */
    helperQueue: HelperQueue
    /** Makes requests that a client sends again take effect once. */
    idempotency: Idempotency
    /** Answers a question by a nested run. */
    investigate: ReturnType<typeof createInvestigate>
    /**
     * Returns the deferred tools (tools whose descriptions the model must look up with findTools) of an active run that the run is allowed
     * to call. `deferred` lists the names of deferred tools; by default, the names that the run has recorded.
     */
    deferredTools: (runId: string, deferred?: readonly string[]) => Tool[]
  }
}

/** The default limit for active runs of conversations. */
const DEFAULT_ACTIVE_RUNS = 128

/** The engine: the collaborators that execute runs of conversations and of tasks. */
export default fp(async (app) => {
  const { store, clock, fence, ledger, liveQuestions, grants, usage, config, log } = app
  app.decorate('engine', {
    store,
    clock,
    runs: createRunRepository({ store, clock, usage, facts: (events, cwd) => factsLine(events, app.tools.find, cwd) }),
    activeRuns: createActiveRuns({ clock, limit: () => config.current.limits?.liveRuns ?? DEFAULT_ACTIVE_RUNS }),
    fence,
    ledger,
    liveQuestions,
    grants,
    usage,
    config: () => config.current,
    traces: app.traces,
    log
  })
  app.decorate('answers', createStoredAnswers(app.engine))
  const helperQueue = createHelperQueue(app.providers.localServer)
  app.engine.activeRuns.onBegin((options, ended, isConversation) =>
    void helperQueue.enterRun(app.providers.forRun(options).candidates('capable'), ended, isConversation))
  app.engine.activeRuns.onBegin((_options, ended) => app.keepAwake.during(ended))
  app.decorate('helperQueue', helperQueue)
  app.decorate('idempotency', createIdempotency({ store, clock }))
  app.decorate('investigate', createInvestigate({ ...app.engine, usage, registry: app.providers, host: app.tools }))
  app.decorate('deferredTools', (runId, ofCall) => {
    const { options, deferred = [] } = app.engine.activeRuns.toolsOf(runId)
    return withRunTools(app.tools, options).offered().filter(({ model }) => (ofCall ?? deferred).includes(model.name))
  })
}, { name: 'engine', dependencies: ['store', 'clock', 'config', 'providers', 'tools', 'ledger', 'usage', 'awake'] })
