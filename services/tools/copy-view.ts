import { join, relative } from 'node:path'
import { within } from './path-within.ts'

/** A folder and its copy, in which a run works; real paths. */
export interface CopiedFolder {
  folder: string
  real: string
}

/** The copies of folders in which runs work. */
export interface CopyView {
  /** Returns the copy that a folder is, or lies in. */
  copyAt(folder: string): CopiedFolder | undefined
  /** Whether a path belongs to copies, but not to the one that `cwd` is in. */
  isForeign(path: string, cwd: string): boolean
  /** Returns the value with the paths of folders in the place of those of their copies. */
  shown<T>(value: T): T
}

/** Returns the path that a run which works in `cwd` means by an absolute path: in a copy, paths of the folder are those of the copy. */
export function pathMeant (path: string, cwd: string, copies: CopyView | undefined): string {
  const copy = copies?.copyAt(cwd)
  return copy !== undefined && within(path, copy.real) ? join(copy.folder, relative(copy.real, path)) : path
}

/** Returns where a path of a copy is in its folder, and any other path as it is. */
export function realPathOf (path: string, copies: CopyView | undefined): string {
  const copy = copies?.copyAt(path)
  return copy === undefined ? path : join(copy.real, relative(copy.folder, path))
}
