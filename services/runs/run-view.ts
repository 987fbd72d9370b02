import type { Run as RunView } from '../../schemas/runs.ts'
import type { TaskRun as TaskRunView } from '../../schemas/task-runs.ts'
import { type RunEvent, answerEvaluation, answerText, type EventOf, otherVersion } from '../contracts/run-events.ts'
import { steeringIn, steerOf, endedSteering } from './run-log/steering.ts'
import { isOver, type RunRecord, type TaskRun, type ThreadRun } from './run-record.ts'
import { toolCallsOf, CALL_SHOWN } from './tool-calls.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import { stoppedFor } from './engine/stopping.ts'

/** Why a run of a conversation ended, for reasons that the run's events do not contain. */
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
  'completedAt' | 'durationMs' | 'output' | 'otherOutput' | 'object' | 'error' | 'stopped' | 'toolCalls' | 'toolCount' | 'qualityScore' |
  'evaluation' | 'verified' | 'steered'
>

/**
 * Returns the result of a conversation's run, read from its events. `at` is the time of the end, in milliseconds since the Unix epoch.
 * `limit` is the number of characters kept of each input and output.
 */
export function resultOf (
  events: readonly RunEvent[],
  { record: { startedAt }, status, at, limit = CALL_SHOWN }: {
    record: Pick<ThreadRun, 'startedAt'>,
    status: RunStatus,
    at: number,
    limit?: number
  }
): Result {
  const toolCalls = toolCallsOf(events, limit, isOver({ status }))
  const object = lastOf(events, 'object')?.object
  const output = answerText(events) || (object === undefined ? '' : JSON.stringify(object))
  const other = otherVersion(events)
  const evaluation = answerEvaluation(events)
  const { score, ...judged } = evaluation ?? {}
  const stopped = status === 'stopped' ? stoppedFor('user') : isOver({ status }) ? lastOf(events, 'finish')?.stopped : undefined
  const error = isOver({ status }) && status !== 'completed' ? reasonOf(events, status) : undefined
  const said = isOver({ status }) ? endedSteering(events) : steeringIn(events)
  return {
    ...(isOver({ status }) && { completedAt: at, durationMs: Math.max(at - startedAt, 0) }),
    ...(output !== '' && { output }),
    ...(other !== undefined && { otherOutput: other }),
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

/** The data that a view adds to the record of a run. */
interface Shown {
  /** The open approvals and questions. */
  questions: RunView['questions']
  /** The events of the run: needed for a run that has not ended, and for calls that are not shortened. */
  events?: readonly RunEvent[]
  /** The number of characters kept of each input and output. */
  limit?: number
  /** The data with which the run of a task was started. */
  input?: unknown
}

/** Returns the public form of a run of a task. */
export function taskRunView (run: TaskRun, { questions, events, limit, input }: Shown): TaskRunView {
  const { refined, crashes, suspended, outage, needsApproval, summaries, learned, ...shown } = withoutInternals(run)
  const said = events === undefined || isOver(run) ? [] : steeringIn(events).map(steerOf)
  return {
    ...shown,
    questions,
    ...(said.length > 0 && { steered: said }),
    input,
    ...(events && { toolCalls: toolCallsOf(events, limit, isOver(run)) })
  }
}

/**
 * Returns the public form of a run of a conversation. For a run that has not ended, the result is read from its events. `now`: epoch
 * milliseconds.
 */
export function threadRunView (run: ThreadRun, { questions, events, limit, now }: Shown & { now: number }): RunView {
  const { messageId, model, protocol, history, answerAt, notes, resumable, isOneOff, crashes, ...shown } = withoutInternals(run)
  const result = events && resultOf(events, { record: run, status: run.status, at: run.completedAt ?? now, limit: limit ?? Infinity })
  // After the end of a run, its record can contain more than its events.
  const steering = (shown.steered ?? result?.steered ?? []).map(({ text }) => text)
  return { ...result, ...shown, steering, ...(result && { toolCalls: result.toolCalls, toolCount: result.toolCount }), questions }
}

function withoutInternals<R extends RunRecord> (run: R) {
  const { cwd, given, maxSteps, endsFor, steps, segment, asked, activeMs, chunks, contexts, sheet, ...shown } = run
  return shown
}
