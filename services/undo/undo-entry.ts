import { defineError } from '../lib/service-error.ts'

// The shapes of the stored records. They are stored, so fields keep their names.

/** What is at a path; null for nothing. */
export type Place = null | FilePlace | FolderPlace | LinkPlace | { kind: 'other' }

/**
 * A file. `digest` is `sha256:` of its content. For a file whose content was not read it is `stat:`, made of what the file system
 * says of it.
 */
export interface FilePlace {
  kind: 'file'
  digest: string
  /** Bytes. */
  size: number
  /** Permission bits, without setuid and setgid. */
  mode: number
}
interface FolderPlace {
  kind: 'folder'
  mode: number
}
interface LinkPlace {
  kind: 'link'
  target: string
}

/** Where a file's content lies in the file of its entry: position in bytes, and number of the first sealed chunk. */
export interface Copy {
  at: number
  chunk: number
  /** The file, if it is not that of the entry; its key is in `contents` of the entry. */
  file?: string
}

/** Why no copy of what was there is kept. */
type NotKept = 'too_large' | 'gone'

/** One path that a call changed, or is about to change. */
export interface Item {
  /** The real path. */
  path: string
  before: Place
  /** Absent while the call runs, and when it could not be read afterwards. */
  after?: Place
  copy?: Copy
  notKept?: NotKept
  /** A file that could not be read afterwards: by what the file system says of it, its permissions alone changed. */
  isUnread?: true
  /** A folder that the call made on the way to its path. */
  isParent?: true
  /** Others may have made the change: the command went on beside their work, or its folder was compared late. */
  isShared?: true
}

/** The record of one call or undo. */
export interface Entry {
  runId: string
  /** The thread (as digest) or the task that the run belongs to. */
  owner: string
  toolCallId: string
  toolName: string
  /** Milliseconds since the Unix epoch. */
  at: number
  /** The working folder of the call, which allowed its paths. */
  cwd: string
  /** The paths that the call named; the other items are below them, or lead to them. */
  roots: string[]
  items: Item[]
  /** The key of the entry's file, base64; absent when nothing was copied. */
  key?: string
  /** The keys of the files of contents that the items name. */
  contents?: Record<string, string>
  /** Of a command that has not ended: the record of what was in its folder. */
  tree?: { folder: string, record: { id: string, key: string }, target?: string }
  /** The call has ended, and its items say what it left. */
  ended?: true
  /** What the call may have changed is not, or not all, among the items. `target` is what its input named; `reason` says why. */
  uncovered?: { target?: string, server?: string, app?: string, reason?: string }
  /** The unified diff that the tool made. */
  diff?: string
  /** Of an undo or an apply: the run, or the undo, whose changes it takes back or takes over. */
  of?: string
  /** Such work has not come to its end: it goes on, or the end of the service or a full disk cut it off. */
  isCut?: true
}

/** Stands for the tool in the record of an undo. */
export const UNDO = 'undo'
/** Stands for the tool in the record of what was taken over from a copy. */
export const APPLY = 'apply'

const modeIn = (place: Place | undefined): number | undefined => place && 'mode' in place ? place.mode : undefined

/** Whether two places hold the same with the same permissions. */
export const isUnchanged = (a: Place | undefined, b: Place | undefined): boolean => isSame(a, b) && modeIn(a) === modeIn(b)

/** Whether two places hold the same. Permissions do not count. */
export function isSame (a: Place | undefined, b: Place | undefined): boolean {
  if (a === undefined || b === undefined) return false
  if (a === null || b === null) return a === b
  if (a.kind === 'file') return b.kind === 'file' && a.digest === b.digest
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target
  return a.kind === b.kind
}

/** What a call is about to change could not be kept, so the call must not start. */
export const CopiesUnavailable = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'What is there could not be kept for an undo (%s). Nothing was changed. Make room on the disk of the configuration folder and try ' +
  'again.'
)
/** The disk failed in the middle of taking over a copy. */
export const ApplyCutShort = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'Applying stopped in the middle (%s): what is applied so far stays. Call it again for the rest when there is room on the disk.'
)
/** The disk failed in the middle of an undo. */
export const UndoCutShort = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'The undo stopped in the middle (%s): what it restored so far stays. Call it again for the rest when there is room on the disk.'
)
export const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'No run "%s" is known.')
export const NothingHappened = defineError(
  'ERR_NOT_CHANGED',
  'The run "%s" is a rehearsal: it worked on a copy of the folder, which is as it was, so there is nothing to take back.'
)
export const CommandRuns = defineError(
  'ERR_COMMAND_RUNS',
  'A command of the run "%s" still runs in the background. Stop it before its changes are undone.'
)
export const RunLive = defineError(
  'ERR_RUN_LIVE',
  'The run "%s" is not over. Stop it, or answer what it waits for, before its changes are undone.'
)
export const NotChanged = defineError('ERR_NOT_CHANGED', 'The run changed no file at %s. GET /runs/:runId/changes lists its changes.')
