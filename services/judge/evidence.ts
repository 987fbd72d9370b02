import type { TaskToolCall } from '../../schemas/task-runs.ts'
import { answerText } from '../run-log/fold.ts'
import { runEvents, toolCallsOf, type TaskLogEvent } from '../tasks/run-history.ts'
import type { StoredRun } from '../tasks/task-records.ts'

/** What is on record of a run when it is judged. */
export interface Evidence {
  goal: string
  answer: string
  calls: TaskToolCall[]
  run: Pick<StoredRun, 'phases'>
  /** Why the last model call ended. */
  finishReason: string
  /** The size of a file, as the run's own tools would find it; undefined when it is not there. */
  sizeOf: (path: string) => Promise<number | undefined>
}

/** Gathers it from the run's history. */
export function evidenceOf (goal: string, run: StoredRun, log: readonly TaskLogEvent[], sizeOf: Evidence['sizeOf']): Evidence {
  const last = log.findLast((event) => event.type === 'step-finish')
  return {
    goal,
    answer: answerText(runEvents(log)).trim(),
    calls: toolCallsOf(log),
    run,
    finishReason: last?.type === 'step-finish' ? last.finishReason : 'other',
    sizeOf
  }
}

/** Files that the run wrote. */
export const filesCreated = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ tool, status, output }) =>
    tool === 'writeFile' && status === 'complete' && isRecord(output) && typeof output.path === 'string' ? [output.path] : []
  )

/** Pages the run has read. */
export const sources = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ tool, status, input }) =>
    tool === 'fetchUrl' && status === 'complete' && isRecord(input) && typeof input.url === 'string' ? [input.url] : []
  )

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
