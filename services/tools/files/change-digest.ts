import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, type FileHandle } from 'node:fs/promises'
import { readWhole } from '../../workspace/index.ts'

/** The most bytes of a file whose content is read. Larger files are compared by their size alone. */
const MOST_BYTES = 16 * 1024 * 1024

/** Returns the digest of a file's content, as the record of a change contains it. */
export const contentDigest = (content: string | Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('base64url')}`

/** Reads an open file and its digest; undefined if the file is too large. */
export const readFile = async (file: FileHandle, size: number, signal: AbortSignal) =>
  size > MOST_BYTES ? undefined : readWhole(file, { limit: MOST_BYTES, signal, size })

/** Returns the digest of an open file: `contentDigest` of its content, or its size if it is too large to read. */
export const fileDigest = async (file: FileHandle, size: number, signal: AbortSignal): Promise<string> =>
  (await readFile(file, size, signal))?.digest ?? `size:${size}`

// Windows lacks O_NOFOLLOW.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/**
 * Returns the digest of the entry at a path, as the record of a change contains it; null if nothing is there. A symbolic link is not
 * followed.
 */
export async function digestAt (path: string, signal: AbortSignal): Promise<string | null> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined) return null
  if (!stat.isFile()) return stat.isDirectory() ? 'directory' : 'symlink'
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch(() => undefined)
  if (file === undefined) return 'unread'
  try {
    return await fileDigest(file, stat.size, signal)
  } finally {
    await file.close()
  }
}
