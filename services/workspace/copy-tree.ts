import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  symlinkSync,
  type Stats,
  utimesSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { entryOf, holdFolder, holdSubfolder, release, type HeldFolder } from './held-folder.ts'
import { Beyond, type CopiedTree, type CopyRequest, type PathState, pathState } from './tree-rpc.ts'

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants
/** Folders are held open down to the current one, so their number is bounded. */
const DEEPEST = 100
const CHUNK_BYTES = 1024 * 1024
/** Left-out paths that are named. */
const MOST_NAMED = 20

/** Calls `visit` with each path below a folder, the outer ones first, and with the folder that holds it. */
function walk (
  folder: string,
  mostPaths: number,
  visit: (path: string, state: PathState, held: HeldFolder, name: string) => void,
  leaveOut: (path: string) => void = () => {}
): void {
  const root = holdFolder(folder)
  if (root === undefined) throw new Error('the folder was moved or replaced while it was used')
  let paths = 0
  try {
    inside(root, '', fstatSync(root.descriptor).dev, 0)
  } finally {
    release(root)
  }

  function inside (held: HeldFolder, prefix: string, dev: number, depth: number): void {
    for (const bytes of readdirSync(entryOf(held, '.'), { encoding: 'buffer' })) {
      const name = bytes.toString()
      const path = prefix + name
      const stat = lstatSync(entryOf(held, name), { throwIfNoEntry: false })
      // A name that is not UTF-8 cannot be stored.
      const isNamed = Buffer.from(name).equals(bytes)
      const state = isNamed && stat !== undefined ? pathState(stat, () => readlinkSync(entryOf(held, name))) : undefined
      if (state === undefined || stat!.dev !== dev || (state.kind === 'folder' && depth === DEEPEST)) {
        leaveOut(path)
        continue
      }
      if (++paths > mostPaths) throw new Beyond('paths')
      if (state.kind !== 'folder') {
        visit(path, state, held, name)
        continue
      }
      const inner = holdSubfolder(held, name)
      if (inner === undefined) {
        leaveOut(path)
        continue
      }
      try {
        visit(path, state, held, name)
        inside(inner, `${path}/`, dev, depth + 1)
      } finally {
        release(inner)
      }
    }
  }
}

/** Returns the state of each path below a folder. */
export function surveyFolder ({ folder, mostPaths }: { folder: string, mostPaths: number }): Array<[path: string, state: PathState]> {
  const found: Array<[string, PathState]> = []
  walk(folder, mostPaths, (path, state) => void found.push([path, state]))
  return found
}

/**
 * Copies a folder, with its links, times and permissions, to a folder that does not exist. Where the file system clones files there is
 * no limit of bytes.
 */
export function copyTree ({ from, to, limits }: CopyRequest): CopiedTree {
  const sources: Array<[string, PathState]> = []
  const folders: Array<[path: string, mode: number]> = []
  const left: string[] = []
  let bytes = 0
  let clones: boolean | undefined
  try {
    // Before anything is copied, because that takes much longer.
    walk(from, limits.paths, () => {})
  } catch (error) {
    if (error instanceof Beyond) return { beyond: error.limit }
    throw error
  }
  mkdirSync(to, { mode: 0o700 })

  function copyFile (held: HeldFolder, name: string, target: string): boolean {
    return withOpened(held, name, (descriptor, stat) => {
      if (clones === undefined && stat.size > 0) clones = copyOpened(descriptor, stat, target, { isProbe: true })
      else copyOpened(descriptor, stat, target)
      if (clones !== true && (bytes += stat.size) > limits.bytes) throw new Beyond('bytes')
    })
  }

  try {
    walk(from, limits.paths, (path, state, held, name) => {
      const target = join(to, path)
      if (state.kind === 'folder') {
        mkdirSync(target, { mode: 0o700 })
        folders.push([target, state.mode])
      } else if (state.kind === 'link') {
        symlinkSync(state.target!, target)
      } else if (!copyFile(held, name, target)) {
        left.push(path)
        return
      }
      sources.push([path, state])
    }, (path) => void left.push(path))
  } catch (error) {
    if (error instanceof Beyond) return { beyond: error.limit }
    throw error
  }
  for (const [path, mode] of folders.toReversed()) chmodSync(path, mode | 0o700)
  return { sources, copies: surveyFolder({ folder: to, mostPaths: Infinity }), left: left.slice(0, MOST_NAMED), isCloned: clones === true }
}

/** Calls `work` with a file of a folder, opened. Returns false for what is no file, or cannot be read. */
export function withOpened (held: HeldFolder, name: string, work: (descriptor: number, stat: Stats) => unknown): boolean {
  let descriptor
  try {
    descriptor = openSync(entryOf(held, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return false
  }
  try {
    const stat = fstatSync(descriptor)
    if (stat.isFile()) work(descriptor, stat)
    return stat.isFile()
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Copies an open file, with its times and permissions, to a path where nothing is. Returns whether it is a clone; without `isProbe` that is
 * not found out.
 */
export function copyOpened (descriptor: number, stat: Stats, target: string, { isProbe = false } = {}): boolean {
  let isClone = false
  if (isProbe) isClone = cloneFile(descriptor, target)
  else if (process.platform === 'linux') copyFileSync(`/proc/self/fd/${descriptor}`, target, COPYFILE_EXCL | COPYFILE_FICLONE)
  else copyBytes(descriptor, target)
  chmodSync(target, stat.mode & 0o777)
  utimesSync(target, stat.atime, stat.mtime)
  return isClone
}

/** Copies a file, and returns whether the file system clones files. */
function cloneFile (descriptor: number, target: string): boolean {
  if (process.platform !== 'linux') {
    copyBytes(descriptor, target)
    return false
  }
  const source = `/proc/self/fd/${descriptor}`
  try {
    copyFileSync(source, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE)
    return true
  } catch {
    copyFileSync(source, target)
    return false
  }
}

function copyBytes (from: number, path: string): void {
  const to = openSync(path, 'wx', 0o600)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let read = -1; read !== 0;) {
      read = readSync(from, chunk, 0, chunk.length, null)
      for (let at = 0; at < read;) at += writeSync(to, chunk, at, read - at)
    }
  } finally {
    closeSync(to)
  }
}
