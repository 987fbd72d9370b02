import { createCipheriv, createDecipheriv } from 'node:crypto'

// A sealed file holds contents, one after the other, in chunks of ciphertext (AES-256-GCM) and tag. Its key is random and used for this
// file only. The nonce is the number of the chunk.

/** Bytes of a chunk before it is sealed; the last one of a content is shorter. */
export const CHUNK_BYTES = 256 * 1024
export const TAG_BYTES = 16

/** A chunk is damaged, or not of this file. */
class ChunkDamaged extends Error {}

/** Where a chunk belongs: the name and the key of its file, and its number in it. */
interface Place {
  id: string
  key: Buffer
  chunk: number
}

/** Seals a chunk, of any length where its content is one chunk. */
export function sealChunk ({ id, key, chunk }: Place, bytes: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce(chunk), { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(id))
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

/** Returns the bytes of a sealed chunk. Throws ChunkDamaged. */
export function openChunk ({ id, key, chunk }: Place, sealed: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce(chunk), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(id))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch {
    throw new ChunkDamaged()
  }
}

function nonce (chunk: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUIntBE(chunk, 6, 6)
  return bytes
}
