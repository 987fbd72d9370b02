import type { RunStatus } from '../../schemas/tasks.ts'
import { answerText } from '../contracts/run-events.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { isOver, type ThreadRun } from './run-record.ts'
import { stoppedFor } from './engine/stopping.ts'
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
  | 'steering'
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
      evaluation: { ...judged, satisfied: evaluation.satisfied, issues: evaluation.issues, qualityScore: score }
    }),
    steering: steeringIn(events)
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

/** The messages that came while the run executed, without those of the judge and those that ask again for the structured answer. */
function steeringIn (events: readonly RunEvent[]): string[] {
  const said: string[] = []
  let isJudged = false
  for (const event of events) {
    if (event.type === 'evaluation') isJudged = true
    if (event.type !== 'message' || event.isRetry) continue
    if (!isJudged) said.push(event.text)
    isJudged = false
  }
  return said
}
