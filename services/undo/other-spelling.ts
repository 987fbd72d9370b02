import { lstat, readdir, realpath } from 'node:fs/promises'
import { posix, win32 } from 'node:path'
import { foldCase } from '../lib/windows-path.ts'

/** What is asked of a file system. `realpath` answers with the names as they are stored. */
interface FileSystem {
  lstat(path: string): Promise<{ isSymbolicLink(): boolean }>
  realpath(path: string): Promise<string>
  readdir(path: string): Promise<string[]>
}

/**
 * Returns whether what a path leads to is stored under a name that differs in case or composition. To Windows and macOS both names lead
 * to one file; to an undo they are two places, because the change from one to the other is a move.
 */
export async function isSpelledOtherwise (
  path: string,
  { platform = process.platform, files = { lstat, realpath, readdir } }: { platform?: NodeJS.Platform, files?: FileSystem } = {}
): Promise<boolean> {
  if (foldCase('A', platform) === 'A') return false
  const { basename, dirname } = platform === 'win32' ? win32 : posix
  const isOther = (real: string, given: string) => real !== given && foldCase(real, platform) === foldCase(given, platform)
  const stat = await files.lstat(path).catch(() => undefined)
  if (stat !== undefined && !stat.isSymbolicLink()) return files.realpath(path).then((real) => isOther(real, path), () => false)
  // A link is followed by realpath, and what is not there has no name: their folder has.
  const folder = await files.realpath(dirname(path)).catch(() => undefined)
  if (folder === undefined) return false
  if (isOther(folder, dirname(path))) return true
  return stat !== undefined && !(await files.readdir(folder).catch(() => [basename(path)])).includes(basename(path))
}
