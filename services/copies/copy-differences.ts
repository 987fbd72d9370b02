import { lstat, readlink } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import type { PathState } from '../tools/index.ts'

type States = Array<[path: string, state: PathState]>

/** A path that is not as it was copied, relative to the folder. */
export interface Difference {
  path: string
  /** Whether the folder itself still has what was copied. */
  isAsCopied: boolean
}

/** Returns what the file system says of a path now; undefined for nothing, and for what is never copied. */
export async function stateAt (path: string): Promise<PathState | undefined> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined) return undefined
  const mode = stat.mode & 0o777
  if (stat.isDirectory()) return { kind: 'folder', mode }
  if (stat.isSymbolicLink()) return { kind: 'link', mode: 0, target: await readlink(path) }
  if (!stat.isFile()) return undefined
  const { size, ino, mtimeMs: modifiedAt, ctimeMs: changedAt } = stat
  return { kind: 'file', mode, size, ino, modifiedAt, changedAt }
}

/** Returns the paths at which a copy differs from what was copied. */
export async function differencesOf (
  { sources, copies }: { sources: States, copies: States },
  now: States,
  real: string
): Promise<Difference[]> {
  const was = new Map(copies)
  const source = new Map(sources)
  const is = new Map(now)
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((path) => !isDeepStrictEqual(was.get(path), is.get(path)))
  return Promise.all(changed.map(async (path) =>
    ({ path, isAsCopied: isDeepStrictEqual(source.get(path), await stateAt(join(real, path))) })))
}
