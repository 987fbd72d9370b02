import type { TaskRun } from '../../schemas/task-runs.ts'
import type { Task } from '../../schemas/tasks.ts'
import { toolCallsOf, type TaskLogEvent } from './run-history.ts'
import { openQuestions, type StoredQuestion, type StoredRun, type StoredTask } from './task-records.ts'

/** A task as callers see it. */
export function taskView (
  { learnedTools, outdatedRun, failuresInRow, timing, lastSlot, slotCount, slotRuns, liveRun, nextRun, returnTo, ...task }: StoredTask
): Task {
  return task
}

/** A run as callers see it; its calls are those of `history` where that is given, `most` characters of each input and output. */
export function runView (run: StoredRun, history?: readonly TaskLogEvent[], most?: number): TaskRun {
  const { chunks, steps, refined, activeMs, crashes, putDown, needsApproval, learned, summaries, questions, ...shown } = run
  return { ...shown, questions: openQuestions(run).map(questionView), ...(history && { toolCalls: toolCallsOf(history, most) }) }
}

function questionView ({ toolCallId, identity, folder, state, notes, ...question }: StoredQuestion) {
  return question
}
