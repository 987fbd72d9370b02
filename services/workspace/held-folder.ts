import { closeSync, constants, existsSync, fstatSync, opendirSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

// The worker's counterpart of files/open-folder.ts. It works synchronously: for the many small files of a search that is several
// times faster, and the thread has nothing else to do.

/** File systems of the kernel: reading there can hang, disclose data of other processes or operate a device. */
export const KERNEL_FOLDERS = process.platform === 'win32' ? [] : ['/proc', '/sys', '/dev']

/** Returns the identity of a file or folder as text. */
export const identityOf = ({ dev, ino }: { dev: bigint, ino: bigint }): string => `${dev}:${ino}`

/** A folder held open, so that its entries are its own even when a part of its path is replaced by a link meanwhile. */
export interface HeldFolder {
  path: string
  descriptor: number
}

// Windows lacks these flags.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants
const DESCRIPTORS = '/proc/self/fd'
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux' && existsSync(DESCRIPTORS)

/** Opens the folder with the real path; undefined when that is no folder now, or leads elsewhere. */
export function holdFolder (path: string, via: string = path): HeldFolder | undefined {
  try {
    const descriptor = openSync(via, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
    const now = !HAS_DESCRIPTOR_PATHS ? realpathSync.native(path) : via === path ? readlinkSync(`${DESCRIPTORS}/${descriptor}`) : path
    if (now === path) return { path, descriptor }
    closeSync(descriptor)
  } catch {
    // It disappeared or may not be read.
  }
  return undefined
}

/** Reads a name of a folder, so that one whose file system does not answer blocks the thread. */
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

/** Returns the path of an entry; a link in its last place must not be followed. */
export const entryOf = ({ path, descriptor }: HeldFolder, name: string): string =>
  HAS_DESCRIPTOR_PATHS ? `${DESCRIPTORS}/${descriptor}/${name}` : join(path, name)

/**
 * Reads a regular file of at most `mostBytes` bytes; undefined for anything else, and for a file that `isExcluded`.
 */
export function readEntry (
  folder: HeldFolder,
  name: string,
  mostBytes: number,
  isExcluded: (identity: string) => boolean
): Buffer | undefined {
  let descriptor
  try {
    descriptor = openSync(entryOf(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    const stat = fstatSync(descriptor, { bigint: true })
    if (!stat.isFile() || stat.size > BigInt(mostBytes) || isExcluded(identityOf(stat))) return undefined
    const bytes = Buffer.allocUnsafe(Number(stat.size))
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, length)
    }
    return bytes.subarray(0, length)
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
