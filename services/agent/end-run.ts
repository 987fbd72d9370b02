import type { ErrorCode } from '../../schemas/error-codes.ts'
import { abortKind, type AbortKind } from '../lib/abort.ts'
import { ServiceError } from '../lib/service-error.ts'
import { type ActiveRun, endsOfLiveQuestions, finishOf, stoppedFor, stoppedShort, unansweredIn } from '../runs/index.ts'
import { isBudgetError } from '../usage/index.ts'
import { answerEvents, type EventOf, type RunEvent } from '../contracts/run-events.ts'
import { textOf } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment, recordAnswer, type RunEnd } from './answer-record.ts'
import { noTaskNotice } from './no-task-notice.ts'
import { interrupt } from './interrupted-runs.ts'
import type { ConversationAttempt } from './conversation-state.ts'

/** The codes of aborts that count as failures of the run. */
const LIMITS: Partial<Record<AbortKind, ErrorCode>> = { timeout: 'ERR_TIMEOUT', budget: 'ERR_BUDGET' }

/** Ends a run that has answered. `answer` is the structured answer, if one was due. */
export async function finish ({ live }: ConversationAttempt, deps: AgentDeps, answer?: EventOf<'object'>) {
  const { run } = live
  const last = answerEvents(run.log.events).findLast((event) => event.type === 'step-finish')
  // The calls of the step that gave the structured answer are the answer.
  const stopped = answer === undefined ? stoppedShort(run.record, run.log.events) : undefined
  const isOther = stopped !== undefined && stopped.reason !== 'output-limit' && stopped.reason !== 'refused'
  const finishReason = answer !== undefined || last === undefined ? 'stop' : isOther ? 'other' : last.finishReason
  const end = finishOf(run.record, finishReason, stopped)
  const request = run.messages.findLast(({ role }) => role === 'user')
  const notices = await noTaskNotice(run.log.events, request === undefined ? '' : textOf(request, '\n'), deps.tasks)
  const finalEvents = [...notices, ...answer === undefined ? [] : [answer], end]
  return endSegment(run, deps, { finalEvents, end: 'completed' })
}

/** How a run ends after an abort of each kind. Any other failure is `failed`. */
const ENDS: Partial<Record<AbortKind, RunEnd>> = { client: 'cancelled', stop: 'stopped', shutdown: 'interrupted' }

/**
 * Ends a run that was aborted or failed, with the reason in its stream. A run that continues after an approval keeps its last stored step,
 * so that sending the same answer again continues from there, unless the user or its budget stopped it, or it did not give the structured
 * answer that was due. Except after a deletion, the thread gets the messages of the run in either case.
 */
export async function endEarly (
  live: ActiveRun,
  error: unknown,
  deps: Pick<AgentDeps, 'runs' | 'threads' | 'answers' | 'conversations' | 'guides' | 'log'>
) {
  const { run } = live
  await live.endSteering()
  const kind = abortKind(error)
  const finishReason = kind === undefined || LIMITS[kind] !== undefined ? 'error' : 'other'
  const end = kind === undefined ? 'failed' : ENDS[kind] ?? 'failed'
  const finalEvents: RunEvent[] = [
    ...endsOfLiveQuestions(run.log.events),
    ...unansweredIn(run.log.events),
    reasonOf(error, run.record.runId, deps.log),
    finishOf(run.record, finishReason, kind === 'stop' ? stoppedFor('user') : undefined)
  ]
  try {
    // A deleted conversation must not be written again, so only writes that were begun are awaited.
    if (kind === 'delete') await Promise.all([run.saved, run.writing])
    else if (end === 'interrupted') await interrupt(run, deps)
    else if (run.durable && kind !== 'stop' && kind !== 'budget' && !isBudgetError(error) && !isWithoutObject(error)) {
      await deps.runs.commit(run, { brokenBy: finalEvents, ops: await recordAnswer(run, deps, { ends: endsOf(finalEvents) }), status: end })
    } else return await endSegment(run, deps, { finalEvents, end })
  } catch (failed) {
    deps.log.error({ err: failed, runId: run.record.runId }, 'the end of a run could not be stored')
  }
  finalEvents.forEach(run.log.append)
}

/** Returns those events at the end of a run that change what a thread shows of it. */
const endsOf = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'question-closed' || type === 'steer')

const isWithoutObject = (error: unknown) => error instanceof ServiceError && error.code === 'ERR_OBJECT_INVALID'

function reasonOf (error: unknown, runId: string, log: AgentDeps['log']): RunEvent {
  const kind = abortKind(error)
  if (kind !== undefined) {
    const code = LIMITS[kind]
    return code === undefined ? { type: 'abort', reason: kind } : { type: 'error', errorText: (error as Error).message, code }
  }
  if (error instanceof ServiceError) {
    const { message, code, details, retryAfterMs } = error
    return { type: 'error', errorText: message, code, ...details && { details }, ...retryAfterMs !== undefined && { retryAfterMs } }
  }
  log.error({ err: error, runId }, 'run failed')
  return { type: 'error', errorText: 'Something went wrong inside the service; its log says more.', code: 'ERR_INTERNAL' }
}
