import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { openingOf } from '../step/opening.ts'
import { foldToModelMessages } from '../run-log/fold.ts'
import { createModelSteps } from '../step/model-step.ts'
import { createIdSource } from '../step/step-writer.ts'
import type { ActiveRun } from './active-runs.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { RunAttempt } from './run-attempt.ts'
import { runContext, type PromptInputs } from './run-prompt.ts'
import { checkLength } from './run-repository.ts'
import { denialNotes } from './system-prompt.ts'
import type { ThreadPlacement } from './thread-history.ts'

/** A run's request, converted for the model. */
export interface Context extends PromptInputs, ThreadPlacement {
  prompt: LanguageModelV4Prompt
}

/** A step whose model call is complete. It is an answer if it has no calls, or none that may run. */
export type CalledStep =
  | { isAnswer: boolean, stepFinish: EventOf<'step-finish'> }
  | { isAnswer: false, stepFinish?: EventOf<'step-finish'> }

/** Where the events of model calls go, and what pauses or aborts the calls. */
export interface ModelOutput {
  append: (event: RunEvent) => void
  /** Pending while the model stream must pause; undefined otherwise. */
  backpressure: () => Promise<void> | undefined
  signal: AbortSignal
}

/** Makes the model call of the next step, with the steering that arrived before it. */
export type ModelCalls = () => Promise<CalledStep>

/** The events go into the log of the run at once, as fast as its subscribers read. */
const directOutput = ({ run, backpressure, signal }: ActiveRun): ModelOutput => ({ append: run.log.append, backpressure, signal })

/** Returns the function that makes the model calls of a run, one for each step. */
export function createModelCalls (
  attempt: RunAttempt,
  context: Context,
  deps: AgentDeps,
  { append, backpressure, signal }: ModelOutput = directOutput(attempt.live)
): ModelCalls {
  const { live, meter, owed, conversation: { denials } } = attempt
  const { run } = live
  const { registry, clock, host, threads } = deps
  const { prompt, older, places } = context
  const { threadId } = run.head
  const modelStep = createModelSteps({
    registry,
    clock,
    signal,
    meter,
    tools: host,
    ids: createIdSource(run.log.events, prompt),
    summaries: {
      load: () => threads.summaries(threadId),
      // A failed write costs only time: the summary is then made again.
      keep: (summaries) =>
        threads.keepSummaries(threadId, summaries).catch((error) => deps.log.error({ err: error }, 'a summary could not be stored'))
    },
    append,
    afterParts () {
      checkLength(run.log)
      return backpressure()
    }
  })

  return async () => {
    const begun = clock.awake()
    const step = run.head.steps + 1
    const isLast = step > run.head.maxSteps
    const { unheard = [], ...head } = run.head
    run.head = head
    const { calls, finishReason, usage } = await modelStep({
      step,
      isLast,
      owed,
      notes: [...unheard, ...live.drainSteering()],
      messages: [...prompt, ...foldToModelMessages(run.log.events, host.forModel)],
      latest: prompt.findLastIndex(({ role }) => role === 'user'),
      older,
      places,
      async context () {
        const fixed = await runContext(attempt, context, { ...deps, append })
        return { opening: openingOf(fixed, ...denialNotes(denials)), tools: fixed.tools }
      }
    })
    run.head = { ...run.head, steps: step }
    deps.log.info({ runId: run.head.runId, step, calls: calls.length, finishReason, ms: Math.round(clock.awake() - begun) }, 'step')
    return { isAnswer: isLast || calls.length === 0, stepFinish: { type: 'step-finish', step, finishReason, usage } }
  }
}
