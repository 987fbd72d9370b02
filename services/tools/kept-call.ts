import type { Boundary } from '../contracts/boundary.ts'
import type { ChangedPath, FileChange, Tool, ToolOutput } from '../contracts/tool.ts'
import type { Op } from '../store/index.ts'

/** Whether something is to be kept, or said, of calls of the tool: it changes files, or something that nobody here knows. */
export const isKept = ({ effects: { paths: willChange } = {}, policy: { effect, answeredBy } }: Tool): boolean =>
  willChange !== undefined || effect === 'external' || (answeredBy?.by === 'app' && effect !== 'read')

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
  /** Of such a call: what its input named, and the tool server or the application whose tool it is. */
  uncovered?: { target?: string, server?: string, app?: string }
  /**
   * The folder that a command works in, the git directory outside of it that it may change too, and what says that it may have changed
   * something elsewhere.
   */
  command?: { folder: string, gitDirectory?: string, reach?: string }
  signal: AbortSignal
}

const WORK_OF_OTHERS = 'It goes on beside other work: what anybody changes in the folder until it ends counts as its work; undo ' +
  'takes a path back only when it is named.'

/** Says what the record of a command does not know: what it reaches beside its folder, and of one that stays, whose work it is. */
export function reachOf (boundary: Boundary, mayStay = false): { reach?: string } {
  const sentences = [
    boundary.is === 'networked' && boundary.hosts.length > 0 && 'What it sends over the network is not known here.',
    boundary.is === 'outside' && 'What it does elsewhere is not known here.',
    mayStay && WORK_OF_OTHERS
  ].filter((sentence) => sentence !== false)
  return sentences.length === 0 ? {} : { reach: sentences.join(' ') }
}

/** What a call changed, as far as its tool said it. */
export interface CallReport {
  changes?: readonly FileChange[]
  /** Its output, which may hold a diff. */
  output?: ToolOutput
}

/** What a call left. `ops` record it. */
export interface CallLeft {
  ops: Op[]
  /** The files that a command changed; none: it is known to have changed nothing at all. */
  changes?: FileChange[]
}

/** What is kept of the state before a call. */
export interface KeptCall {
  /** Must be durable before the call starts. */
  ops: Op[]
  /** Finds out what the call left; without a report all that is other than before counts as its work. */
  finish(report?: CallReport): Promise<CallLeft>
  /** As `finish` without a report, when the promise has settled; stores what it finds, and reports failures to the log. Of commands. */
  finishAfter?(ended: Promise<void>): void
  /** Removes what was kept; the call does not start. */
  discard(): Promise<void>
}

/** What is kept of a call that changes no file. */
export const NOTHING_KEPT: KeptCall & { paths?: string[] } = { ops: [], finish: async () => ({ ops: [] }), async discard () {} }
