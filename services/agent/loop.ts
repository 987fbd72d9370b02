import type { ThreadItem } from '../contracts/approval-record.ts'
import { reviewAnswer } from '../judge/review-answer.ts'
import { takeAnswer } from '../objects/take-answer.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { noUsage } from '../usage/usage-sums.ts'
import type { AgentDeps } from './agent-deps.ts'
import { finish } from './end-run.ts'
import { createModelCalls, type CalledStep, type Context, type ModelCalls } from './model-calls.ts'
import { requestApprovals } from './request-approvals.ts'
import type { RunAttempt } from './run-attempt.ts'
import { settleStep } from './run-calls.ts'
import { saveSoon } from './run-repository.ts'

/** What a run begins its steps with. */
export interface RunStart {
  /** Makes the model calls; given if the first one was begun beforehand. */
  callModel?: ModelCalls
  /** What a run which continues waited for. */
  decided?: ThreadItem[]
}

/**
 * Runs steps until the model has answered or a call must wait. The events end with `finish`. A run that continues first
 * settles the calls of its newest step.
 */
export async function runSteps (
  attempt: RunAttempt,
  context: Context,
  deps: AgentDeps,
  { callModel = createModelCalls(attempt, context, deps), decided }: RunStart = {}
) {
  const { live, owed } = attempt
  const { run } = live
  let left = decided && stepLeft(run.log.events)
  for (;;) {
    const { isAnswer, stepFinish } = left ?? await callModel()
    left = undefined
    const calls = await settleStep(decided ?? [], attempt, deps)
    if (calls.length > 0) return requestApprovals(calls, decided ?? [], stepFinish, attempt, deps)
    const isLast = run.head.steps > run.head.maxSteps
    const taken = owed && takeAnswer(run.log.events, owed, { isLast })
    taken?.outcomes.forEach(run.log.append)
    const isDone = taken === undefined ? isAnswer : taken.answer !== undefined
    const review = isDone && !isLast && !live.isSteered ? await reviewOnce(attempt, context, stepFinish, taken?.answer, deps) : undefined
    // Check for steering again, because messages may arrive during the review.
    if (isDone && review === undefined && !live.isSteered) return finish(stepFinish, attempt, deps, taken?.answer)
    if (stepFinish !== undefined) run.log.append(stepFinish)
    if (taken?.retry !== undefined) run.log.append(taken.retry)
    if (review !== undefined) run.log.append({ type: 'message', text: review })
    saveSoon(run, deps)
  }
}

/**
 * Returns the newest step of a run that continues. A step that was interrupted by a crash after one of its tools had started is
 * without its end: its calls are settled then instead of calling the model again. Its tokens are part of the run's total.
 */
function stepLeft (events: readonly RunEvent[]): CalledStep | undefined {
  const edge = events.findLast(({ type }) => type === 'step-start' || type === 'step-finish')
  if (edge?.type !== 'step-start') return edge && { isAnswer: false }
  return { isAnswer: false, stepFinish: { type: 'step-finish', step: edge.step, finishReason: 'tool-calls', usage: noUsage() } }
}

/** Judges the answer to a complex request, once in a run. Returns the prompt for a refinement; undefined if the answer is accepted. */
async function reviewOnce (
  { live: { run, signal }, meter }: RunAttempt,
  { prompt }: Context,
  stepFinish: RunEvent | undefined,
  answer: EventOf<'object'> | undefined,
  deps: AgentDeps
) {
  const events = stepFinish === undefined ? run.log.events : [...run.log.events, stepFinish]
  const review = await reviewAnswer({ events, prompt, cwd: run.head.cwd, object: answer?.object }, { ...deps, meter }, signal)
  if (review !== undefined) run.log.append({ type: 'evaluation', evaluation: review.evaluation })
  return review?.refinement
}
