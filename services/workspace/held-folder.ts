import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync
} from 'node:fs'
import { join } from 'node:path'
import { DESCRIPTORS, HAS_DESCRIPTOR_PATHS } from './open-folder.ts'

// The counterpart of open-folder.ts for workers. It works synchronously: for the many small files of a search that is several times faster,
// and the thread has nothing else to do.

/** File systems of the kernel: reading there can hang, disclose data of other processes or operate a device. */
export const KERNEL_FOLDERS = process.platform === 'win32' ? [] : ['/proc', '/sys', '/dev']

/** Returns the identity of a file or folder as text. */
export const identityOf = ({ dev, ino }: { dev: bigint, ino: bigint }): string => `${dev}:${ino}`

/** A folder that is held open, so that its entries are its own even if a part of its path is replaced by a link meanwhile. */
export interface HeldFolder {
  path: string
  descriptor: number
}

// Windows lacks these flags.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** Opens the folder with the real path; undefined if that is no longer a folder, or leads elsewhere. */
export function holdFolder (path: string, via: string = path): HeldFolder | undefined {
  try {
    const descriptor = openSync(via, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
    const now = !HAS_DESCRIPTOR_PATHS ? realpathSync.native(path) : via === path ? readlinkSync(`${DESCRIPTORS}/${descriptor}`) : path
    if (now === path) return { path, descriptor }
    closeSync(descriptor)
  } catch {
    // The folder disappeared or cannot be read.
  }
  return undefined
}

/** Reads a name in a folder, so that the thread blocks here if the file system does not answer. */
export function knock (path: string): null {
  try {
    const folder = opendirSync(path)
    folder.readSync()
    folder.closeSync()
  } catch {
    // An error is an answer, too.
  }
  return null
}

export const holdSubfolder = (folder: HeldFolder, name: string): HeldFolder | undefined =>
  HAS_DESCRIPTOR_PATHS ? holdFolder(join(folder.path, name), entryOf(folder, name)) : holdFolder(join(folder.path, name))

export const release = ({ descriptor }: HeldFolder): void => closeSync(descriptor)

export const identityOfHeld = ({ descriptor }: HeldFolder): string => identityOf(fstatSync(descriptor, { bigint: true }))

/** Returns the path of an entry, for calls that do not follow a symlink in the last place. */
export const entryOf = ({ path, descriptor }: HeldFolder, name: string): string =>
  HAS_DESCRIPTOR_PATHS ? `${DESCRIPTORS}/${descriptor}/${name}` : join(path, name)

/** Opens a regular file of a folder for reading; undefined for anything else. The caller closes it. */
export function openEntry (folder: HeldFolder, name: string): { descriptor: number, stat: BigIntStats } | undefined {
  let descriptor
  try {
    descriptor = openSync(entryOf(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    const stat = fstatSync(descriptor, { bigint: true })
    if (stat.isFile()) return { descriptor, stat }
  } catch {
    // The file disappeared or cannot be read.
  }
  if (descriptor !== undefined) closeSync(descriptor)
  return undefined
}

/** Fills a buffer from an open file. Returns the number of bytes: fewer at the end of the file. */
export function readInto (bytes: Buffer, descriptor: number, position: number): number {
  let filled = 0
  // Before the end of the file, a read can return less than the buffer holds.
  for (let read = -1; read !== 0 && filled < bytes.length; filled += read) {
    read = readSync(descriptor, bytes, filled, bytes.length - filled, position + filled)
  }
  return filled
}

/** Reads a regular file of at most `mostBytes` bytes; undefined for anything else, and for a file that `isExcluded`. */
export function readEntry (
  folder: HeldFolder,
  name: string,
  mostBytes: number,
  isExcluded: (identity: string) => boolean
): Buffer | undefined {
  const opened = openEntry(folder, name)
  if (opened === undefined) return undefined
  const { descriptor, stat } = opened
  try {
    if (stat.size > BigInt(mostBytes) || isExcluded(identityOf(stat))) return undefined
    const bytes = Buffer.allocUnsafe(Number(stat.size))
    return bytes.subarray(0, readInto(bytes, descriptor, 0))
  } catch {
    return undefined
  } finally {
    closeSync(descriptor)
  }
}
