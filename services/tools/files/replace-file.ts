import { constants } from 'node:fs'
import { access, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { newId } from '../../lib/ids.ts'
import { PathRefused, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFile, withFolder, withSubfolder, type Folder } from './open-folder.ts'

/** Opens the folder with the real path; creates it and its parents when they do not exist. */
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

/** The file that a write replaces, as it was when it was examined. */
export interface OldFile<T> {
  mode: number
  /** Differs after each change of the file. */
  version: string
  found: T
}

/** Examines the file to replace with `read`; undefined when there is none. Refuses a non-file and a read-only file. */
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
  // rename(2) checks only the folder's permissions, so a read-only file is refused here.
  await access(folder.entry(name), constants.W_OK)
  const found = await withFile(folder, name, paths, read)
  // Without setuid and setgid: these rights were granted to the old content.
  return { mode: Number(stat.mode) & 0o777, version: versionOf(stat), found }
}

const versionOf = ({ ino, size, mtimeNs }: { ino: bigint, size: bigint, mtimeNs: bigint }) => `${ino} ${size} ${mtimeNs}`

/**
 * Replaces the content of a file, or creates the file, in one step: readers, and a crash, find the old content or the new, never a part.
 * `old` is the examined file; with its version, throws ToolFailed when the file has changed since.
 */
export async function replaceFile (
  folder: Folder,
  name: string,
  content: Uint8Array,
  old: { mode: number, version?: string } | undefined,
  signal: AbortSignal
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
  const temporary = folder.entry(`.${newId()}.tmp`)
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, old?.mode ?? 0o666)
  try {
    try {
      if (old !== undefined) await file.chmod(old.mode)
      await file.writeFile(content, { signal })
      await file.sync()
    } finally {
      await file.close()
    }
    signal.throwIfAborted()
    if (old?.version !== undefined) await assertUnchanged(folder, name, old.version)
    await rename(temporary, folder.entry(name))
  } catch (error) {
    await rm(temporary, { force: true })
    throw signal.aborted ? signal.reason : error
  }
  // Windows cannot sync a folder.
  await folder.handle.sync().catch(() => {})
}

async function assertUnchanged (folder: Folder, name: string, version: string): Promise<void> {
  const now = await lstat(folder.entry(name), { bigint: true }).catch(() => undefined)
  if (now !== undefined && versionOf(now) === version) return
  throw new ToolFailed(`${JSON.stringify(name)} was changed by another program at this moment. Nothing was written: read it again.`)
}
