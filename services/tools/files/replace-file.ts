import { constants, linkSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { access, lstat, mkdir, open, rename, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, parse } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { onceFree } from '../../lib/file-system.ts'
import { newId } from '../../lib/ids.ts'
import { ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { fileDigest } from './change-digest.ts'
import {
  asideName,
  openFile,
  PathRefused,
  temporaryName,
  withFile,
  withFolder,
  withSubfolder,
  type Folder
} from '../../workspace/index.ts'

/** Opens the folder at a real path for `work`. Creates the folder and its parents if they do not exist. */
export async function withCreatedFolder<T> (path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  const exists = await lstat(path).then(() => true, (error) => error.code !== 'ENOENT')
  if (exists || path === dirname(path)) return withFolder(path, work)
  return withCreatedFolder(dirname(path), async (parent) => {
    const name = basename(path)
    await mkdir(parent.entry(name)).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    return withSubfolder(parent, name, work)
  })
}

/** A file to be replaced, as it was when it was examined. `found` is what the `read` function of the caller returned. */
interface OldFile<T> {
  mode: number
  /** Identifies the state of the file: differs after each change. */
  version: string
  found: T
}

/**
 * Examines the file to be replaced, and passes it to `read`; undefined if there is none. Throws for anything but a regular, writable file.
 */
export async function examineFile<T> (
  folder: Folder,
  name: string,
  paths: PathPolicy,
  read: Parameters<typeof withFile<T>>[3]
): Promise<OldFile<T> | undefined> {
  const stat = await lstat(folder.entry(name || '.'), { bigint: true }).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (stat === undefined) return undefined
  if (!stat.isFile()) throw new PathRefused(`${JSON.stringify(name)} is a folder or another thing that is not a regular file.`)
  // rename(2) checks only the permissions of the folder, so a read-only file is refused here.
  await access(folder.entry(name), constants.W_OK)
  const found = await withFile(folder, name, paths, read)
  // setuid and setgid are dropped, because they were granted to the old content.
  return { mode: Number(stat.mode) & 0o777, version: versionOf(stat), found }
}

const versionOf = ({ ino, size, mtimeNs }: { ino: bigint, size: bigint, mtimeNs: bigint }) => `${ino} ${size} ${mtimeNs}`

/** The file to be replaced; undefined if there is none. `version` is absent if the write does not depend on the present content. */
type Replaced = { mode: number, version?: string, digest: string } | undefined

/** A version of a file that another program wrote at the very moment of a write, and that was saved to a new file: its path and digest. */
interface KeptAside {
  path: string
  digest: string
}

/**
 * Replaces the content of a file, or creates the file, in one step: readers find the old or the new content, never a part, even after a
 * crash. `old` is the examined file. Throws ToolFailed if `old` has a version and the file has changed since, or if there was no file and
 * now there is one. A content that another program wrote meanwhile is kept beside the file, and its place is returned.
 */
export async function replaceFile (
  folder: Folder,
  name: string,
  content: Uint8Array,
  old: Replaced,
  { paths, clock, signal }: { paths: PathPolicy, clock: Clock, signal: AbortSignal }
): Promise<KeptAside | undefined> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
  const temporary = folder.entry(temporaryName())
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, old?.mode ?? 0o666)
  let aside: string | undefined
  try {
    try {
      if (old !== undefined) await file.chmod(old.mode)
      await file.writeFile(content, { signal })
      await file.sync()
    } finally {
      await file.close()
    }
    signal.throwIfAborted()
    aside = await onceFree(clock, signal, () => putInPlace(folder, temporary, name, old))
  } catch (error) {
    await rm(temporary, { force: true })
    throw signal.aborted ? signal.reason : error
  }
  // Windows cannot sync a folder.
  await folder.handle.sync().catch(() => {})
  return aside === undefined ? undefined : keepIfChanged(folder, aside, name, { digest: old!.digest, paths, clock })
}

/**
 * Gives the new file its name. An existing file first gets a second name, which is returned. Everything happens in one turn of the event
 * loop, so that other programs have only microseconds to interfere. Throws if the name was free and no longer is.
 */
function putInPlace (folder: Folder, temporary: string, name: string, old: Replaced): string | undefined {
  const target = folder.entry(name)
  if (old === undefined) {
    createAt(temporary, target, name)
    return undefined
  }
  if (old.version !== undefined && versionAt(target) !== old.version) throw changedNow(name)
  const aside = linkAside(folder, name)
  try {
    renameSync(temporary, target)
  } catch (error) {
    if (aside !== undefined) rmSync(folder.entry(aside), { force: true })
    throw error
  }
  return aside
}

/** Error codes of file systems that do not support hard links. */
const LINKLESS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES'])

function createAt (temporary: string, target: string, name: string): void {
  try {
    linkSync(temporary, target)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || (LINKLESS.has(code) && versionAt(target) !== undefined)) throw changedNow(name)
    if (!LINKLESS.has(code)) throw error
    return renameSync(temporary, target)
  }
  rmSync(temporary)
}

function versionAt (path: string): string | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stat && versionOf(stat)
}

/** Gives a file a second name, a hard link, and returns the name; undefined if the file system does not support links. */
export function linkAside (folder: Folder, name: string): string | undefined {
  const aside = asideName()
  try {
    linkSync(folder.entry(name), folder.entry(aside))
    return aside
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw changedNow(name)
    if (!LINKLESS.has(code)) throw error
    return undefined
  }
}

/** How long a replaced file is watched for writes of a program that already had it open, in milliseconds. */
const WATCHED_MS = 1_000
/** The most replaced files that are watched at a time: each holds a file descriptor. */
const MOST_WATCHED = 64
let watched = 0

/**
 * Removes the replaced file. If its content differs from the examined one, keeps it under a new name that people find, and returns its
 * place. The file is also kept if a program that had it open, for example to append to a log, writes to it within WATCHED_MS.
 */
export async function keepIfChanged (
  folder: Folder,
  aside: string,
  name: string,
  { digest, paths, clock }: { digest: string, paths: PathPolicy, clock: Clock }
): Promise<KeptAside | undefined> {
  const { signal } = new AbortController()
  const file = await openFile(folder, aside, paths).catch(() => undefined)
  const opened = await file?.stat({ bigint: true })
  const found = await (file && fileDigest(file, Number(opened!.size), signal).catch(() => digest))
  if (found !== undefined && found !== digest) {
    await file!.close()
    const kept = keptName(name)
    await onceFree(clock, signal, () => rename(folder.entry(aside), folder.entry(kept)))
    return { path: join(folder.path, kept), digest: found }
  }
  await rm(folder.entry(aside), { force: true })
  if (file === undefined || watched >= MOST_WATCHED) await file?.close()
  else void watch(file, versionOf(opened!), { path: folder.path, name, clock })
  return undefined
}

/** Checks the removed file again after WATCHED_MS. If it was written to, copies its content to a new file beside the present one. */
async function watch (file: FileHandle, version: string, { path, name, clock }: { path: string, name: string, clock: Clock }) {
  watched++
  try {
    await clock.sleep(WATCHED_MS)
    const stat = await file.stat({ bigint: true })
    if (versionOf(stat) === version) return
    // The copy gets no more permissions than the file had, because the file might be private.
    const mode = Number(stat.mode) & 0o777
    const content = file.createReadStream({ autoClose: false, start: 0 })
    await withFolder(path, (folder) => writeFile(folder.entry(keptName(name)), content, { flag: 'wx', mode }))
  } catch {
    // The folder is gone or full, and there is no other place for the copy.
  } finally {
    watched--
    await file.close().catch(() => {})
  }
}

const ASIDE_CHARS = 8

function keptName (name: string): string {
  const { name: stem, ext } = parse(name)
  return `${stem}.kept-${newId().slice(-ASIDE_CHARS)}${ext}`
}

/**
 * Returns the fields that tell the model where another program's version of the file was saved (`keptAside`); {} if there was none. That
 * file is the other program's change, not the run's, so an undo does not touch it.
 */
export function tellKept (path: string, kept: KeptAside | undefined) {
  if (kept === undefined) return {}
  return { keptAside: kept.path, note: `Another program wrote to ${path} at the moment of this call. Its version was kept: ${kept.path}.` }
}

export const changedNow = (path: string) =>
  new ToolFailed(`${JSON.stringify(path)} was changed by another program at this moment. Nothing was done: read it again.`)
