import { foldToModelMessages } from '../run-log/fold.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { checkLength } from '../run-repository.ts'
import type { ActiveRun } from './active-run.ts'
import type { EngineDeps, RunAttempt } from './attempt.ts'
import { createModelSteps } from './model-step.ts'
import { openingOf } from './opening.ts'
import type { RunOwner } from './run-owner.ts'
import type { RunRecord } from '../run-record.ts'
import { createIdSource } from './step-writer.ts'

/** Where the events of model calls go, and what pauses or aborts the calls. */
export interface ModelOutput {
  append: (event: RunEvent) => void
  /** Pending while the model stream must pause; undefined otherwise. */
  backpressure: () => Promise<void> | undefined
  signal: AbortSignal
}

/**
 * Makes the model call of the next step, with the steering that arrived before it. Returns the event that ends the step, and how much of
 * the steering in the record it has read.
 */
export type ModelCalls = () => Promise<{ stepFinish: EventOf<'step-finish'>, read: number }>

/** The events go into the log of the run at once, as fast as its subscribers read. */
export const directOutput = <R extends RunRecord>({ run, backpressure, signal }: ActiveRun<R>): ModelOutput =>
  ({ append: run.log.append, backpressure, signal })

/** Returns the function that makes the model calls of a run, one for each step. */
export function createModelCalls<R extends RunRecord> (
  { live, meter, owed }: RunAttempt<R>,
  owner: RunOwner<R>,
  { clock, log }: Pick<EngineDeps, 'clock' | 'log'>,
  { append, backpressure, signal }: ModelOutput
): ModelCalls {
  const { run } = live
  const { registry, tools, prompt, placement, summaries } = owner
  const modelStep = createModelSteps({
    registry,
    clock,
    signal,
    meter,
    tools,
    ids: createIdSource(run.log.events, prompt),
    summaries,
    append,
    afterParts () {
      checkLength(run.log)
      return backpressure()
    }
  })

  return async () => {
    const begun = clock.awake()
    const { record } = run
    const { pendingSteering = [] } = record
    const step = record.steps + 1
    const { calls, finishReason, usage } = await modelStep({
      step,
      isLast: step > record.maxSteps,
      owed: await owed(),
      notes: [...pendingSteering, ...owner.takeNotes(), ...live.drainSteering()],
      messages: [...prompt, ...foldToModelMessages(run.log.events, tools.forModel)],
      latest: prompt.findLastIndex(({ role }) => role === 'user'),
      ...placement,
      async context () {
        const fixed = await owner.context(append)
        return { opening: openingOf(fixed, ...owner.closingNotes()), tools: fixed.tools }
      }
    })
    run.record = { ...run.record, steps: step }
    log.info({ runId: record.runId, step, calls: calls.length, finishReason, ms: Math.round(clock.awake() - begun) }, 'step')
    return { stepFinish: { type: 'step-finish', step, finishReason, usage }, read: pendingSteering.length }
  }
}
