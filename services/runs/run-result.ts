import type { RunStatus } from '../../schemas/tasks.ts'
import { answerText } from '../contracts/run-events.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { isOver, type ThreadRun } from './run-record.ts'
import { stoppedFor } from './engine/stopping.ts'
import { endedSteering, steeringIn, steerOf } from './run-log/steering.ts'
import { CALL_SHOWN, toolCallsOf } from './tool-calls.ts'

/** Why a run of a conversation ended whose events do not say it. */
const REASONS: Partial<Record<RunStatus, string>> = {
  cancelled: 'A newer message came instead of an answer to what the run waited for.',
  interrupted: 'The service ended while the run was under way.'
}
const ABORTS: Record<string, string> = {
  client: 'The client went away.',
  stop: 'The run was stopped.',
  delete: 'The conversation was deleted.',
  shutdown: 'The service ended while the run was under way.'
}

type Result = Pick<
  ThreadRun,
  | 'completedAt'
  | 'durationMs'
  | 'output'
  | 'object'
  | 'error'
  | 'stopped'
  | 'toolCalls'
  | 'toolCount'
  | 'qualityScore'
  | 'evaluation'
  | 'verified'
  | 'steered'
>

/** Returns what the events say of a run of a conversation. `limit` is the number of characters kept of each input and output. */
export function resultOf (
  events: readonly RunEvent[],
  { record: { startedAt }, status, at, limit = CALL_SHOWN }: {
    record: Pick<ThreadRun, 'startedAt'>,
    status: RunStatus,
    at: number,
    limit?: number
  }
): Result {
  const toolCalls = toolCallsOf(events, limit)
  const object = lastOf(events, 'object')?.object
  const output = answerText(events) || (object === undefined ? '' : JSON.stringify(object))
  const evaluation = lastOf(events, 'evaluation')?.evaluation
  const { score, ...judged } = evaluation ?? {}
  const stopped = status === 'stopped' ? stoppedFor('user') : isOver({ status }) ? lastOf(events, 'finish')?.stopped : undefined
  const error = isOver({ status }) && status !== 'completed' ? reasonOf(events, status) : undefined
  const said = isOver({ status }) ? endedSteering(events) : steeringIn(events)
  return {
    ...(isOver({ status }) && { completedAt: at, durationMs: Math.max(at - startedAt, 0) }),
    ...(output !== '' && { output }),
    ...(object && { object }),
    ...(error !== undefined && { error }),
    ...(stopped && { stopped }),
    toolCalls,
    toolCount: toolCalls.length,
    ...(evaluation && score !== undefined && {
      qualityScore: score,
      ...(evaluation.verified === false && { verified: false }),
      evaluation: { ...judged, satisfied: evaluation.satisfied, issues: evaluation.issues, qualityScore: score }
    }),
    ...(said.length > 0 && { steered: said.map(steerOf) })
  }
}

const lastOf = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T) =>
  events.findLast((event): event is EventOf<T> => event.type === type)

function reasonOf (events: readonly RunEvent[], status: RunStatus): string | undefined {
  const segment = events.slice(events.findLastIndex(({ type }) => type === 'start'))
  const cause = segment.findLast((event) => event.type === 'error' || event.type === 'abort')
  if (cause?.type === 'error') return cause.errorText
  return (cause?.type === 'abort' ? ABORTS[cause.reason] : undefined) ?? REASONS[status]
}
