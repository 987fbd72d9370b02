import type { GrantView, Until } from '../../schemas/grants.ts'
import type { FilePlace, Owner } from './approval-record.ts'
import type { Boundary } from './boundary.ts'
import type { WorkFolder } from './tool.ts'

/** The facts about a call that decide which grants cover it. */
export interface CallFacts {
  toolName: string
  /** What the call does, in words. */
  does: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  /** The identity of the tool, for tools whose definition can change under the same name. */
  identity?: string
  /** The working folder of the call. */
  folder: WorkFolder
  /** The places (folder and name) of the files that the call changes; absent if no scope for files can cover the call. */
  places?: FilePlace[]
  /** The hosts to which the call sends data, or whose addresses it passes to others. */
  hosts?: string[]
  /** Where the call would run, for commands. */
  boundary?: Boundary
  /** The size in bytes of a file that the call would delete and that is too large for a copy for undo. No grant covers such a call. */
  uncopied?: number
  /** The call changes an executable file. No grant with a scope for files covers such a call. */
  isProgram?: boolean
}

/** A path that approved runs changed, and what existed there before. */
export interface LearnedPlace {
  path: string
  /** Nothing existed at the path. */
  isNew?: true
  /**
   * A file or folder existed there that the task had not made, or that others had changed since. If absent, the
   * task is not allowed to change such files.
   */
  others?: true
}

/** A permission for calls of one tool in one conversation or task: calls that it covers run without asking. */
export type Grant = Owner & Omit<CallFacts, 'does' | 'input' | 'uncopied' | 'boundary' | 'isProgram'> & {
  grantId: string
  /** The input of the call for which the grant was made; absent if the input is long. */
  input?: unknown
  /** `file` (the same file, with any content) and `beside` (new files in its folder) are learned from approved runs only. */
  scope: GrantView['scope']
  source: GrantView['source']
  /** The id of the approval request whose answer made the grant. */
  approvalId?: string
  /** The id of the rehearsal whose sheet (list of calls), accepted by a person, made the grant. */
  sheet?: string
  /**
   * Only in learned grants for calls whose changes are known before they run: the paths that approved runs
   * changed, in the order of the call.
   */
  meets?: LearnedPlace[]
  /** What the grant covers, in words. */
  text: string
  until?: Until
  /** How many calls the grant has allowed. */
  uses: number
  createdAt: number
  lastUsedAt?: number
  /**
   * The grant allows a command only in a box (a sandbox) without network. In the scope `sandbox`, `folder` is the working folder of that
   * box.
   */
  isConfined?: true
  /**
   * Set while the grant of a command is suspended: `path` was written without an approval at `at` (milliseconds
   * since the Unix epoch). The suspension ends when a person approves the command again.
   */
  suspended?: { at: number, path: string }
  /** When the end of the grant was noticed; milliseconds since the Unix epoch. The grant stays ended, even if the clock is set back. */
  endedAt?: number
}
