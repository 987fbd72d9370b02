import type { Readable } from 'node:stream'

/** What is kept of a stream: its head and its tail, this much each. */
const KEPT_BYTES = 32 * 1024

/** Collects a stream in bounded memory. `onBytes` hears of every chunk, kept or not. */
export function collect (stream: Readable, onBytes: (count: number) => void) {
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
      // A copy, or the chunks it was cut from would be kept with it.
      tail = [Buffer.from(Buffer.concat(tail).subarray(-KEPT_BYTES))]
      tailBytes = KEPT_BYTES
    }
    onBytes(chunk.length)
  })
  // A pipe that breaks ends the output, nothing else.
  stream.on('error', () => {})

  return {
    /** A stream that had nothing to say may have closed before anybody listened. */
    closed: stream.closed ? Promise.resolve() : new Promise<void>((resolve) => stream.once('close', () => resolve())),
    stop: () => {
      stream.destroy()
    },
    truncated: () => total > 2 * KEPT_BYTES,
    /** The text, with a marker where bytes were left out. */
    text (): string {
      const rest = Buffer.concat(tail)
      const left = total - headBytes - KEPT_BYTES
      if (left <= 0) return Buffer.concat([...head, rest]).toString('utf8')
      return `${whole(Buffer.concat(head))}\n[… ${left} bytes left out …]\n${whole(rest.subarray(-KEPT_BYTES))}`
    }
  }
}

/** Decodes bytes cut out of UTF-8: half characters at either end are dropped. */
function whole (bytes: Buffer): string {
  const continues = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && continues(bytes[start])) start++
  // `stream` holds back an unfinished character at the end.
  return new TextDecoder().decode(bytes.subarray(start), { stream: true })
}
