import type { Task } from '../../schemas/tasks.ts'
import type { TaskRun } from '../../schemas/task-runs.ts'
import { questionView } from '../approvals/question-view.ts'
import { isOfTask, type TaskItem } from '../contracts/approval-record.ts'
import { wholeUsage } from '../usage/usage-sums.ts'
import { toolCallsOf, type TaskLogEvent } from '../run-log/run-history.ts'
import { earlierBudget } from './task-options.ts'
import type { StoredRun, StoredTask } from './task-records.ts'

/** The public form of a task, without the internal fields. */
export function taskView (
  {
    outdatedRun,
    failuresInRow,
    timing,
    lastSlot,
    slotCount,
    slotRuns,
    liveRun,
    nextRun,
    returnTo,
    waitsUntil,
    waitingFor,
    ...task
  }: StoredTask
): Task {
  return { ...task, budget: earlierBudget(task.options), ...(task.status === 'pending_approval' && { waitingFor }) }
}

/**
 * The public form of a run with its open approvals. With `history`, its tool calls are read from there; `limit` is the number of
 * characters kept of each input and output.
 */
export function runView (
  run: StoredRun,
  open: readonly TaskItem[],
  history?: readonly TaskLogEvent[],
  limit?: number
): TaskRun {
  const { chunks, steps, refined, activeMs, crashes, putDown, needsApproval, learned, summaries, asked, ...shown } = run
  return {
    ...shown,
    usage: wholeUsage(shown.usage),
    questions: open.filter(isOfTask).map(questionView),
    ...(history && { toolCalls: toolCallsOf(history, limit) })
  }
}
