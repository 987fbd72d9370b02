import type { GrantView, Until } from '../../schemas/grants.ts'
import type { FilePlace, Owner } from './approval-record.ts'
import type { Boundary } from './boundary.ts'
import type { WorkFolder } from './tool.ts'

/** The facts of a call that decide which grants cover it. */
export interface CallFacts {
  toolName: string
  /** What its tool does, in words. */
  does: string
  input: unknown
  /** See `inputDigest`. */
  digest: string
  /** The identity of the tool, for tools that may change under the same name. */
  identity?: string
  /** The folder that the call works in. */
  folder: WorkFolder
  /** Where the files lie that the call changes; absent if the call is none that a scope for files can cover. */
  places?: FilePlace[]
  /** The hosts that the call is sent to, or hands to others. */
  hosts?: string[]
  /** Where the call would run, for commands. */
  boundary?: Boundary
  /** The size of a file that the call would delete and that is too large for a copy to be kept, bytes. No grant covers such a call. */
  uncopied?: number
  /** The call changes a program: a file that may be executed is there. No grant for files in general covers it. */
  isProgram?: boolean
}

/** A path that approved runs changed, and what they found there. */
export interface LearnedPlace {
  path: string
  /** Nothing was there. */
  isNew?: true
  /** Something was there that the task had not made, or that others had changed since. Otherwise no such thing may be changed. */
  others?: true
}

/** A permission for calls of one tool in one conversation or task, which then run unasked. */
export type Grant = Owner & Omit<CallFacts, 'does' | 'input' | 'uncopied' | 'boundary' | 'isProgram'> & {
  grantId: string
  /** The input of the call that it was made of; absent for a long one. */
  input?: unknown
  /** `file` (the same file, with any content) and `beside` (new files in its folder) are learned from approved runs only. */
  scope: GrantView['scope']
  source: GrantView['source']
  /** The request for approval whose answer made the grant. */
  approvalId?: string
  /** The rehearsal whose sheet was accepted. */
  sheet?: string
  /** Learned, for calls whose changes are known beforehand: the paths that approved runs changed, in the order of the call. */
  meets?: LearnedPlace[]
  /** What the grant covers, in words. */
  text: string
  until?: Until
  /** How often it was used. */
  uses: number
  createdAt: number
  lastUsedAt?: number
  /** The command runs in a box without network or not at all. Of scope `sandbox`, `folder` is the working folder of that box. */
  isConfined?: true
  /** A command's grant rests since this path was written unasked, until a person approves the command again. */
  suspended?: { at: number, path: string }
  /** When it was found to be over. It stays so, whatever the clock says later. */
  endedAt?: number
}
