import type { Dirent, Stats } from 'node:fs'
import { access, opendir, realpath, stat } from 'node:fs/promises'
import { posix, win32 } from 'node:path'
import type { FolderEntry, FolderPlaces, FolderProblem, FolderQuery, FolderView } from '../../../schemas/folders.ts'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { defineError } from '../../lib/service-error.ts'
import { readPath, shareOf } from '../../lib/windows-path.ts'
import { KERNEL_FOLDERS } from '../../workspace/index.ts'
import { type PathPolicy, within } from '../path-policy.ts'

const NoFolder = defineError('ERR_FOLDER_NOT_FOUND', 'There is no folder "%s" on this computer.')
const BadPath = defineError('ERR_INVALID_REQUEST', 'The path %s %s.')
const Slow = defineError('ERR_TIMEOUT', 'The folder "%s" did not answer within %d s: the drive or computer that it lies on may be away.')
const Busy = defineError('ERR_TOO_MANY_WAITS', 'Other folders are still being read, and do not answer. Try again in a moment.')

/** The time limit for reading a folder, in milliseconds. A network drive that is not connected never answers. */
const ANSWER_MS = 10_000
/** The most folders that are read at once. Each can occupy a thread of the pool that the store uses, too. */
const MOST_READ = 2
const MOST_WAITING = 64
/** The most entries of a folder that are read, and the most matching entries that are sorted. */
const MOST_SEEN = 200_000
const MOST_SORTED = 20_000
/** The most symbolic links that are resolved for one answer, to find out whether they lead to folders. */
const MOST_LINKS = 2_000
/** The most recently used folders in the list of folders to choose from. */
const MOST_RECENT = 12

/** The file system functions that are used here; tests replace them. */
interface FileSystem {
  realpath(path: string): Promise<string>
  stat(path: string): Promise<Pick<Stats, 'isDirectory'>>
  access(path: string): Promise<void>
  opendir(path: string): Promise<AsyncIterable<Pick<Dirent, 'isDirectory' | 'isSymbolicLink'> & { name: Buffer }>>
}

const FILES: FileSystem = {
  realpath,
  stat,
  access,
  // The type declarations lack the encoding 'buffer', which opendir supports. It lets names that are not UTF-8 be recognised.
  opendir: (path) => opendir(path, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 }) as ReturnType<FileSystem['opendir']>
}

interface FolderParts {
  clock: Clock
  paths: Pick<PathPolicy, 'resolve' | 'isForbidden'>
  home: string
  workspace: () => string
  roots: () => readonly string[]
  /** The folders of the service itself, whose content is not shown. */
  own: readonly string[]
  /** Returns the working folders of conversations and tasks, most recently used first. */
  recent: (limit: number) => Promise<string[]>
  platform?: NodeJS.Platform
  files?: FileSystem
}

export type Folders = ReturnType<typeof createFolders>

/**
 * Lists folders of this computer for a person who chooses one. Shows the names of folders and the targets of links, never the names of
 * files.
 */
export function createFolders (
  { clock, paths, home, workspace, roots, own, recent, platform = process.platform, files = FILES }: FolderParts
) {
  const { dirname, join, parse, sep } = platform === 'win32' ? win32 : posix
  const readers = createSemaphore({ limit: MOST_READ, maxQueued: MOST_WAITING, busy: () => new Busy() })
  const kernel = platform === 'win32' ? [] : KERNEL_FOLDERS

  /**
   * Runs `work` with the time limit of a folder. If a drive does not answer, the work keeps its slot until it ends, so that not all threads
   * of the pool are sent to that drive.
   */
  const inTime = async <T>(path: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      return await withDeadline({ clock, ms: ANSWER_MS, signal }, (either) => readers.run(either, () => work(either)))
    } catch (error) {
      throw abortKind(error) === 'timeout' ? new Slow(path, ANSWER_MS / 1000) : error
    }
  }

  /** Returns the absolute path of a given path, in which `~` is the home folder. Throws BadPath (400). */
  function meant (given: string, base: string): string {
    const path = /^~(?=$|[\\/])/.test(given) ? home + given.slice(1) : given
    if (path.includes('\0') || !path.isWellFormed()) throw new BadPath(JSON.stringify(given), 'is no text that a path can have')
    const reading = readPath(path, base, platform)
    if ('refused' in reading) throw new BadPath(JSON.stringify(given), reading.refused)
    // Windows signs in at another computer as soon as a path on it is looked up. Browsing must not cause that.
    if (platform === 'win32' && shareOf(reading.path) !== undefined) {
      throw new BadPath(JSON.stringify(given), 'is on another computer, where nobody looks: write the whole path into the field')
    }
    return reading.path
  }

  async function problemOf (real: string, cwd: string | undefined): Promise<FolderProblem | undefined> {
    if (isOwn(real, await ownPlaces()) || await paths.isForbidden(real)) return 'own'
    if (isKernel(real)) return 'system'
    return cwd !== undefined && await paths.resolve(real, cwd).then(() => false, () => true) ? 'outside' : undefined
  }
  const ownPlaces = () => Promise.all(own.map((path) => files.realpath(path).catch(() => path)))
  const isOwn = (real: string, places: string[]) => places.some((place) => within(real, place, sep))
  const isKernel = (real: string) => kernel.some((place) => within(real, place, sep))

  /** Returns the folders from the root down to a path, and the path itself, each with its name. */
  function partsOf (path: string): FolderView['parts'] {
    const { root, base } = parse(path)
    return path === root || base === '' ? [{ name: root, path: root }] : [...partsOf(dirname(path)), { name: base, path }]
  }

  /** Returns the matching folders and links in a folder, sorted by name, and the numbers of hidden ones and of those beyond MOST_SORTED. */
  async function namesIn (path: string, { prefix = '', hidden: isShown }: Pick<FolderQuery, 'prefix' | 'hidden'>, signal: AbortSignal) {
    const begins = folded(prefix)
    const showsHidden = isShown || prefix.startsWith('.')
    const found: Array<{ name: string, key: string, isLink: boolean, isText: boolean }> = []
    let [seen, hidden, beyond] = [0, 0, 0]
    let isCut = false
    for await (const entry of await files.opendir(path)) {
      signal.throwIfAborted()
      if (++seen > MOST_SEEN) {
        isCut = true
        break
      }
      if (!entry.isDirectory() && !entry.isSymbolicLink()) continue
      const name = entry.name.toString()
      const key = folded(name)
      if (!key.startsWith(begins)) continue
      if (name.startsWith('.') && !showsHidden) hidden++
      else if (found.length === MOST_SORTED) beyond++
      else found.push({ name, key, isLink: entry.isSymbolicLink(), isText: Buffer.from(name).equals(entry.name) })
    }
    found.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : a.name < b.name ? -1 : 1)
    return { found, hidden, beyond, isCut: isCut || beyond > 0 }
  }

  /** Returns the entry for a link that leads to a folder or is broken; undefined for a link to a file. */
  async function asLink (name: string, path: string, places: string[]): Promise<FolderEntry | undefined> {
    const target = await files.realpath(path).catch(() => undefined)
    if (target === undefined) return { name, path, problem: 'broken' }
    const isFolder = await files.stat(target).then((stats) => stats.isDirectory(), () => undefined)
    return isFolder === false ? undefined : { name, path, link: target, ...withProblem(target, places) }
  }

  function withProblem (path: string, places: string[]): { problem?: FolderProblem } {
    if (isOwn(path, places)) return { problem: 'own' }
    return isKernel(path) ? { problem: 'system' } : {}
  }

  async function entriesIn (path: string, query: FolderQuery, signal: AbortSignal): Promise<Omit<FolderView, 'path' | 'parts'>> {
    const { found, hidden, beyond, isCut } = await namesIn(path, query, signal)
    const places = await ownPlaces()
    const folders: FolderEntry[] = []
    let [at, links] = [0, 0]
    for (; at < found.length && folders.length < query.limit && links < MOST_LINKS; at++) {
      signal.throwIfAborted()
      const { name, isLink, isText } = found[at]
      const inner = join(path, name)
      if (!isText) {
        folders.push({ name, path: inner, problem: 'name' })
        continue
      }
      if (isLink) links++
      const entry = isLink ? await asLink(name, inner, places) : { name, path: inner, ...withProblem(inner, places) }
      if (entry !== undefined) folders.push(entry)
    }
    return { folders, leftOut: found.length - at + beyond, hidden, ...(isCut && { isCut: true as const }) }
  }

  const nothing = { folders: [], leftOut: 0, hidden: 0 }

  return {
    /**
     * Returns a folder with the folders in it. A folder that cannot be read or used is returned with its problem instead. Throws NoFolder
     * (404), BadPath (400), Slow (504) if the drive does not answer, or Busy (429).
     */
    async list (query: FolderQuery, caller: AbortSignal): Promise<FolderView> {
      const base = query.cwd === undefined ? workspace() : meant(query.cwd, workspace())
      const path = meant(query.path ?? '.', base)
      // Errors name the folder as the request did, because they must not reveal where a relative path leads.
      const named = query.path ?? query.cwd ?? path
      return inTime(named, caller, async (signal) => {
        let real = path
        try {
          real = await files.realpath(path)
          if (!(await files.stat(real)).isDirectory()) throw new NoFolder(named)
          const cwd = query.cwd === undefined ? undefined : await files.realpath(base).catch(() => base)
          const problem = await problemOf(real, cwd)
          const isClosed = problem === 'own' || problem === 'system'
          const entries = isClosed ? nothing : await entriesIn(real, query, signal)
          return { path: real, parts: partsOf(real), ...(problem && { problem }), ...entries }
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException
          if (code === undefined || !(error instanceof Error && 'syscall' in error)) throw error
          if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL'].includes(code)) throw new NoFolder(named)
          return { path: real, parts: partsOf(real), problem: 'unreadable', ...nothing }
        }
      })
    },

    /**
     * Returns the folders from which a person can start browsing. Folders that do not exist are left out. Throws Slow (504) if a drive does
     * not answer, or Busy (429).
     */
    async places (caller: AbortSignal): Promise<FolderPlaces> {
      const used = [...new Set(await recent(MOST_RECENT))]
      return inTime(used[0] ?? home, caller, async () => {
        const isThere = (path: string) => files.access(path).then(() => true, () => false)
        const there = async (given: readonly string[]) => {
          const near = given.filter((path) => platform !== 'win32' || shareOf(path) === undefined)
          const answers = await Promise.all(near.map(isThere))
          return near.filter((_, at) => answers[at])
        }
        const letters = platform === 'win32' ? Array.from({ length: 26 }, (_, n) => `${String.fromCharCode(65 + n)}:\\`) : []
        return { home, workspace: workspace(), roots: [...roots()], drives: await there(letters), recent: await there(used) }
      })
    }
  }
}

/** Folds a name for comparison, because people type names in any case and Unicode form. */
const folded = (name: string) => name.normalize('NFC').toLowerCase()
