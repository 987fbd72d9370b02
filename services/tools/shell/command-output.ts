import type { Readable } from 'node:stream'

/** Bytes kept of the head and of the tail of a stream, each. */
const KEPT_BYTES = 32 * 1024

/** Collects a stream in bounded memory. `onBytes` gets the size of every chunk, kept or not. */
export function collectOutput (stream: Readable, onBytes: (count: number) => void) {
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let total = 0

  stream.on('data', (chunk: Buffer) => {
    total += chunk.length
    const start = chunk.subarray(0, KEPT_BYTES - headBytes)
    if (start.length > 0) head.push(start)
    headBytes += start.length
    tail.push(chunk.subarray(start.length))
    tailBytes += chunk.length - start.length
    if (tailBytes > 4 * KEPT_BYTES) {
      // Copied, because a subarray would keep the whole concatenated buffer in memory.
      tail = [Buffer.from(Buffer.concat(tail).subarray(-KEPT_BYTES))]
      tailBytes = KEPT_BYTES
    }
    onBytes(chunk.length)
  })
  // A broken pipe only ends the output.
  stream.on('error', () => {})

  return {
    /** Resolves when the stream has closed. An empty stream may have closed before this function was called. */
    closed: stream.closed ? Promise.resolve() : new Promise<void>((resolve) => stream.once('close', () => resolve())),
    stop: () => {
      stream.destroy()
    },
    truncated: () => total > 2 * KEPT_BYTES,
    /** Returns the text, with a marker where bytes were left out. */
    text (): string {
      const rest = Buffer.concat(tail)
      const left = total - headBytes - KEPT_BYTES
      if (left <= 0) return Buffer.concat([...head, rest]).toString('utf8')
      return `${decodeWhole(Buffer.concat(head))}\n[… ${left} bytes left out …]\n${decodeWhole(rest.subarray(-KEPT_BYTES))}`
    }
  }
}

/** Decodes a slice of UTF-8; incomplete characters at either end are dropped. */
function decodeWhole (bytes: Buffer): string {
  const continues = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && continues(bytes[start])) start++
  // With `stream`, the decoder holds back an incomplete character at the end.
  return new TextDecoder().decode(bytes.subarray(start), { stream: true })
}
