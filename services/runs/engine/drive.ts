import { newestStep, openCalls, type RunEvent } from '../../contracts/run-events.ts'
import type { RunRecord } from '../run-record.ts'

/** What a run does next: make a model call (`step`), settle the calls of its newest step, or have its answer judged. */
export type NextAction = 'step' | 'settle' | 'judge'

/**
 * Returns the next action of a run. Only the events decide, so that the run continues in the same way after a wait and after a crash. A
 * step is open from `step-start` to `step-finish`. If a message follows the end of the step, the model is called again. `isOwed`: the run
 * must give a structured answer, and continues until it has given one.
 */
export function nextAction (
  events: readonly RunEvent[],
  { steps, maxSteps, isOwed }: Pick<RunRecord, 'steps' | 'maxSteps'> & { isOwed: boolean }
): NextAction {
  const newest = newestStep(events)
  if (newest[0]?.type !== 'step-start') return 'step'
  const end = newest.findLastIndex(({ type }) => type === 'step-finish')
  if (end === -1 || openCalls(newest).length > 0) return 'settle'
  if (newest[end].type === 'step-finish' && newest[end].isPaused && steps <= maxSteps) return 'step'
  const last = newest.findLast(({ type }, at) => at > end && (type === 'message' || type === 'steer' || type === 'object'))
  if (last !== undefined || isOwed) return last?.type === 'object' ? 'judge' : 'step'
  const hasCalls = newest.some(({ type }) => type === 'tool-input' || type === 'tool-input-error')
  return steps > maxSteps || !hasCalls ? 'judge' : 'step'
}

/**
 * The actions of a run. They share state internally, so nothing is passed between them. When the promise of an action resolves, its effects
 * are stored as far as the owner of the run requires; see `RunOwner`.
 */
export interface RunActions {
  /** Returns the next action; `end` if the run has answered or must wait. */
  next(): Promise<NextAction | 'end'>
  /** Makes one model call. */
  step(): Promise<void>
  /** Executes the calls of the newest step, except calls that a person or the application must decide first. */
  settle(): Promise<void>
  /** Has the answer judged. */
  judge(): Promise<void>
}

/** The loop of every run: model, tools, model, … until the answer is accepted or the run must wait. It can be interrupted at any time. */
export async function drive (run: RunActions): Promise<void> {
  for (;;) {
    const action = await run.next()
    if (action === 'end') return
    await run[action]()
  }
}
