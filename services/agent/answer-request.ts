import type { Config } from '../../schemas/config.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import { withRunOptions } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { createAnalysis } from './analyze.ts'
import { runSteps } from './loop.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import { adviseRun } from './run-advice.ts'
import type { Context } from './run-prompt.ts'

/** Steps with tools, by default. */
const STEPS = 100

/** Returns the number of steps with tools of a run. After them the model must answer without tools. */
export const stepLimit = ({ agent }: Config, { maxSteps }: RunOptions = {}): number => maxSteps ?? agent?.steps?.conversation ?? STEPS

/**
 * Returns the work of a new run. The model answers with all its tools, and the analysis of the request goes beside it: it adds a hint, a
 * review of the answer and a notice, and takes nothing away.
 */
export function createAnswerRequest (shared: AgentDeps) {
  const analyze = createAnalysis(shared)

  return async (attempt: ConversationAttempt, context: Context): Promise<void> => {
    const { live, meter } = attempt
    const { record, log } = live.run
    const deps = withRunOptions(shared, record.options, log)
    const { registry } = deps
    const { fast, capable } = registry.roles()
    // What the offline model finds in a request, it does itself when it answers.
    if (deps.config().analysis === false || (isOffline(fast) && !isOffline(capable))) return runSteps(attempt, context, deps)
    // A local server that answers would be asked for both, and the user waits for the answer.
    const analysis = registry.sharesLocalServer(fast, capable).then((isShared) =>
      isShared ? undefined : analyze({ prompt: context.prompt, registry, meter, signal: live.signal }))
    const advice = adviseRun(live, analysis)
    // It takes no time, and its words stand before the answer.
    if (isOffline(fast)) await advice.settle()
    try {
      await runSteps(attempt, { ...context, advice }, deps)
    } finally {
      advice.release()
    }
  }
}

const isOffline = (id: string) => id.startsWith('offline/')
