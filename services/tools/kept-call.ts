import type { Boundary } from '../contracts/boundary.ts'
import type { ChangedPath, FileChange, Tool, ToolOutput } from '../contracts/tool.ts'
import type { Op } from '../store/index.ts'

/** True if files are to be kept or something recorded before a call of the tool: the tool changes files, or its changes are not known. */
export const isKept = ({ effects: { files } = {}, policy: { effect }, execute }: Tool): boolean =>
  files !== undefined || effect === 'external' || (execute.by === 'app' && effect !== 'read')

/** A call, or an undo, that is about to change files. */
export interface KeepCall {
  runId: string
  /** The thread (its digest) or the task that the run belongs to. */
  owner: string
  toolCallId: string
  toolName: string
  /** The working folder of the call, which decides which paths are allowed. */
  cwd: string
  /** The paths that the call would change; undefined if the tool does not declare them. */
  places: ChangedPath[] | undefined
  /** For a tool that does not declare its paths: the target that the input names, and the tool server or application of the tool. */
  uncovered?: { target?: string, server?: string, app?: string }
  /**
   * For a command: the folder that it works in, a git directory outside of this folder that it can change too, and a sentence about effects
   * elsewhere that are not recorded.
   */
  command?: { folder: string, gitDirectory?: string, reach?: string }
  signal: AbortSignal
}

const WORK_OF_OTHERS = 'It runs beside other work: what anybody changes in the folder until it ends counts as its work. Undo ' +
  'takes such a path back only when it is named.'

/**
 * Returns sentences about effects of a command that are not recorded: what it does outside of its folder and, if it can keep running after
 * its call, what it does later.
 */
export function reachOf (boundary: Boundary, mayStay = false): { reach?: string } {
  const sentences = [
    boundary.is === 'networked' && boundary.hosts.length > 0 && 'What it sends over the network is not known here.',
    boundary.is === 'outside' && 'What it does elsewhere is not known here.',
    mayStay && WORK_OF_OTHERS
  ].filter((sentence) => sentence !== false)
  return sentences.length === 0 ? {} : { reach: sentences.join(' ') }
}

/** What is known about the changes of a call from its tool. */
export interface CallReport {
  changes?: readonly FileChange[]
  /** The output of the call, which can contain a diff. */
  output?: ToolOutput
}

/** The outcome of a call. `ops` are the store operations that record it. */
export interface CallLeft {
  ops: Op[]
  /** The files that a command changed. An empty list means that the command is known to have changed nothing. */
  changes?: FileChange[]
}

/** The state of files, kept before a call changes them, and the functions that complete or remove the record. */
export interface KeptCall {
  /** The store operations that must be durable before the call starts. */
  ops: Op[]
  /** Determines what the call changed. Without a report, every difference from the kept state counts as a change of the call. */
  finish(report?: CallReport): Promise<CallLeft>
  /** For commands: once `ended` has settled, does the same as `finish` without a report, stores the result, and logs failures. */
  finishAfter?(ended: Promise<void>): void
  /** Removes the kept state, because the call does not start. */
  discard(): Promise<void>
}

/** The record for a call that changes no file. */
export const NOTHING_KEPT: KeptCall & { paths?: string[] } = { ops: [], finish: async () => ({ ops: [] }), async discard () {} }
