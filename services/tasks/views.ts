import type { TaskRun } from '../../schemas/task-runs.ts'
import type { Task } from '../../schemas/tasks.ts'
import { toolCallsOf, type TaskLogEvent } from './run-history.ts'
import { openQuestions, type StoredQuestion, type StoredRun, type StoredTask } from './task-records.ts'

/** The public form of a task, without the internal fields. */
export function taskView (
  { learnedTools, outdatedRun, failuresInRow, timing, lastSlot, slotCount, slotRuns, liveRun, nextRun, returnTo, ...task }: StoredTask
): Task {
  return task
}

/**
 * The public form of a run. With `history`, its tool calls are read from there; `limit` is the number of characters kept of
 * each input and output.
 */
export function runView (run: StoredRun, history?: readonly TaskLogEvent[], limit?: number): TaskRun {
  const { chunks, steps, refined, activeMs, crashes, putDown, needsApproval, learned, summaries, questions, ...shown } = run
  return { ...shown, questions: openQuestions(run).map(questionView), ...(history && { toolCalls: toolCallsOf(history, limit) }) }
}

function questionView ({ toolCallId, identity, folder, state, notes, ...question }: StoredQuestion) {
  return question
}
