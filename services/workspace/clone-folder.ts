import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  openSync,
  readSync,
  symlinkSync,
  utimesSync,
  writeSync
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeAtomically } from '../lib/file-system.ts'
import { type HeldFolder, openEntry } from './held-folder.ts'
import {
  Beyond,
  type ClonedTree,
  type CloneRequest,
  type CompareCloneRequest,
  type Difference,
  type Row,
  type SettleCloneRequest,
  type States
} from './tree-rpc.ts'
import { differingPaths, isAsItWas, rowAt, walkTree } from './walk-tree.ts'

const { COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants
const CHUNK_BYTES = 1024 * 1024
/** The most left-out paths that are named. */
const MOST_NAMED = 20

/** The states of the paths of a folder and of its clone when both were the same. */
interface Base {
  sources: States
  copies: States
}

const readBase = async (path: string): Promise<Base> => JSON.parse(await readFile(path, 'utf8'))
const writeBase = (path: string, base: Base): Promise<void> => writeAtomically(path, JSON.stringify(base))
/** A clone leaves out what is neither a file nor a folder nor a link. */
const keptRow = (row: Row | undefined): Row | undefined => row?.kind === 'other' ? undefined : row
const statesOf = (rows: Map<string, Row>): States => [...rows].filter(([, row]) => keptRow(row) !== undefined)

/** Returns the paths at which a folder, or its clone, differs from its recorded state; undefined if there are too many paths. */
export async function compareClone ({ folder, clone, base, changed, mostPaths }: CompareCloneRequest): Promise<Difference[] | undefined> {
  const { sources, copies } = await readBase(base)
  const [one, other] = changed === 'folder' ? [folder, clone] : [clone, folder]
  const [rows, others] = (changed === 'folder' ? [sources, copies] : [copies, sources]).map((states) => new Map(states))
  const known = { rows, left: new Set<string>() }
  try {
    const now = walkTree({ folder: one, limits: { paths: mostPaths } }, { known })
    return differingPaths(now, known).flatMap((path): Difference[] => {
      const row = keptRow(now.rows.get(path))
      if (row === undefined && !rows.has(path)) return []
      return [{ path, row, isOtherAsItWas: isAsItWas(others.get(path), rowAt(join(other, path))) }]
    })
  } catch (error) {
    if (error instanceof Beyond) return undefined
    throw error
  }
}

/** Records that paths are the same in a folder and its clone. */
export async function settleClone ({ folder, clone, base, paths, found, isTakenBack }: SettleCloneRequest): Promise<null> {
  const { sources, copies } = await readBase(base)
  const [ofFolder, ofClone, known] = [new Map(sources), new Map(copies), new Map(found)]
  for (const path of paths) {
    const source = found === undefined ? rowAt(join(folder, path)) : known.get(path)
    for (const [states, row] of [[ofFolder, source], [ofClone, isTakenBack ? source : rowAt(join(clone, path))]] as const) {
      if (row === undefined) states.delete(path)
      else states.set(path, row)
    }
  }
  await writeBase(base, { sources: [...ofFolder], copies: [...ofClone] })
  return null
}

/**
 * Copies a folder, with its links, times and permissions, to a folder that does not exist. If the file system can clone files, there is no
 * limit of bytes.
 */
export async function cloneFolder ({ folder: from, clone: to, base, limits }: CloneRequest): Promise<ClonedTree> {
  const missing: string[] = []
  let bytes = 0
  let clones: boolean | undefined

  function copyFile (held: HeldFolder, name: string, target: string): boolean {
    const opened = openEntry(held, name)
    if (opened === undefined) return false
    const { descriptor, stat } = opened
    const size = Number(stat.size)
    try {
      if (clones === undefined && size > 0) clones = cloneFile(descriptor, target)
      else copyOpened(descriptor, target)
      chmodSync(target, Number(stat.mode) & 0o777)
      utimesSync(target, stat.atime, stat.mtime)
      if (clones !== true && (bytes += size) > limits.bytes) throw new Beyond('bytes')
      return true
    } finally {
      closeSync(descriptor)
    }
  }

  try {
    // Checked before anything is copied, because copying takes much longer.
    walkTree({ folder: from, limits })
    mkdirSync(to, { mode: 0o700 })
    const { rows, left } = walkTree({ folder: from, limits }, {
      visit (path, { kind, target: leadsTo }, held) {
        const target = join(to, path)
        if (kind === 'folder') mkdirSync(target, { mode: 0o700 })
        else if (kind === 'link') symlinkSync(leadsTo!, target)
        else if (kind !== 'file' || !copyFile(held, basename(path), target)) missing.push(path)
      }
    })
    for (const path of missing) rows.delete(path)
    const folders = [...rows].filter(([, { kind }]) => kind === 'folder')
    for (const [path, { mode }] of folders.toReversed()) chmodSync(join(to, path), mode | 0o700)
    const closed = folders.flatMap(([path, { isClosed }]) => isClosed ? [path] : [])
    await writeBase(base, { sources: statesOf(rows), copies: statesOf(walkTree({ folder: to, limits: { paths: Infinity } }).rows) })
    return { left: [...left, ...closed, ...missing].slice(0, MOST_NAMED) }
  } catch (error) {
    if (error instanceof Beyond) return { beyond: error.limit }
    throw error
  }
}

/** Copies an open file to a path that does not exist. */
function copyOpened (descriptor: number, target: string): void {
  if (process.platform === 'linux') copyFileSync(`/proc/self/fd/${descriptor}`, target, COPYFILE_FICLONE)
  else copyBytes(descriptor, target)
}

/** Copies an open file like `copyOpened`, as a clone if possible. Returns whether the file system can clone files. */
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
