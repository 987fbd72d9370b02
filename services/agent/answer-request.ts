import type { Config } from '../../schemas/config.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import { withRunOptions } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { createAnalysis } from './analyze.ts'
import { runSteps } from './loop.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import { adviseRun } from './run-advice.ts'
import type { Context } from './run-prompt.ts'

/** The default number of steps with tools. */
const STEPS = 100

/** Returns the most steps in which a run can use tools. After them the model must answer without tools. */
export const stepLimit = ({ agent }: Config, { maxSteps }: RunOptions = {}): number => maxSteps ?? agent?.steps?.conversation ?? STEPS

/**
 * Returns the function that does the work of a new run. The model answers with all its tools. The analysis of the request runs at the same
 * time: it can add a hint for the model, a review of the answer and a notice, and takes nothing away.
 */
export function createAnswerRequest (shared: AgentDeps) {
  const analyze = createAnalysis(shared)

  return async (attempt: ConversationAttempt, context: Context): Promise<void> => {
    const { live, meter } = attempt
    const { record, log } = live.run
    const deps = withRunOptions(shared, record.options, log)
    const { registry } = deps
    const { fast, capable } = registry.roles()
    // The offline model analyses a request itself when it answers.
    if (deps.config().analysis === false || (isOffline(fast) && !isOffline(capable))) return runSteps(attempt, context, deps)
    // One local server would have to run both models in turn, and the user waits for the answer.
    const analysis = registry.sharesLocalServer(fast, capable).then((isShared) =>
      isShared ? undefined : analyze({ prompt: context.prompt, registry, meter, signal: live.signal }))
    const advice = adviseRun(live, analysis)
    // The analysis of the offline model takes no time. Its text must come before the answer.
    if (isOffline(fast)) await advice.settle()
    try {
      await runSteps(attempt, { ...context, advice }, deps)
    } finally {
      advice.release()
    }
  }
}

const isOffline = (id: string) => id.startsWith('offline/')
