import type { Boundary } from '../contracts/boundary.ts'
import type { ChangedPath, FileChange, Tool, ToolOutput } from '../contracts/tool.ts'
import type { Op } from '../store/index.ts'

/** True if something has to be kept or noted before calls of the tool: it changes files, or nobody knows what it changes. */
export const isKept = ({ effects: { files } = {}, policy: { effect }, execute }: Tool): boolean =>
  files !== undefined || effect === 'external' || (execute.by === 'app' && effect !== 'read')

/** A call, or an undo, that is about to change files. */
export interface KeepCall {
  runId: string
  /** The thread (as digest) or the task that the run belongs to. */
  owner: string
  toolCallId: string
  toolName: string
  /** The working folder of the call, which allows its paths. */
  cwd: string
  /** The paths that the call would change; undefined for a tool that does not declare them. */
  places: ChangedPath[] | undefined
  /**
   * For a tool that does not declare its paths: the target named in the input, and the tool server or application that the tool belongs to.
   */
  uncovered?: { target?: string, server?: string, app?: string }
  /**
   * The folder that a command works in, a git directory outside of it that it may change, too, and a sentence if it may have changed
   * something elsewhere.
   */
  command?: { folder: string, gitDirectory?: string, reach?: string }
  signal: AbortSignal
}

const WORK_OF_OTHERS = 'It goes on beside other work: what anybody changes in the folder until it ends counts as its work; undo ' +
  'takes a path back only when it is named.'

/**
 * Returns sentences about what the record of a command cannot know: what it reaches beside its folder and, for one that stays, what it does
 * later.
 */
export function reachOf (boundary: Boundary, mayStay = false): { reach?: string } {
  const sentences = [
    boundary.is === 'networked' && boundary.hosts.length > 0 && 'What it sends over the network is not known here.',
    boundary.is === 'outside' && 'What it does elsewhere is not known here.',
    mayStay && WORK_OF_OTHERS
  ].filter((sentence) => sentence !== false)
  return sentences.length === 0 ? {} : { reach: sentences.join(' ') }
}

/** The changes of a call, as its tool reported them. */
export interface CallReport {
  changes?: readonly FileChange[]
  /** Its output, which may hold a diff. */
  output?: ToolOutput
}

/** The outcome of a call. `ops` record it. */
export interface CallLeft {
  ops: Op[]
  /** The files that a command changed. An empty list means that it is known to have changed nothing. */
  changes?: FileChange[]
}

/** The state of files that is kept before a call changes them, and the functions that complete or remove it. */
export interface KeptCall {
  /** Must be durable before the call starts. */
  ops: Op[]
  /** Finds out what the call changed. Without a report every difference from before counts as its work. */
  finish(report?: CallReport): Promise<CallLeft>
  /** For commands: does the same as `finish` without a report once the promise has settled, stores the result, and logs failures. */
  finishAfter?(ended: Promise<void>): void
  /** Removes the kept state, because the call does not start. */
  discard(): Promise<void>
}

/** The kept state of a call that changes no file. */
export const NOTHING_KEPT: KeptCall & { paths?: string[] } = { ops: [], finish: async () => ({ ops: [] }), async discard () {} }
