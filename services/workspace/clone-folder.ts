import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  symlinkSync,
  utimesSync,
  writeSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { entryOf } from './held-folder.ts'
import { Beyond, type CopiedTree, type CopyRequest, type Row, type States } from './tree-rpc.ts'
import { walkTree } from './walk-tree.ts'

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants
const CHUNK_BYTES = 1024 * 1024
/** Left-out paths that are named. */
const MOST_NAMED = 20

/** Returns what is at each path below a folder; undefined where there are too many. */
export function listFolder ({ folder, mostPaths }: { folder: string, mostPaths: number }): States | undefined {
  try {
    return statesOf(walkTree({ folder, limits: { paths: mostPaths } }).rows)
  } catch (error) {
    if (error instanceof Beyond) return undefined
    throw error
  }
}

const statesOf = (rows: Map<string, Row>): States => [...rows].filter(([, { kind }]) => kind !== 'other')

/**
 * Copies a folder, with its links, times and permissions, to a folder that does not exist. Where the file system clones files there is
 * no limit of bytes.
 */
export function cloneFolder ({ from, to, limits }: CopyRequest): CopiedTree {
  const missing: string[] = []
  let bytes = 0
  let clones: boolean | undefined

  function copyFile (source: string, target: string): boolean {
    let descriptor
    try {
      descriptor = openSync(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      return false
    }
    try {
      const stat = fstatSync(descriptor)
      if (!stat.isFile()) return false
      if (clones === undefined && stat.size > 0) clones = cloneFile(descriptor, target)
      else copyOpened(descriptor, target)
      chmodSync(target, stat.mode & 0o777)
      utimesSync(target, stat.atime, stat.mtime)
      if (clones !== true && (bytes += stat.size) > limits.bytes) throw new Beyond('bytes')
      return true
    } finally {
      closeSync(descriptor)
    }
  }

  try {
    // Before anything is copied, because that takes much longer.
    walkTree({ folder: from, limits })
    mkdirSync(to, { mode: 0o700 })
    const { rows, left } = walkTree({ folder: from, limits }, {
      visit (path, { kind, target: leadsTo }, held) {
        const target = join(to, path)
        if (kind === 'folder') mkdirSync(target, { mode: 0o700 })
        else if (kind === 'link') symlinkSync(leadsTo!, target)
        else if (kind !== 'file' || !copyFile(entryOf(held, basename(path)), target)) missing.push(path)
      }
    })
    for (const path of missing) rows.delete(path)
    const folders = [...rows].filter(([, { kind }]) => kind === 'folder')
    for (const [path, { mode }] of folders.toReversed()) chmodSync(join(to, path), mode | 0o700)
    const closed = folders.flatMap(([path, { isClosed }]) => isClosed ? [path] : [])
    return {
      sources: statesOf(rows),
      copies: statesOf(walkTree({ folder: to, limits: { paths: Infinity } }).rows),
      left: [...left, ...closed, ...missing].slice(0, MOST_NAMED)
    }
  } catch (error) {
    if (error instanceof Beyond) return { beyond: error.limit }
    throw error
  }
}

/** Copies an open file to a path where nothing is. */
function copyOpened (descriptor: number, target: string): void {
  if (process.platform === 'linux') copyFileSync(`/proc/self/fd/${descriptor}`, target, COPYFILE_FICLONE)
  else copyBytes(descriptor, target)
}

/** The same; returns whether the file system clones files. */
function cloneFile (descriptor: number, target: string): boolean {
  try {
    if (process.platform !== 'linux') throw new Error('no path of a descriptor')
    copyFileSync(`/proc/self/fd/${descriptor}`, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE)
    return true
  } catch {
    copyOpened(descriptor, target)
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
