import type { TaskToolCall } from '../../schemas/task-runs.ts'
import { answerText } from '../run-log/fold.ts'
import { runEvents, toolCallsOf, type TaskLogEvent } from '../tasks/run-history.ts'
import type { StoredRun } from '../tasks/task-records.ts'

/** The recorded facts by which a run is judged. */
export interface Evidence {
  goal: string
  answer: string
  calls: TaskToolCall[]
  run: Pick<StoredRun, 'phases'>
  /** The finish reason of the last model call. */
  finishReason: string
  /** The size of a file in bytes, resolved like a path of the run's own tools; undefined when it does not exist. */
  sizeOf: (path: string) => Promise<number | undefined>
}

/** Collects the evidence from the history of a run. */
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

/** The paths of files that the run wrote. */
export const filesCreated = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ tool, status, output }) =>
    tool === 'writeFile' && status === 'complete' && isRecord(output) && typeof output.path === 'string' ? [output.path] : []
  )

/** The URLs of pages that the run read. */
export const sources = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ tool, status, input }) =>
    tool === 'fetchUrl' && status === 'complete' && isRecord(input) && typeof input.url === 'string' ? [input.url] : []
  )

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
