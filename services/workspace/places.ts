import type { BigIntStats } from 'node:fs'
import type { PathChange } from '../../schemas/undo.ts'
import { defineError } from '../lib/service-error.ts'

// The shapes of stored records; fields must keep their names.

/** What is at a path; null means that nothing is there. */
export type Place = null | FilePlace | FolderPlace | LinkPlace | { kind: 'other' }

/**
 * A file. `digest` is `sha256:` with the digest of its content. If the content was not read, it is `stat:` with data of the file system,
 * see `statDigest`.
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

/** Where the content of a file is in a file of copies: position in bytes, and number of the first sealed chunk. */
export interface Copy {
  file: string
  at: number
  chunk: number
}

/** Why no copy of the previous content is kept. */
export type NotKept = 'too_large' | 'gone'

/** One path that a call changed, or is about to change. */
export interface Item {
  /** The real path. */
  path: string
  before: Place
  /** What is there after the call. Absent while the call runs, and if the path could not be read afterwards. */
  after?: Place
  copy?: Copy
  notKept?: NotKept
  /** For a folder and its copy: the real path in the other one, where the content of `before` is. */
  from?: string
  /** True for a file that could not be read afterwards: according to the file system, only its permissions changed. */
  isUnread?: true
  /** True for a folder that the call made above its path. */
  isParent?: true
  /** The real path of the git directory or the database that the path belongs to. */
  unit?: string
  /** True if others might have made the change: the command continued while they worked, or its folder was compared late. */
  isShared?: true
}

/** Returns a digest of a file that is not read, made of the data of the file system about the file. */
export const statDigest = ({ dev, ino, size, mtimeNs }: BigIntStats): string => `stat:${dev}:${ino}:${size}:${mtimeNs}`

/** A place to give to `lookAt` as `like`, so that the content of a file is not read. */
export const UNREAD: Place = { kind: 'file', digest: 'stat:', size: 0, mode: 0 }

/** Whether the content of a file was read. */
export const isRead = ({ digest }: FilePlace): boolean => digest.startsWith('sha256:')

/** Returns the permission bits of a file or a folder. */
export const modeOf = (place: Place | undefined): number | undefined => place && 'mode' in place ? place.mode : undefined

/** Whether two places have the same content and the same permissions. */
export const isUnchanged = (a: Place | undefined, b: Place | undefined): boolean => isSame(a, b) && modeOf(a) === modeOf(b)

/** Whether two places have the same content. Permissions do not count. */
export function isSame (a: Place | undefined, b: Place | undefined): boolean {
  if (a === undefined || b === undefined) return false
  if (a === null || b === null) return a === b
  if (a.kind === 'file') return b.kind === 'file' && a.digest === b.digest
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target
  return a.kind === b.kind
}

/** Describes a change for the API: its kind, what is at the path, and the new permissions or link target. */
export function describeChange (before: Place | undefined, after: Place | undefined): Pick<PathChange, 'kind' | 'what' | 'mode' | 'link'> {
  const what = (after ?? before)?.kind
  const [old, now] = [before, after].map((place) => place && 'mode' in place ? place.mode & 0o777 : undefined)
  return {
    kind: before === null ? 'created' : after === null ? 'deleted' : 'changed',
    ...what !== undefined && { what },
    ...before?.kind === after?.kind && old !== now && now !== undefined && { mode: now.toString(8).padStart(3, '0') },
    ...after?.kind === 'link' && { link: after.target }
  }
}

/** What a call is about to change could not be kept, so the call must not start. */
export const CopiesUnavailable = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'What is there could not be kept for an undo (%s). Nothing was changed. Make room on the disk of the configuration folder and try ' +
  'again.'
)

/** The beginning of every database of SQLite (https://www.sqlite.org/fileformat.html, section 1.3). */
const SQLITE = Buffer.from('SQLite format 3\0')
export const SQLITE_BYTES = SQLITE.length

/** Whether a file with this beginning is a database of SQLite. */
export const isDatabase = (head: Uint8Array): boolean => SQLITE.equals(head.subarray(0, SQLITE_BYTES))
