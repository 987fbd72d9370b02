import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeDiskFailure } from './disk-failure.ts'
import { syncFolder } from './file-system.ts'
import { newId } from './ids.ts'

// A sealed file holds contents one after the other, each in chunks of ciphertext (AES-256-GCM) and tag. Its key is random, used for this
// file only, and stored in a record, which the store encrypts: a new master key needs new records, not new files. The nonce is the number
// of the chunk.

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
/** Plain bytes of a chunk. The last chunk of a content is shorter. */
export const CHUNK_BYTES = 256 * 1024
const TAG_BYTES = 16
/** The number of sealed bytes that are written at once. */
const WRITTEN_BYTES = 4 * CHUNK_BYTES

/** The name of a sealed file, and its key as base64. */
export interface SealedFile {
  id: string
  key: string
}

/** Where a content begins in a sealed file: position in bytes, and number of its first chunk. */
interface Position {
  at: number
  chunk: number
}

export const newSealedFile = (id = newId()): SealedFile => ({ id, key: randomBytes(32).toString('base64') })

/** Thrown if a content is no longer kept, is damaged, or belongs to another file. */
export class CopyGone extends Error {}

/** Thrown if a sealed file cannot be written. The message says why, without paths. */
export class FileUnwritten extends Error {
  constructor (cause: unknown) {
    super(describeDiskFailure(cause) ?? 'its folder cannot be written', { cause })
  }
}

/** Writes a sealed file, which is created when its first byte is written. Its methods throw FileUnwritten. */
export function createSealedWriter (folder: string, { id, key }: SealedFile) {
  const path = join(folder, id)
  const secret = Buffer.from(key, 'base64')
  /** Where the next chunk begins. */
  const next = { at: 0, chunk: 0 }
  /** The part of a content that is not sealed yet, and the sealed bytes that are not written yet. */
  let rest: Uint8Array[] = []
  let restBytes = 0
  let sealed: Buffer[] = []
  let written = 0
  let file: FileHandle | undefined

  /** Ends a chunk, because each content begins with a new chunk. */
  function endContent (): void {
    if (restBytes === 0) return
    const bytes = sealChunk(id, secret, next.chunk++, rest.length === 1 ? rest[0] : Buffer.concat(rest))
    next.at += bytes.length
    sealed.push(bytes)
    rest = []
    restBytes = 0
  }

  /** Adds bytes to a content. */
  function append (bytes: Uint8Array): void {
    for (let begin = 0; begin < bytes.length;) {
      const part = bytes.subarray(begin, begin + CHUNK_BYTES - restBytes)
      rest.push(part)
      restBytes += part.length
      begin += part.length
      if (restBytes === CHUNK_BYTES) endContent()
    }
  }

  /** Writes the sealed bytes if there are at least `least` of them. */
  async function flush (least = WRITTEN_BYTES): Promise<void> {
    if (next.at - written < least || next.at === written) return
    const bytes = sealed.length === 1 ? sealed[0] : Buffer.concat(sealed)
    sealed = []
    written += bytes.length
    await orUnwritten(async () => {
      file ??= await createFile(folder, path)
      await file.writeFile(bytes)
    })
  }

  /** Returns where the next content begins, after everything that is sealed. */
  const position = (): Position => ({ ...next })

  return {
    position,
    append,
    endContent,
    flush,

    /** The size of the file, bytes. */
    get bytes () {
      return next.at
    },

    /** Makes the file durable with its name, and closes it. Returns its size in bytes: 0 if nothing was written. */
    async close (): Promise<number> {
      endContent()
      await flush(0)
      if (file === undefined) return 0
      await orUnwritten(() => closeDurably(file!, folder))
      return written
    },

    async discard () {
      await file?.close().catch(() => {})
      await rm(path, { force: true })
    }
  }
}

async function createFile (folder: string, path: string): Promise<FileHandle> {
  if (await mkdir(folder, { recursive: true, mode: 0o700 }) !== undefined) await syncFolder(dirname(folder))
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
}

async function closeDurably (file: FileHandle, folder: string): Promise<void> {
  await file.sync()
  await file.close()
  await syncFolder(folder)
}

async function orUnwritten (work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new FileUnwritten(error)
  }
}

function sealChunk (id: string, key: Buffer, chunk: number, bytes: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(chunk), { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(id))
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

function openChunk (id: string, key: Buffer, chunk: number, sealed: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce(chunk), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(id))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch {
    throw new CopyGone()
  }
}

function nonce (chunk: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUIntBE(chunk, 6, 6)
  return bytes
}

/** Reads a content of `size` bytes, chunk by chunk. An empty content is in no file. Throws CopyGone. */
export async function * readSealedContent (
  folder: string,
  { id, key }: Partial<SealedFile>,
  position: Position | undefined,
  size: number
): AsyncGenerator<Buffer> {
  if (size === 0) return
  if (position === undefined || id === undefined || key === undefined) throw new CopyGone()
  const secret = Buffer.from(key, 'base64')
  let { at, chunk } = position
  const file = await open(join(folder, id), O_RDONLY | O_NOFOLLOW).catch(() => undefined)
  if (file === undefined) throw new CopyGone()
  try {
    for (let left = size; left > 0; left -= CHUNK_BYTES, chunk++) {
      const sealed = Buffer.alloc(Math.min(left, CHUNK_BYTES) + TAG_BYTES)
      await file.read(sealed, 0, sealed.length, at)
      yield openChunk(id, secret, chunk, sealed)
      at += sealed.length
    }
  } finally {
    await file.close()
  }
}

/** Writes a sealed file with one content, durably. Returns its size in bytes. */
export async function writeSealed (folder: string, file: SealedFile, content: Uint8Array): Promise<number> {
  const writer = createSealedWriter(folder, file)
  try {
    writer.append(content)
    return await writer.close()
  } catch (error) {
    await writer.discard()
    throw error
  }
}

/**
 * Reads a sealed file with one content of `bytes` bytes; by default, of as many as the file holds. Throws if the file was removed or is
 * damaged. Whole chunks that are missing at its end are noticed only with `bytes`.
 */
export async function readSealed (folder: string, file: SealedFile, bytes?: number): Promise<Buffer> {
  const { size } = await stat(join(folder, file.id))
  const length = bytes ?? size - Math.ceil(size / (CHUNK_BYTES + TAG_BYTES)) * TAG_BYTES
  const chunks: Buffer[] = []
  for await (const chunk of readSealedContent(folder, file, { at: 0, chunk: 0 }, length)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
