import type { Run as RunView } from '../../schemas/runs.ts'
import type { TaskRun as TaskRunView } from '../../schemas/task-runs.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { steeringIn, steerOf } from './run-log/steering.ts'
import { resultOf } from './run-result.ts'
import { isOver, type RunRecord, type TaskRun, type ThreadRun } from './run-record.ts'
import { toolCallsOf } from './tool-calls.ts'

/** What a view adds to the record of a run. */
interface Shown {
  /** The open approvals and questions. */
  questions: RunView['questions']
  /** The events of the run, for the calls of a run that is not over, or for its whole calls. */
  events?: readonly RunEvent[]
  /** The number of characters kept of each input and output. */
  limit?: number
  /** The data that the run of a task began with. */
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
    ...(input !== undefined && { input }),
    ...(events && { toolCalls: toolCallsOf(events, limit) })
  }
}

/** Returns the public form of a run of a conversation. What is not over is read from its events. `now`: epoch milliseconds. */
export function threadRunView (run: ThreadRun, { questions, events, limit, now }: Shown & { now: number }): RunView {
  const { messageId, model, protocol, history, answerAt, ...shown } = withoutInternals(run)
  const result = events && resultOf(events, { record: run, status: run.status, at: run.completedAt ?? now, limit: limit ?? Infinity })
  // A result of a run that has ended may say more than its events.
  const steering = (shown.steered ?? result?.steered ?? []).map(({ text }) => text)
  return { ...result, ...shown, steering, ...(result && { toolCalls: result.toolCalls, toolCount: result.toolCount }), questions }
}

function withoutInternals<R extends RunRecord> (run: R) {
  const { cwd, given, maxSteps, isRepeating, steps, segment, asked, activeMs, chunks, sheet, ...shown } = run
  return shown
}
