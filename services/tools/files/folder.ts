import { constants, existsSync } from 'node:fs'
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PathRefused } from '../errors.ts'

/**
 * A folder held open, so that its entries are those of the folder that was checked even when a part of its path is
 * replaced meanwhile.
 */
export interface Folder {
  /** Its real path. */
  path: string
  handle: FileHandle
  /** How an entry is reached; only for calls that do not follow a symlink in the last place. */
  entry (name: string): string
}

/** Linux: names below an open descriptor, what openat(2) is elsewhere and Node has not. Without it paths are used. */
const DESCRIPTORS = '/proc/self/fd'
const HELD = existsSync(DESCRIPTORS)

// Windows has neither flag.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/**
 * Opens the folder with the real path `path`, does `work` in it and closes it. `via` is how to reach it when its parent
 * is held already. Throws PathRefused when the path leads elsewhere by now.
 */
export async function withFolder<T> (path: string, work: (folder: Folder) => Promise<T>, via: string = path): Promise<T> {
  const handle = await open(via, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const held = `${DESCRIPTORS}/${handle.fd}`
    if ((HELD ? await readlink(held) : await realpath(path)) !== path) {
      throw new PathRefused(`${JSON.stringify(path)} was moved or replaced while it was used.`)
    }
    return await work({ path, handle, entry: (name) => HELD ? `${held}/${name}` : join(path, name) })
  } finally {
    await handle.close()
  }
}

/** The folder `name` within one that is held; a symlink of that name is refused. */
export function withSubfolder<T> (folder: Folder, name: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  return withFolder(join(folder.path, name), work, folder.entry(name))
}

/** The folder that holds the real path, and the name in it. */
export function withParent<T> (real: string, work: (folder: Folder, name: string) => Promise<T>): Promise<T> {
  return withFolder(dirname(real), (folder) => work(folder, basename(real)))
}

/**
 * Opens a regular file for reading. Anything else is refused, before it is opened (opening a device can act, opening a
 * FIFO can hang) and again after.
 */
export async function withFile<T> (folder: Folder, name: string, work: (file: FileHandle, size: number) => Promise<T>): Promise<T> {
  const seen = await lstat(folder.entry(name || '.'))
  const refuse = (what: string) => new PathRefused(`${JSON.stringify(join(folder.path, name))} is ${what}, not a regular file.`)
  if (seen.isDirectory()) throw refuse('a folder')
  if (!seen.isFile()) throw refuse('a symbolic link, device or pipe')
  const file = await open(folder.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
  try {
    const opened = await file.stat()
    if (!opened.isFile() || opened.ino !== seen.ino || opened.dev !== seen.dev) throw refuse('replaced while it was opened')
    return await work(file, opened.size)
  } finally {
    await file.close()
  }
}
