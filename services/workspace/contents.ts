import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { CHUNK_BYTES, CopyGone, readSealedContent } from '../lib/sealed-file.ts'
import { type OwnFiles, withFile, withParent } from './open-folder.ts'
import { type Copy, type FilePlace, isDatabase, type NotKept, type Place } from './places.ts'

/** The most bytes of a text that is compared with another one. */
const COMPARED_BYTES = 1024 * 1024

/**
 * Returns the buffer for the chunks of a file of about `size` bytes. A small file gets a small buffer, one byte larger so that its end is
 * noticed: large buffers are much work for the garbage collector.
 */
const newChunk = (size = CHUNK_BYTES) => Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(size + 1, 1024)))

/** A file that was read: its digest, its size in bytes, and its copy, unless it was longer than allowed. */
export interface ReadFile {
  digest: string
  size: number
  copy?: Copy
  /** True if the file begins like a database of SQLite. */
  isDatabase?: true
}

/**
 * Reads an open file of about `size` bytes, and calls `take` with each chunk. Returns undefined if the file has more than `limit` bytes.
 */
export async function readWhole (
  file: FileHandle,
  { limit, signal, size: expected, chunk = newChunk(expected) }: { limit: number, signal?: AbortSignal, size?: number, chunk?: Buffer },
  take?: (chunk: Buffer) => Promise<void>
): Promise<ReadFile | undefined> {
  const hash = createHash('sha256')
  let size = 0
  let hasHead = false
  for (;;) {
    signal?.throwIfAborted()
    let filled = 0
    // Before the end of the file, a read can return less than the chunk.
    for (let bytesRead = -1; bytesRead !== 0 && filled < chunk.length; filled += bytesRead) {
      ;({ bytesRead } = await file.read(chunk, filled, chunk.length - filled, size + filled))
    }
    size += filled
    if (size > limit) return undefined
    if (filled === 0) break
    const bytes = chunk.subarray(0, filled)
    if (size === filled) hasHead = isDatabase(bytes)
    hash.update(bytes)
    await take?.(bytes)
    if (filled < chunk.length) break
  }
  return { digest: `sha256:${hash.digest('base64url')}`, size, ...hasHead && { isDatabase: true } }
}

/** Where the content of a file is: in a copy, or at the real path `from`. */
export interface Source {
  copy?: Copy
  /** The key of the file of copies. */
  key?: string
  notKept?: NotKept
  from?: string
}

/**
 * Calls `take` with each chunk of a content. Throws CopyGone if the content is not kept any more, or if the file has another content now.
 */
export async function readSource (
  { copy, key, from }: Source = {},
  { digest, size }: FilePlace,
  { folder, paths }: { folder: string, paths: OwnFiles },
  take: (bytes: Buffer) => Promise<void>
): Promise<void> {
  if (from === undefined) {
    for await (const bytes of readSealedContent(folder, { id: copy?.file, key }, copy, size)) await take(bytes)
    return
  }
  const read = await withParent(from, (parent, name) =>
    withFile(parent, name, paths, (file, size) => readWhole(file, { limit: Infinity, size }, take)))
  if (read?.digest !== digest) throw new CopyGone()
}

/** Returns the text of a file; null if nothing is there, undefined if it is not text, too long, or not there any more. */
export async function readText (
  place: Place | undefined,
  source: Source | undefined,
  parts: Parameters<typeof readSource>[2]
): Promise<string | null | undefined> {
  if (place === null) return null
  if (place?.kind !== 'file' || place.size > COMPARED_BYTES) return undefined
  const chunks: Buffer[] = []
  try {
    await readSource(source, place, parts, async (bytes) => void chunks.push(Buffer.from(bytes)))
  } catch {
    return undefined
  }
  const bytes = Buffer.concat(chunks)
  return bytes.includes(0) ? undefined : bytes.toString('utf8')
}
