import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { openingOf } from '../../step/opening.ts'
import { openCalls, type RunContext, type RunEvent } from '../../contracts/run-events.ts'
import { joinDeltas } from '../../run-log/join-deltas.ts'
import { createModelSteps } from '../../step/model-step.ts'
import { createIdSource } from '../../step/step-writer.ts'
import { runEvents } from '../../run-log/run-history.ts'
import { BudgetExceeded } from '../task-errors.ts'
import { PHASE_TOOL } from '../../contracts/model-texts.ts'
import type { SessionCalls, SessionParts } from './session-calls.ts'
import { answerOfStep } from './owed-answer.ts'
import { mostSteps } from './run-steps.ts'
import { nextAfter } from './worker-loop.ts'
import type { StepResult } from './worker-rpc.ts'

/** Characters that a model may write in one step; more is taken for a runaway answer. */
const MAX_STEP_CHARACTERS = 4 * 1024 * 1024

interface SessionStepParts extends SessionParts {
  calls: Pick<SessionCalls, 'tools' | 'shown'>
}

/** The model calls of one attempt at a run. */
export function createSessionStep (
  { task, current, owed, log, record, signal, meter, deps, calls: { tools: offered, shown } }: SessionStepParts
) {
  const { clock, registry, emit } = deps
  /** The events of the step under way, which are stored together. */
  let events: RunEvent[] = []
  let characters = 0
  const modelStep = createModelSteps({
    registry,
    clock,
    signal,
    meter,
    tools: offered,
    ids: createIdSource(runEvents(log), []),
    summaries: { load: async () => current().summaries ?? [], keep: (summaries) => record({ summaries }) },
    append (event) {
      events.push(event)
    },
    afterParts (parts) {
      for (const part of parts) if ('delta' in part) characters += part.delta.length
      if (characters > MAX_STEP_CHARACTERS) {
        throw new BudgetExceeded('The model wrote more than 4 million characters in one step, so the run was stopped.')
      }
    }
  })

  /**
   * Makes one model call and stores its events. `notes` are user messages that the model receives before this step. Throws
   * BudgetMet and BudgetUnpriced when the call may not be made, BudgetExceeded (409), and AnswerDoesNotFit (422).
   */
  return async function step (
    messages: LanguageModelV4Prompt,
    context: RunContext,
    notes: readonly string[]
  ): Promise<StepResult> {
    const begun = clock.awake()
    const { runId, steps, toolCount } = current()
    const number = steps + 1
    const isLast = number >= mostSteps(current().options ?? task.options)
    const owing = owed()
    events = []
    characters = 0
    const { calls, finishReason, usage } = await modelStep({
      step: number,
      isLast,
      owed: owing,
      notes,
      messages,
      latest: 0,
      context: async () => ({ opening: openingOf(context), tools: context.tools })
    })
    deps.log.info({ runId, step: number, calls: calls.length, finishReason, ms: Math.round(clock.awake() - begun) }, 'step')
    const stored = joinDeltas([...events, { type: 'step-finish', step: number, finishReason, usage }])
    const made = calls.filter(({ toolName }) => toolName !== PHASE_TOOL).length
    await record({ steps: number, toolCount: toolCount + made }, stored)
    for (const event of stored) {
      if (event.type !== 'tool-input-error') continue
      const { toolName: tool, input, errorText: error } = event
      emit({ type: 'task:tool', taskId: task.id, runId, tool, input, output: { error }, status: 'error' })
    }
    if (owing === undefined) return { events: shown(stored), next: isLast ? 'evaluate' : nextAfter(runEvents(log)) }
    if (openCalls(stored).length > 0) return { events: shown(stored), next: 'settle' }
    const taken = answerOfStep(runEvents(log), owing, isLast)
    await record(taken.changes, taken.events)
    return { events: shown([...stored, ...taken.events]), next: nextAfter(runEvents(log)) }
  }
}
