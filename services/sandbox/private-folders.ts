import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { removeTree } from '../lib/file-system.ts'
import type { GuardedChild } from '../process/index.ts'

// The home and the /tmp that the commands of one conversation share. The folders lie beside the data of the service, and only the user can
// open them. Their files are not encrypted. The folders are deleted with the conversation.

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** The most bytes and entries that the folders of one conversation can hold. */
const MOST_BYTES = 1024 ** 3
const MOST_ENTRIES = 200_000
/** The most bytes that all folders can hold together. Those unused for longest are deleted first. */
const MOST_IN_ALL = 8 * 1024 ** 3
/** Folders that no command used for this many milliseconds are deleted. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000
/** Folders that a command used within this many milliseconds are kept, because their conversation might not be stored yet. */
const NEW_MS = 24 * 60 * 60 * 1000
/** While a command runs: milliseconds between two readings of the free space on the disk, and between two measurements of all files. */
const LOOK_MS = 50
const MEASURE_MS = 250
/** Files that tools keep in /tmp for themselves, such as Node's compile cache. */
const OF_TOOLS = /^\/[^/]*cache[^/]*\//i
/** Dot folders, and dot files that programs keep for themselves, such as a history. */
const OF_PROGRAMS = /^\/\.(?:[^/]+\/|.*(?:history|hst|hsts|viminfo|lock)$)/
/** The most files that a result names. */
const MOST_NAMED = 5

/** The open folders of one owner. */
export interface PrivateFolders {
  home: FileHandle
  tmp: FileHandle
  /**
   * Watches the size of the folders until the command ends. If they hold too much, ends the command and deletes their largest files.
   * Resolves to true if they did.
   */
  watch(child: Pick<GuardedChild, 'exited' | 'kill' | 'end'>): Promise<boolean>
  /**
   * Returns the paths, as the command sees them, of files written since a time of the file system (milliseconds since the Unix epoch).
   * `homePath` is the path of the home in the box (the sandbox); `more` counts the files beyond the first ones.
   */
  written(since: number, homePath: string): Promise<{ paths: string[], more: number }>
  close(): Promise<void>
}

interface Parts {
  clock: Clock
  /** The folder that contains the folders of all owners. */
  root: string
  /** Returns the name of an owner's folder, from which nobody can learn the owner. */
  nameOf: (owner: string) => string
}

/** Creates the service for the private folders of owners, which are conversations and runs of tasks. */
export function createPrivateFolders ({ clock, root, nameOf }: Parts) {
  /** The working folder in which the commands of an owner run now, and how many run. */
  const inUse = new Map<string, { folder: string, count: number }>()

  return {
    /**
     * Opens the folders of an owner for a command in this working folder. Returns undefined while a command of the owner runs in another
     * working folder: with links, that command could redirect the mounts of this one.
     */
    async open (owner: string, folder: string): Promise<PrivateFolders | undefined> {
      const use = inUse.get(owner) ?? { folder, count: 0 }
      if (use.folder !== folder) return undefined
      use.count++
      inUse.set(owner, use)
      const leave = () => void (--use.count === 0 && inUse.delete(owner))
      const handles: FileHandle[] = []
      const close = async () => {
        leave()
        await Promise.all(handles.map((handle) => handle.close()))
      }
      try {
        const own = join(root, nameOf(owner))
        for (const name of ['home', 'tmp']) {
          await mkdir(join(own, name), { recursive: true, mode: 0o700 })
          handles.push(await open(join(own, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        }
        const [home, tmp] = handles
        const written = (since: number, at: string) => findWritten(home, tmp, { since, at })
        return {
          ...{ home, tmp, close, written },
          async watch (child) {
            const isFull = await watchSize(child, handles, clock)
            // Without room, each further command could fill the folders a little more.
            if (isFull) await makeRoom(handles, MOST_BYTES)
            return isFull
          }
        }
      } catch (error) {
        await close()
        throw error
      }
    },

    /** Deletes the folders of an owner. Its commands must have ended. */
    remove: (owner: string): Promise<void> => removeTree(join(root, nameOf(owner))),

    /**
     * Deletes folders whose owner does not exist any more (`isKept` gets a folder's name), folders that no command used for long, and, if
     * all together are too large, the ones unused for longest.
     */
    async sweep (isKept: (name: string) => Promise<boolean>): Promise<void> {
      const used = new Set([...inUse.keys()].map(nameOf))
      const found: Array<{ path: string, at: number }> = []
      for (const name of await readdir(root).catch((): string[] => [])) {
        const path = join(root, name)
        const at = await usedAt(path)
        const isGone = at < clock.now() - NEW_MS && !await isKept(name)
        if (used.has(name)) continue
        if (isGone || at < clock.now() - UNUSED_MS) await removeTree(path)
        else found.push({ path, at })
      }
      let left = MOST_IN_ALL
      for (const { path } of found.sort((a, b) => b.at - a.at)) {
        left -= (await measure(path)).bytes
        if (left < 0) await removeTree(path)
      }
    }
  }
}

/** Returns when a command last used the folders of an owner, in milliseconds since the Unix epoch; 0 if that is not known. */
async function usedAt (path: string): Promise<number> {
  const stats = await Promise.all(['home', 'tmp', ''].map((name) => lstat(join(path, name)).catch(() => undefined)))
  return Math.max(0, ...stats.map((stat) => stat?.mtimeMs ?? 0))
}

/** Called for each entry that is not a folder, with its path below the measured folder. `remove` deletes the entry. */
type Visit = (path: string, stat: Stats, remove: () => Promise<void>) => Promise<void> | void

/**
 * Measures a folder, and calls `visit` for each file. No link is followed, even if one takes the place of a folder meanwhile. What cannot
 * be opened is not counted, and the counting ends after MOST_ENTRIES entries.
 */
async function measure (folder: string, visit: Visit = () => {}): Promise<{ bytes: number, entries: number }> {
  const size = { bytes: 0, entries: 0 }
  async function walk (place: string, path: string): Promise<void> {
    const handle = await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined)
    if (handle === undefined) return
    try {
      const inside = `/proc/self/fd/${handle.fd}`
      for (const name of await readdir(inside)) {
        if (size.entries++ > MOST_ENTRIES) return
        const stat = await lstat(join(inside, name)).catch(() => undefined)
        if (stat === undefined) continue
        size.bytes += bytesOf(stat)
        if (stat.isDirectory()) await walk(join(inside, name), `${path}/${name}`)
        else await visit(`${path}/${name}`, stat, () => unlink(join(inside, name)))
      }
    } finally {
      await handle.close()
    }
  }
  await walk(folder, '')
  return size
}

const measureAll = async (folders: readonly FileHandle[]): Promise<{ bytes: number, entries: number }> => {
  const sizes = await Promise.all(folders.map(({ fd }) => measure(`/proc/self/fd/${fd}/.`)))
  return sizes.reduce((all, { bytes, entries }) => ({ bytes: all.bytes + bytes, entries: all.entries + entries }))
}

const bytesOf = ({ blocks }: Stats) => blocks * 512

/** Deletes the largest files of folders until the folders hold at most this many bytes. */
async function makeRoom (folders: readonly FileHandle[], mostBytes: number): Promise<void> {
  const visitAll = (visit: Visit) => Promise.all(folders.map(({ fd }) => measure(`/proc/self/fd/${fd}/.`, visit)))
  const sizes: number[] = []
  const measured = await visitAll((_path, stat) => void sizes.push(bytesOf(stat)))
  let left = measured.reduce((sum, { bytes }) => sum + bytes, 0)
  let smallest = Infinity
  for (const bytes of sizes.sort((a, b) => b - a)) {
    if (left <= mostBytes) break
    left -= bytes
    smallest = bytes
  }
  await visitAll((_path, stat, remove) => bytesOf(stat) >= smallest ? remove().catch(() => {}) : undefined)
}

/** Watches the size of folders while a command runs, and ends the command when they hold too much. Resolves to true if they did. */
export async function watchSize (
  child: Pick<GuardedChild, 'exited' | 'kill' | 'end'>,
  folders: readonly FileHandle[],
  clock: Clock,
  mostBytes = MOST_BYTES
): Promise<boolean> {
  const freeBytes = async () => {
    const { bavail, bsize } = await statfs(`/proc/self/fd/${folders[0].fd}`)
    return bavail * bsize
  }
  let free = await freeBytes()
  const first = await measureAll(folders)
  // If the folders hold too much already, the command might still make room.
  const most = { bytes: Math.max(mostBytes, first.bytes), entries: Math.max(MOST_ENTRIES, first.entries) }
  let size = first
  let measuredAt = clock.awake()
  let took = 0
  for (let isOver = false; !isOver;) {
    isOver = await settlesWithin({ clock, ms: LOOK_MS }, child.exited)
    const now = await freeBytes()
    const isDue = !isOver && clock.awake() - measuredAt > Math.max(MEASURE_MS, 10 * took)
    if (free - now < most.bytes - size.bytes && !isDue) continue
    const started = clock.awake()
    size = await measureAll(folders)
    free = await freeBytes()
    measuredAt = clock.awake()
    took = measuredAt - started
    if (size.bytes <= most.bytes && size.entries <= most.entries) continue
    child.kill('SIGKILL')
    await child.end(0)
    return true
  }
  return false
}

async function findWritten (
  home: FileHandle,
  tmp: FileHandle,
  { since, at }: { since: number, at: string }
): Promise<{ paths: string[], more: number }> {
  const found: string[] = []
  for (const [handle, shown] of [[tmp, '/tmp'], [home, at]] as const) {
    await measure(`/proc/self/fd/${handle.fd}/.`, (path, stat) => {
      const isHidden = OF_PROGRAMS.test(path) || (handle === tmp && OF_TOOLS.test(path))
      if (stat.isFile() && Number(stat.ctimeMs) >= since && !isHidden) found.push(`${shown}${path}`)
    })
  }
  return { paths: found.slice(0, MOST_NAMED), more: Math.max(0, found.length - MOST_NAMED) }
}

/** Makes sure that each name in a private folder is a folder and not a link, because something will be mounted there. */
export async function preparePlaces (folder: FileHandle, names: Iterable<string>): Promise<void> {
  for (const name of names) {
    const place = `/proc/self/fd/${folder.fd}/${name}`
    const stat = await lstat(place).catch(() => undefined)
    if (stat !== undefined && !stat.isDirectory()) await unlink(place)
    if (!stat?.isDirectory()) await mkdir(place, { mode: 0o700 })
  }
}
