import { chmod, lstat, mkdir, open, rename, symlink } from 'node:fs/promises'
import { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { newId } from '../lib/ids.ts'
import type { BoxedGit } from './boxed-git.ts'
import type { CommitEnd } from './commit-ends.ts'
import { inForbidden } from './forbidden-folders.ts'
import { type Entry, entryAt, type ObeyedState } from './obeyed-state.ts'

// Whatever is not known to be harmless is moved aside, and what was there is put back.

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** A folder that is held open, see withFolder. `path` is its real path. */
export interface OpenFolder {
  path: string
  handle: { fd: number }
  entry(name: string): string
}
export type WithFolder = <T>(path: string, work: (folder: OpenFolder) => Promise<T>) => Promise<T>

export interface CheckParts {
  withFolder: WithFolder
  git: BoxedGit
  /** The recorded ends of branches, which say who made which commits. */
  ends: readonly CommitEnd[]
  /**
   * Returns the folders outside the working folder to which links are allowed to lead, because they are the same inside and outside a box.
   */
  linkable: () => readonly string[]
  /**
   * Paths that were read-only for all commands, with the device and inode of what was there. As long as these are the same, any change
   * there was made by somebody else.
   */
  readOnly: ReadonlyMap<string, string>
  /** Records on the disk what is put back next. If the service is killed meanwhile, its next start finishes and reports that. */
  begin: (what: string) => Promise<void>
  limits?: { entries: number, ms: number }
}

/** A comparison of two states of a folder. */
export interface Check extends CheckParts {
  before: ObeyedState
  after: ObeyedState
  /** Sentences about what was put back, for the model and the person. */
  taken: string[]
}

/** Returns the innermost git directory that contains a path; undefined if there is none. */
export function gitAround ({ gitDirectories, folder, outside }: ObeyedState, path: string): string | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (gitDirectories.has(at)) return at
    if (at === folder || outside.includes(at) || dirname(at) === at) return undefined
  }
}

/** Renames what is at a path (see `moveAside`), and writes what was there before. */
export async function putBack (check: Check, path: string): Promise<void> {
  if (await moveAside(check, path) && check.before.entries.has(path)) await restore(check, path)
}

export async function restore (check: Check, path: string): Promise<void> {
  const was = check.before.entries.get(path)!
  if (was.kind === 'folder') return
  await check.begin(path)
  const isDone = await write(check, path, was)
  check.taken.push(isDone ? `${path} is as it was.` : `${path} could not be put back.`)
}

export async function write ({ withFolder }: Check, path: string, { kind, mode, target, content }: Entry): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true })
    return await inForbidden([dirname(path)], () => withFolder(dirname(path), async (folder) => {
      const at = folder.entry(basename(path))
      if (kind === 'link') await symlink(target ?? '', at)
      if (kind === 'link' || content === undefined) return kind === 'link'
      const file = await open(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
      try {
        await file.writeFile(Buffer.from(content, 'base64'))
        await file.chmod(mode)
      } finally {
        await file.close()
      }
      return true
    }))
  } catch {
    return false
  }
}

export const writeText = (check: Check, path: string, text: string): Promise<boolean> =>
  write(check, path, { kind: 'file', id: '', mode: 0o644, links: 1, content: Buffer.from(text).toString('base64') })

/** The most bytes of an old name that the new name starts with. A file name has at most 255 bytes. */
const LONGEST = 200
/** The most numbers that are tried for a new name before a random id is used: a command might have taken all of them. */
const MOST_NUMBERS = 100

/**
 * Renames what is at a path to a name that no program acts on, and makes a file not executable. If the path is in a folder whose files
 * programs run by themselves, moves it out of that folder, because hooks might run every file there. Returns true if it was renamed, or if
 * nothing is there and `isSilentIfGone` is set.
 */
export async function moveAside (check: Check, path: string, { isSilentIfGone = false } = {}): Promise<boolean> {
  const { withFolder, taken } = check
  if (isSilentIfGone && await entryAt(path) === undefined) return true
  await check.begin(path)
  const to = folderBeside(check, path)
  const move = (from: OpenFolder) => withFolder(to, async (folder) => {
    for (let number = 1; ; number++) {
      const free = `${startOf(basename(path))}.boxed${number === 1 ? '' : `-${number > MOST_NUMBERS ? newId() : number}`}`
      const at = folder.entry(free)
      if (await lstat(at).then(() => true, () => false)) continue
      await rename(from.entry(basename(path)), at)
      const stat = await lstat(at)
      if (stat.isFile()) await chmod(at, stat.mode & 0o666)
      return to === dirname(path) ? free : join(to, free)
    }
  })
  const moved = await inForbidden([dirname(path), to], () => withFolder(dirname(path), move)).catch(() => undefined)
  taken.push(moved === undefined ? `${path} should not be there and could not be renamed.` : `${path} is now ${moved}.`)
  return moved !== undefined
}

const startOf = (name: string): string => {
  let start = name
  while (Buffer.byteLength(start) > LONGEST) start = start.slice(0, -1)
  return start
}

/**
 * Returns the folder to which an obeyed path (one that programs act on by themselves) is moved: the git directory that contains it, or the
 * folder around the outermost obeyed folder.
 */
function folderBeside ({ after }: Check, path: string): string {
  const git = gitAround(after, path)
  if (git !== undefined) return git
  let root = path
  while (after.entries.has(dirname(root))) root = dirname(root)
  return dirname(root)
}
