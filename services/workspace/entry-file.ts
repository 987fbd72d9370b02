import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { syncFolder } from '../lib/file-system.ts'
import { CHUNK_BYTES, openChunk, sealChunk, TAG_BYTES } from '../lib/sealed-chunks.ts'
import { type Copy, CopiesUnavailable, isDatabase } from './places.ts'

// The file of an entry holds the contents of the files that a call is about to change, sealed (lib/sealed-chunks.ts). Its key is stored
// in the record of the entry, which the store encrypts: a new master key needs a new record, not a new file.

/** A small file is read into a small chunk, with room for its end: large ones are much work for the garbage collector. */
const newChunk = (size = CHUNK_BYTES) => Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(size + 1, 1024)))
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants

/** The copy of a file is not kept any more, or is damaged. */
export class CopyGone extends Error {}

/** A file that was read: its digest, its size in bytes, and its copy, unless it was longer than allowed. */
export interface ReadFile {
  digest: string
  size: number
  copy?: Copy
  /** It begins as a database of SQLite does. */
  isDatabase?: true
}

/** Reads an open file of about `size` bytes, and of at most `limit`; calls `take` with each chunk and returns its digest. */
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
    // A read may return less than the chunk before the end of the file.
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

/** Writes the file of an entry, which it creates for the first byte. Its methods throw CopiesUnavailable. */
export function createEntryWriter (folder: string, id: string) {
  const key = randomBytes(32)
  const path = join(folder, id)
  const chunk = newChunk()
  let file: FileHandle | undefined
  let at = 0
  let chunks = 0

  async function create () {
    if (await mkdir(folder, { recursive: true, mode: 0o700 }) !== undefined) await syncFolder(dirname(folder))
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  }

  async function write (bytes: Buffer) {
    const sealed = sealChunk({ id, key, chunk: chunks++ }, bytes)
    await orUnavailable(async () => {
      file ??= await create()
      await file.writeFile(sealed)
    })
    at += sealed.length
  }

  return {
    /** Copies an open file. Resolves to undefined when it is longer than `limit` bytes; what was written of it stays unused. */
    async copy (source: FileHandle, limit: number, signal: AbortSignal): Promise<ReadFile | undefined> {
      const copy = { at, chunk: chunks }
      const read = await readWhole(source, { limit, signal, chunk }, write)
      return read && { ...read, copy }
    },
    /** The size of the file, bytes. */
    get bytes () {
      return at
    },
    /** Makes the file durable and closes it. Returns its key, or undefined when nothing was copied. Throws CopiesUnavailable. */
    async close (): Promise<string | undefined> {
      if (file === undefined) return undefined
      await orUnavailable(async () => {
        await file!.sync()
        await file!.close()
        await syncFolder(folder)
      })
      return key.toString('base64')
    },
    async discard () {
      await file?.close().catch(() => {})
      await rm(path, { force: true })
    }
  }
}

async function orUnavailable (work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new CopiesUnavailable(describeDiskFailure(error) ?? 'its folder cannot be written')
  }
}

/** Reads a copy of `size` bytes, chunk by chunk; what is empty has none. Throws CopyGone. */
export async function * readCopy (
  { folder, id, key }: { folder: string, id: string, key?: string },
  copy: Copy | undefined,
  size: number
): AsyncGenerator<Buffer> {
  if (size === 0) return
  if (copy === undefined) throw new CopyGone()
  let { chunk } = copy
  const file = key === undefined ? undefined : await open(join(folder, id), O_RDONLY | O_NOFOLLOW).catch(() => undefined)
  if (file === undefined) throw new CopyGone()
  try {
    for (let left = size, position = copy.at; left > 0; chunk++) {
      const length = Math.min(left, CHUNK_BYTES)
      const sealed = Buffer.alloc(length + TAG_BYTES)
      await file.read(sealed, 0, sealed.length, position)
      yield unsealed({ id, key: Buffer.from(key!, 'base64'), chunk }, sealed)
      position += sealed.length
      left -= length
    }
  } finally {
    await file.close()
  }
}

function unsealed (...chunk: Parameters<typeof openChunk>): Buffer {
  try {
    return openChunk(...chunk)
  } catch {
    throw new CopyGone()
  }
}
