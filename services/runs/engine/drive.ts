import { newestStep, openCalls, type RunEvent } from '../../contracts/run-events.ts'
import type { RunRecord } from '../run-record.ts'

/** What a run does next: make a model call, settle the calls of its newest step, or have its answer judged. */
export type NextAction = 'step' | 'settle' | 'judge'

/**
 * Returns the action with which a run goes on, by its events alone, so that it goes on in the same way after a wait and after a crash. A
 * step is open from `step-start` to `step-finish`; a message behind its end asks the model again. `isOwed`: the run owes a structured
 * answer, and without one it goes on.
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
 * The actions of a run, which holds all of its state itself: nothing is passed. What an action did is as durable as the run needs it
 * when its promise resolves.
 */
export interface RunActions {
  /** Returns what to do next; `end` when the run has answered or must wait. */
  next(): Promise<NextAction | 'end'>
  /** Makes one model call. */
  step(): Promise<void>
  /** Executes the calls of the newest step, as far as nobody has to decide first. */
  settle(): Promise<void>
  /** Judges the answer. */
  judge(): Promise<void>
}

/** The loop of every run: model, tools, model, … until the answer is accepted or a person must decide. It may be ended at any time. */
export async function drive (run: RunActions): Promise<void> {
  for (;;) {
    const action = await run.next()
    if (action === 'end') return
    await run[action]()
  }
}
