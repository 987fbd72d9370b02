import { closeSync, constants, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { CHUNK_BYTES, openChunk, sealChunk, TAG_BYTES } from '../../lib/sealed-chunks.ts'
import type { TreeFile } from './tree-rpc.ts'

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants

/** Writes a sealed file, which is created with its first chunk. Contents begin at chunks, and only their last chunk is short. */
export function createSealedFile (store: string, { id, key }: TreeFile) {
  const path = join(store, id)
  const secret = Buffer.from(key, 'base64')
  let descriptor: number | undefined
  let at = 0
  let chunk = 0
  let rest: Buffer[] = []
  let restBytes = 0

  function write (bytes: Buffer) {
    const sealed = sealChunk({ id, key: secret, chunk: chunk++ }, bytes)
    descriptor ??= openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    for (let done = 0; done < sealed.length;) done += writeSync(descriptor, sealed, done)
    at += sealed.length
  }
  const endContent = () => {
    if (restBytes > 0) write(Buffer.concat(rest))
    rest = []
    restBytes = 0
  }

  return {
    position: () => ({ at, chunk }),
    append (bytes: Buffer): void {
      for (let begin = 0; begin < bytes.length;) {
        const part = bytes.subarray(begin, begin + CHUNK_BYTES - restBytes)
        rest.push(part)
        restBytes += part.length
        begin += part.length
        if (restBytes === CHUNK_BYTES) endContent()
      }
    },
    endContent,
    close (): number {
      if (descriptor === undefined) return 0
      fsyncSync(descriptor)
      closeSync(descriptor)
      return at
    },
    discard (): void {
      if (descriptor === undefined) return
      closeSync(descriptor)
      rmSync(path, { force: true })
    }
  }
}

/** Reads a sealed file that holds one content. Throws when it is gone or damaged. */
export function readSealedFile (store: string, { id, key }: TreeFile): Buffer {
  const sealed = readFileSync(join(store, id))
  const secret = Buffer.from(key, 'base64')
  const parts: Buffer[] = []
  for (let at = 0, chunk = 0; at < sealed.length; at += CHUNK_BYTES + TAG_BYTES, chunk++) {
    parts.push(openChunk({ id, key: secret, chunk }, sealed.subarray(at, at + CHUNK_BYTES + TAG_BYTES)))
  }
  return Buffer.concat(parts)
}
