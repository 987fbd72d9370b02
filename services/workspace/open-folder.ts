import { constants, existsSync, readFileSync } from 'node:fs'
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isId, newId, timeOfId } from '../lib/ids.ts'
import { defineError } from '../lib/service-error.ts'

/** Returns a name for an entry that stands aside while its place is being changed. */
export const asideName = (): string => `.${newId()}.old`
/** Returns a name for a file that is written before it gets its own name. */
export const temporaryName = (): string => `.${newId()}.tmp`

/**
 * True if a name was made by a call, an undo or an apply since that time (milliseconds since the Unix epoch): for an entry that stands
 * aside (`old`), or for a file that it writes (`tmp`).
 */
export function isOwnName (name: string, ending: 'old' | 'tmp', since: number): boolean {
  const [, id = '', found] = /^\.(.+)\.(old|tmp)$/.exec(name) ?? []
  return found === ending && isId(id) && timeOfId(id) >= since
}

/** A path must not be used. The message names the allowed folders and discloses nothing about the path. */
export const PathRefused = defineError('ERR_PATH_REFUSED', '%s')

/** Recognises the files of the service itself, which no tool is allowed to touch. */
export interface OwnFiles {
  /** Returns whether a file is a hard link to one of the service's own files. */
  owns(file: { dev: bigint, ino: bigint, nlink: bigint }): Promise<boolean>
}

/** A folder that is held open: its entries are those of the folder that was checked, even if a part of its path is replaced meanwhile. */
export interface Folder {
  /** The real path of the folder. */
  path: string
  handle: FileHandle
  /** Returns the path of an entry, for calls that do not follow a symlink in the last place. A name that is not UTF-8 is a Buffer. */
  entry(name: string): string
  entry(name: string | Buffer): string | Buffer
}

/**
 * On Linux, paths below an open descriptor replace openat(2), which Node lacks. Other systems use plain paths, even if somebody made a
 * folder of this name there.
 */
export const DESCRIPTORS = '/proc/self/fd'
export const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync(DESCRIPTORS)

// Windows lacks O_DIRECTORY and O_NOFOLLOW.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** Opens the folder with the real path `path`, calls `work` and closes it. Throws PathRefused if the path leads elsewhere now. */
export async function withFolder<T> (path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  return withOpened(path, path, async (folder) => {
    if ((HAS_DESCRIPTOR_PATHS ? await readlink(`${DESCRIPTORS}/${folder.handle.fd}`) : await realpath(path)) !== path) {
      throw new PathRefused(`${JSON.stringify(path)} was moved or replaced while it was used.`)
    }
    return work(folder)
  })
}

/**
 * Opens the subfolder `name` of an open folder; refuses a symlink. On Linux it does not use the path, so the length of the path is not
 * limited.
 */
export function withSubfolder<T> (folder: Folder, name: string | Buffer, work: (folder: Folder) => Promise<T>): Promise<T> {
  const path = join(folder.path, name.toString())
  return HAS_DESCRIPTOR_PATHS ? withOpened(path, folder.entry(name), work) : withFolder(path, work)
}

async function withOpened<T> (path: string, via: string | Buffer, work: (folder: Folder) => Promise<T>): Promise<T> {
  const handle = await open(via, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
  const base = HAS_DESCRIPTOR_PATHS ? `${DESCRIPTORS}/${handle.fd}` : path
  const entry = (name: string | Buffer): any =>
    typeof name === 'string' ? `${base}/${name}` : Buffer.concat([Buffer.from(`${base}/`), name])
  try {
    return await work({ path, handle, entry })
  } finally {
    await handle.close()
  }
}

/** Returns whether `inner` is on another mount than its parent. On Linux the kernel's mount id also detects bind mounts. */
export async function isMounted (folder: Folder, inner: Folder): Promise<boolean> {
  // Read synchronously: procfs is in memory, and every folder is checked.
  const mount = async ({ handle }: Folder) =>
    HAS_DESCRIPTOR_PATHS
      ? /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${handle.fd}`, 'latin1'))?.[1]
      : (await handle.stat()).dev
  return await mount(folder) !== await mount(inner)
}

/** Opens the parent folder of the real path and passes it to `work` with the name of the entry. */
export function withParent<T> (real: string, work: (folder: Folder, name: string) => Promise<T>): Promise<T> {
  return withFolder(dirname(real), (folder) => work(folder, basename(real)))
}

/**
 * Opens a regular file for reading. Refuses anything else, before opening (opening a device can have effects, opening a FIFO can hang) and
 * again afterwards. Also refuses a hard link to one of the service's own files.
 */
export async function openFile (folder: Folder, name: string | Buffer, paths: OwnFiles): Promise<FileHandle> {
  const seen = await lstat(folder.entry(name || '.'), { bigint: true })
  const shown = JSON.stringify(join(folder.path, name.toString()))
  const refuse = (what: string) => new PathRefused(`${shown} is ${what}, not a regular file.`)
  if (seen.isDirectory()) throw refuse('a folder')
  if (!seen.isFile()) throw refuse('a symbolic link, device or pipe')
  // Checked before opening: closing a descriptor of the store's lock file would release the lock.
  if (await paths.owns(seen)) {
    throw new PathRefused(`${shown} belongs to the service itself and is off limits.`)
  }
  const file = await open(folder.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
  try {
    const opened = await file.stat({ bigint: true })
    if (!opened.isFile() || opened.ino !== seen.ino || opened.dev !== seen.dev) throw refuse('replaced while it was opened')
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Opens a file like `openFile`, calls `work` with it and its size in bytes, and closes it. */
export async function withFile<T> (
  folder: Folder,
  name: string | Buffer,
  paths: OwnFiles,
  work: (file: FileHandle, size: number) => Promise<T>
): Promise<T> {
  const file = await openFile(folder, name, paths)
  try {
    return await work(file, (await file.stat()).size)
  } finally {
    await file.close()
  }
}
