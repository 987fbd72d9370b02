import type { ChangedPath, FileChange, ToolOutput } from '../contracts/tool.ts'
import type { Op } from '../store/index.ts'

/** A call, or an undo, that is about to change files. */
export interface KeepCall {
  runId: string
  /** The thread (as digest) or the task that the run belongs to. */
  owner: string
  toolCallId: string
  toolName: string
  /** The working folder of the call, which allows its paths. */
  cwd: string
  /** The paths that the call would change; undefined for a tool that does not say. */
  places: ChangedPath[] | undefined
  /** What the input of such a call named. */
  target?: string
  signal: AbortSignal
}

/** What a call changed, as far as its tool said it. */
export interface CallReport {
  changes?: readonly FileChange[]
  /** Its output, which may hold a diff. */
  output?: ToolOutput
}

/** What is kept of the state before a call. */
export interface KeptCall {
  /** Must be durable before the call starts. */
  ops: Op[]
  /** Returns the operations that record what the call left. */
  finish(report?: CallReport): Promise<Op[]>
  /** Removes what was kept; the call does not start. */
  discard(): Promise<void>
}
