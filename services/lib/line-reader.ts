import type { Readable } from 'node:stream'

/** A line without its newline. If a line exceeds the limit `longest`, only its first 64 KiB and its last 256 bytes are kept. */
export type Line = { bytes: Buffer } | { head: string, tail: string }

/** Thrown if a line exceeds the limit `endless`. */
export class EndlessLine extends Error {}

const HEAD_BYTES = 64 * 1024
const END_BYTES = 256
/** Lines read between two yields to the event loop. */
const SLICE = 64
const NEWLINE = 0x0a

/**
 * Yields the lines of a stream with bounded memory. Lines longer than `longest` bytes are dropped except for their ends.
 * Throws EndlessLine when a line exceeds `endless` bytes. Applies backpressure to the stream.
 */
export async function * readLines (stream: Readable, { longest, endless }: { longest: number, endless: number }): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let head = ''
  let tail: Buffer = Buffer.alloc(0)
  let count = 0

  const keep = (piece: Buffer) => {
    if (size + piece.length > longest && size <= longest) {
      const beginning = Buffer.concat([...parts, piece.subarray(0, HEAD_BYTES)])
      head = beginning.toString('utf8', 0, HEAD_BYTES)
      tail = Buffer.from(beginning.subarray(-END_BYTES))
      parts = []
    }
    size += piece.length
    if (size > endless) throw new EndlessLine()
    if (size > longest) tail = Buffer.concat([tail, piece.subarray(-END_BYTES)]).subarray(-END_BYTES)
    else if (piece.length > 0) parts = appendPiece(parts, piece)
  }

  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let start = 0; ;) {
      const end = chunk.indexOf(NEWLINE, start)
      keep(chunk.subarray(start, end === -1 ? undefined : end))
      if (end === -1) break
      if (size > longest) yield { head, tail: tail.toString('latin1') }
      else if (size > 0) yield { bytes: parts.length === 1 ? parts[0] : Buffer.concat(parts) }
      parts = []
      size = 0
      start = end + 1
      if (++count % SLICE === 0) await new Promise(setImmediate)
    }
  }
}

/** Adds a piece to the parts of a line and merges small ones, so that a line arriving byte by byte does not cost one buffer per byte. */
export function appendPiece (parts: Buffer[], piece: Buffer): Buffer[] {
  parts.push(piece)
  while (parts.length > 1 && parts.at(-2)!.length <= 2 * parts.at(-1)!.length && parts.at(-2)!.length < 1024 * 1024) {
    const [previous, last] = parts.splice(-2)
    parts.push(Buffer.concat([previous, last]))
  }
  return parts
}

/** Names of no coding. Servers of event streams write `none`, so that nothing on the way compresses the stream. */
const NO_CODING = ['', 'identity', 'none']

/** Returns the codings in a header `content-encoding`, in lower case, in the order in which they were applied; [] for a plain body. */
export const codingsIn = (header: string | null | undefined): string[] =>
  (header ?? '').toLowerCase().split(',').map((coding) => coding.trim()).filter((coding) => !NO_CODING.includes(coding))

/** Reads a body up to `limit` bytes. `isCut` says whether there is more, which is not read. */
export async function readAtMost (chunks: AsyncIterable<Buffer>, limit: number): Promise<{ bytes: Buffer, isCut: boolean }> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    parts = appendPiece(parts, chunk)
    size += chunk.length
    if (size > limit) break
  }
  return { bytes: Buffer.concat(parts).subarray(0, limit), isCut: size > limit }
}
