import type { GrantView, Until } from '../../schemas/grants.ts'
import type { FilePlace, Owner } from './approval-record.ts'
import type { Boundary } from './boundary.ts'
import type { WorkFolder } from './tool.ts'

/** What decides which grants cover a call. */
export interface CallFacts {
  toolName: string
  /** What the tool does, in words. */
  does: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  /** The identity of the tool, for tools whose definition may change under the same name. */
  identity?: string
  /** The folder that the call works in. */
  folder: WorkFolder
  /** Where the files are that the call changes; absent if no scope for files can cover the call. */
  places?: FilePlace[]
  /** The hosts that the call sends something to, or passes to others. */
  hosts?: string[]
  /** Where the call would run, for commands. */
  boundary?: Boundary
  /** The size in bytes of a file that the call would delete and that is too large to keep a copy of. No grant covers such a call. */
  uncopied?: number
  /** The call changes an executable file. No grant for files in general covers it. */
  isProgram?: boolean
}

/** A path that approved runs changed, and what was there before. */
export interface LearnedPlace {
  path: string
  /** Nothing was there. */
  isNew?: true
  /**
   * Something was there that the task had not made, or that others had changed since. If this is absent, the task may not change such
   * things.
   */
  others?: true
}

/** A permission for calls of one tool in one conversation or task: these calls run without asking. */
export type Grant = Owner & Omit<CallFacts, 'does' | 'input' | 'uncopied' | 'boundary' | 'isProgram'> & {
  grantId: string
  /** The input of the call for which the grant was made; absent if it is long. */
  input?: unknown
  /** `file` (the same file, with any content) and `beside` (new files in its folder) are learned from approved runs only. */
  scope: GrantView['scope']
  source: GrantView['source']
  /** The approval request whose answer made the grant. */
  approvalId?: string
  /** The rehearsal with the accepted sheet that made the grant. */
  sheet?: string
  /**
   * In learned grants for calls whose changes are known before they run: the paths that approved runs changed, in the order of the call.
   */
  meets?: LearnedPlace[]
  /** What the grant covers, in words. */
  text: string
  until?: Until
  /** How often it was used. */
  uses: number
  createdAt: number
  lastUsedAt?: number
  /** The command runs in a box without network, or does not run. In the scope `sandbox`, `folder` is the working folder of that box. */
  isConfined?: true
  /** The grant of a command is suspended since this path was written without an approval, until a person approves the command again. */
  suspended?: { at: number, path: string }
  /** When the grant was found to have ended. It remains ended, even if the clock is set back. */
  endedAt?: number
}
