import { dirname, join, posix, win32 } from 'node:path'
import type { ChangedPath } from '../contracts/tool.ts'
import { readWhole, type ReadFile } from './contents.ts'
import { foldCase } from '../lib/windows-path.ts'
import { FileUnwritten } from '../lib/sealed-file.ts'
import { isRead, type Item, type Place, statDigest } from './places.ts'
import { type Folder, isMounted, type OwnFiles, withFile, withFolder, withParent, withSubfolder } from './open-folder.ts'
import type { BigIntStats } from 'node:fs'
import { lstat, readdir, readlink, realpath, type FileHandle } from 'node:fs/promises'

/** The most paths of one call whose state is kept. A larger tree is not kept at all. */
const MOST_ITEMS = 20_000

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])
const isAbsent = (error: unknown) => ABSENT.has((error as NodeJS.ErrnoException).code ?? '')
const isUnreadable = (error: unknown) => ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
const unlessAbsent = (error: unknown) => {
  if (!isAbsent(error)) throw error
}

/** Reads an open file of `size` bytes. Returns undefined if the file is too large to be read. */
type Read = (file: FileHandle, size: number) => Promise<ReadFile | undefined>

interface Survey {
  paths: OwnFiles
  signal?: AbortSignal
  /** Absent: no file is read. */
  read?: Read
  /** True if everything below a folder is examined, too. */
  withContents?: boolean
}

/** Thrown if a tree has more than MOST_ITEMS paths. */
class TooMany extends Error {}

// Without setuid and setgid: these rights were granted to the content that was there.
const modeOf = (stat: BigIntStats) => Number(stat.mode) & 0o777

/** Examines an entry of an open folder. A file that cannot be read is identified by its stat. Links are not followed. */
async function examine (folder: Folder, name: string, path: string, { paths, signal, read }: Survey): Promise<Item> {
  signal?.throwIfAborted()
  const stat = await lstat(folder.entry(name), { bigint: true })
  const mode = modeOf(stat)
  if (stat.isDirectory()) return { path, before: { kind: 'folder', mode } }
  if (stat.isSymbolicLink()) return { path, before: { kind: 'link', target: await readlink(folder.entry(name)) } }
  if (!stat.isFile()) return { path, before: { kind: 'other' }, notKept: 'gone' }
  const unread = { kind: 'file' as const, digest: statDigest(stat), size: Number(stat.size), mode }
  let found: ReadFile | undefined
  try {
    if (read !== undefined) found = await withFile(folder, name, paths, read)
  } catch (error) {
    if (signal?.aborted || isAbsent(error) || error instanceof FileUnwritten) throw error
    return { path, before: unread, notKept: 'gone' }
  }
  if (found === undefined) return { path, before: unread, notKept: 'too_large' }
  const { digest, size, copy, isDatabase } = found
  return { path, before: { kind: 'file', digest, size, mode }, ...(copy && { copy }), ...isDatabase && { unit: path } }
}

/** Examines an entry and, with `withContents`, everything in it. Throws TooMany. */
async function walk (folder: Folder, name: string, path: string, survey: Survey, items: Item[]): Promise<void> {
  if (items.length >= MOST_ITEMS) throw new TooMany()
  const item = await examine(folder, name, path, survey)
  items.push(item)
  if (item.before?.kind !== 'folder' || !survey.withContents) return
  await withSubfolder(folder, name, async (inner) => {
    // Tools do not change mounted file systems.
    if (await isMounted(folder, inner)) return
    for (const entry of await readdir(inner.entry('.'), { encoding: 'buffer' })) {
      const name = entry.toString()
      // A name that is not UTF-8 cannot be stored.
      if (!Buffer.from(name).equals(entry)) items.push({ path: join(path, name), before: { kind: 'other' }, notKept: 'gone' })
      else await walk(inner, name, join(path, name), survey, items).catch(unlessAbsent)
    }
  }).catch((error) => {
    if (!isUnreadable(error)) throw error
    item.notKept = 'gone'
  })
}

/**
 * Returns what is at an entry of an open folder, and with `withContents` what is below it; if the tree is too large, its first paths.
 * Returns nothing if the entry does not exist.
 */
export async function surveyEntry (folder: Folder, name: string, survey: Survey): Promise<Item[]> {
  const items: Item[] = []
  try {
    await walk(folder, name, join(folder.path, name), survey, items)
  } catch (error) {
    if (!(error instanceof TooMany) && !isAbsent(error)) throw error
  }
  return items
}

/** Returns the folders above a path that do not exist, the outermost first, without those that are known already. */
async function missingParents (path: string, known: ReadonlySet<string>): Promise<Item[]> {
  const parent = dirname(path)
  if (parent === path || known.has(parent) || await lstat(parent).then(() => true, (error) => !isAbsent(error))) return []
  return [...await missingParents(parent, known), { path: parent, before: null, isParent: true }]
}

/**
 * Returns what is at the paths, and with `withContents` what is below them. A tree that is too large is one item. Throws PathRefused if a
 * folder was replaced meanwhile, and the errors of `survey.read`.
 */
export async function surveyAll (places: ChangedPath[], survey: Survey): Promise<Item[]> {
  const all: Item[] = []
  const named = new Set(places.map(({ path }) => path))
  const absent = new Set<string>()
  const addAbsent = async (path: string) => {
    if (!absent.has(dirname(path))) {
      for (const parent of await missingParents(path, absent)) {
        absent.add(parent.path)
        if (!named.has(parent.path)) all.push(parent)
      }
    }
    absent.add(path)
    all.push({ path, before: null })
  }
  for (const { path, withContents } of places) {
    const items: Item[] = []
    if (absent.has(dirname(path))) {
      await addAbsent(path)
      continue
    }
    // The call moves a file to another spelling of its name: nothing is at the new spelling, and no folder has to be made.
    if (await isSpelledOtherwise(path)) {
      all.push({ path, before: null })
      continue
    }
    try {
      await withParent(path, async (folder, name) => {
        await walk(folder, name, path, { ...survey, withContents }, items)
        // Nothing is below a link or a file, wherever the link leads.
        if (items[0].before?.kind !== 'folder') absent.add(path)
      })
    } catch (error) {
      if (isAbsent(error) && items.length === 0) await addAbsent(path)
      else if (error instanceof TooMany) items.splice(0, items.length, { path, before: items[0].before, notKept: 'too_large' })
      else throw error
    }
    all.push(...items)
  }
  return all
}

/**
 * Returns what is at a path now, in exactly this spelling. `like` is what it is compared with: if the content of that file was not read,
 * the content is not read now either. Without `survey.read`, files of any length are read.
 */
export async function lookAt (path: string, like: Place | undefined, survey: Survey): Promise<Place> {
  if (await isSpelledOtherwise(path)) return null
  const isSkipped = like?.kind === 'file' && !isRead(like)
  const readAll: Read = (file, size) => readWhole(file, { limit: Infinity, signal: survey.signal, size })
  const read = isSkipped ? undefined : survey.read ?? readAll
  try {
    return await withParent(path, async (folder, name) => (await examine(folder, name, path, { ...survey, read })).before)
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** The operations of the file system that are used. `realpath` returns names in the spelling in which they are stored. */
interface FileSystem {
  lstat(path: string): Promise<{ isSymbolicLink(): boolean }>
  realpath(path: string): Promise<string>
  readdir(path: string): Promise<string[]>
}

/**
 * Returns whether the target of a path is stored under a name that differs in case or composition. For Windows and macOS both names lead to
 * the same file. For an undo they are two places, because changing one to the other is a move.
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
  // realpath follows a link, and a path that does not exist has no stored name: then the folder of the path is compared.
  const folder = await files.realpath(dirname(path)).catch(() => undefined)
  if (folder === undefined) return false
  if (isOther(folder, dirname(path))) return true
  return stat !== undefined && !(await files.readdir(folder).catch(() => [basename(path)])).includes(basename(path))
}

/** Returns the names in a folder. Throws if it is not a folder, and PathRefused if a part of its path was replaced. */
export const namesAt = (path: string): Promise<string[]> => withFolder(path, ({ entry }) => readdir(entry('.')))

/** How many paths are examined or written concurrently. */
const WIDTH = 32

/**
 * Calls `work` for each element, several concurrently, and returns the results in order. If a call fails, rejects after the calls in
 * progress.
 */
export async function inBatches<T, R> (list: readonly T[], work: (element: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < list.length; at += WIDTH) {
    const batch = list.slice(at, at + WIDTH).map(work)
    await Promise.allSettled(batch)
    results.push(...await Promise.all(batch))
  }
  return results
}
