import { constants, existsSync, readFileSync } from 'node:fs'
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PathRefused } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'

/**
 * A folder held open, so that its entries are those of the folder that was checked even when a part of its path is
 * replaced meanwhile.
 */
export interface Folder {
  /** Its real path. */
  path: string
  handle: FileHandle
  /** How an entry is reached; only for calls that do not follow a symlink in the last place. Names that are no UTF-8 are bytes. */
  entry(name: string): string
  entry(name: string | Buffer): string | Buffer
}

/** Linux: names below an open descriptor, what openat(2) is elsewhere and Node has not. Without it paths are used. */
const DESCRIPTORS = '/proc/self/fd'
const HELD = existsSync(DESCRIPTORS)

// Windows has neither flag.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** Opens the folder with the real path `path`, does `work` in it and closes it. Throws PathRefused when the path leads elsewhere by now. */
export async function withFolder<T> (path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  return opened(path, path, async (folder) => {
    if ((HELD ? await readlink(`${DESCRIPTORS}/${folder.handle.fd}`) : await realpath(path)) !== path) {
      throw new PathRefused(`${JSON.stringify(path)} was moved or replaced while it was used.`)
    }
    return work(folder)
  })
}

/** The folder `name` within one that is held; a symlink of that name is refused. However deep: its path is not used. */
export function withSubfolder<T> (folder: Folder, name: string | Buffer, work: (folder: Folder) => Promise<T>): Promise<T> {
  const path = join(folder.path, name.toString())
  return HELD ? opened(path, folder.entry(name), work) : withFolder(path, work)
}

async function opened<T> (path: string, via: string | Buffer, work: (folder: Folder) => Promise<T>): Promise<T> {
  const handle = await open(via, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
  const base = HELD ? `${DESCRIPTORS}/${handle.fd}` : path
  const entry = (name: string | Buffer): any =>
    typeof name === 'string' ? `${base}/${name}` : Buffer.concat([Buffer.from(`${base}/`), name])
  try {
    return await work({ path, handle, entry })
  } finally {
    await handle.close()
  }
}

/** Whether something is mounted between a folder and one that it holds. A bind mount is told from its like by the kernel's id. */
export async function isMounted (folder: Folder, inner: Folder): Promise<boolean> {
  // Read at once: the kernel answers from memory, and this is asked of every folder.
  const mount = async ({ handle }: Folder) =>
    HELD
      ? /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${handle.fd}`, 'latin1'))?.[1]
      : (await handle.stat()).dev
  return await mount(folder) !== await mount(inner)
}

/** The folder that holds the real path, and the name in it. */
export function withParent<T> (real: string, work: (folder: Folder, name: string) => Promise<T>): Promise<T> {
  return withFolder(dirname(real), (folder) => work(folder, basename(real)))
}

/**
 * Opens a regular file for reading. Anything else is refused, before it is opened (opening a device can act, opening a
 * FIFO can hang) and again after; so is a hard link to a file that `paths` knows as the service's own.
 */
export async function withFile<T> (
  folder: Folder,
  name: string,
  paths: Pick<PathPolicy, 'owns'>,
  work: (file: FileHandle, size: number) => Promise<T>
): Promise<T> {
  const seen = await lstat(folder.entry(name || '.'), { bigint: true })
  const refuse = (what: string) => new PathRefused(`${JSON.stringify(join(folder.path, name))} is ${what}, not a regular file.`)
  if (seen.isDirectory()) throw refuse('a folder')
  if (!seen.isFile()) throw refuse('a symbolic link, device or pipe')
  // Before it is opened: closing the store's lock file would let its lock go.
  if (await paths.owns(seen)) {
    throw new PathRefused(`${JSON.stringify(join(folder.path, name))} belongs to the service itself and is off limits.`)
  }
  const file = await open(folder.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
  try {
    const opened = await file.stat({ bigint: true })
    if (!opened.isFile() || opened.ino !== seen.ino || opened.dev !== seen.dev) throw refuse('replaced while it was opened')
    return await work(file, Number(opened.size))
  } finally {
    await file.close()
  }
}
