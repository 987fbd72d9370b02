import { dirname, join, posix, win32 } from 'node:path'
import type { ChangedPath } from '../contracts/tool.ts'
import { readWhole, type ReadFile } from './entry-file.ts'
import { foldCase } from '../lib/windows-path.ts'
import { type Item, type Place, CopiesUnavailable } from './places.ts'
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

/** Reads a file of at most so many bytes; undefined when it is not read. */
type Read = (file: FileHandle, size: number) => Promise<ReadFile | undefined>

interface Survey {
  paths: OwnFiles
  signal?: AbortSignal
  /** Absent: no file is read. */
  read?: Read
}

/** A tree has more than MOST_ITEMS paths. */
class TooMany extends Error {}

/** What the file system says of a file, in place of its digest. */
const statDigest = ({ dev, ino, size, mtimeNs }: BigIntStats) => `stat:${dev}:${ino}:${size}:${mtimeNs}`

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
    if (signal?.aborted || isAbsent(error) || error instanceof CopiesUnavailable) throw error
    return { path, before: unread, notKept: 'gone' }
  }
  if (found === undefined) return { path, before: unread, notKept: 'too_large' }
  const { digest, size, copy, isDatabase } = found
  return { path, before: { kind: 'file', digest, size, mode }, ...(copy && { copy }), ...isDatabase && { unit: path } }
}

/** Examines an entry and, if it is a folder, everything in it. Throws TooMany. */
async function walk (folder: Folder, name: string, path: string, survey: Survey, items: Item[]): Promise<void> {
  if (items.length >= MOST_ITEMS) throw new TooMany()
  const item = await examine(folder, name, path, survey)
  items.push(item)
  if (item.before?.kind !== 'folder') return
  await withSubfolder(folder, name, async (inner) => {
    // Tools do not change what is mounted.
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
 * Returns what is at an entry of an open folder, and with `withContents` below it: of a tree that is too large, the first so many. Nothing,
 * when there is no such entry.
 */
export async function surveyEntry (
  folder: Folder,
  name: string,
  { withContents = false, ...survey }: Survey & { withContents?: boolean }
): Promise<Item[]> {
  const items: Item[] = []
  const path = join(folder.path, name)
  try {
    if (withContents) await walk(folder, name, path, survey, items)
    else items.push(await examine(folder, name, path, survey))
  } catch (error) {
    if (!(error instanceof TooMany) && !isAbsent(error)) throw error
  }
  return items
}

/** Returns the folders above a path that do not exist, the outermost first, without those that are known. */
async function missingParents (path: string, known: ReadonlySet<string>): Promise<Item[]> {
  const parent = dirname(path)
  if (parent === path || known.has(parent) || await lstat(parent).then(() => true, (error) => !isAbsent(error))) return []
  return [...await missingParents(parent, known), { path: parent, before: null, isParent: true }]
}

/**
 * Returns what is at the paths, and with `withContents` below them. A tree that is too large is one item. Throws PathRefused when
 * a folder was replaced meanwhile, and the errors of `survey.read`.
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
    // A move to another spelling of a name: nothing is at the new one, not even a folder that is to be made.
    if (await isSpelledOtherwise(path)) {
      all.push({ path, before: null })
      continue
    }
    try {
      await withParent(path, async (folder, name) => {
        if (withContents) await walk(folder, name, path, survey, items)
        else items.push(await examine(folder, name, path, survey))
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
 * Returns what is at a path now, in this very spelling. `like` says how it is to be compared: a file whose content was not read is not
 * read now either.
 */
export async function lookAt (path: string, like: Place | undefined, survey: Omit<Survey, 'read'>): Promise<Place> {
  if (await isSpelledOtherwise(path)) return null
  const isRead = !(like?.kind === 'file' && like.digest.startsWith('stat:'))
  const read: Read | undefined = isRead ? (file, size) => readWhole(file, { limit: Infinity, signal: survey.signal, size }) : undefined
  try {
    return await withParent(path, async (folder, name) => (await examine(folder, name, path, { ...survey, read })).before)
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

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

/** Returns the names in a folder; none when it is not a folder. Throws PathRefused when a part of its path was replaced. */
export const namesAt = (path: string): Promise<string[]> => withFolder(path, ({ entry }) => readdir(entry('.')))

/** How many paths are examined or written side by side. */
const WIDTH = 32

/** Does the work for each element, several side by side, and returns the results in order. Rejects when nothing is under way any more. */
export async function inBatches<T, R> (list: readonly T[], work: (element: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < list.length; at += WIDTH) {
    const batch = list.slice(at, at + WIDTH).map(work)
    await Promise.allSettled(batch)
    results.push(...await Promise.all(batch))
  }
  return results
}
