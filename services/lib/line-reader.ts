import type { Readable } from 'node:stream'

/** A line without its end; of one that was too long only the ends are kept. */
export type Line = { bytes: Buffer } | { head: string, tail: string }

/** More came without an end of line than anybody means. */
export class EndlessLine extends Error {}

const END_BYTES = 256
/** Lines in one turn of the event loop. */
const SLICE = 64
const NEWLINE = 0x0a

/**
 * The lines of a stream, in memory that is bounded by `longest`: longer ones are dropped but for their ends. Throws
 * EndlessLine when one goes on beyond `endless`. Reads no faster than it is asked.
 */
export async function * readLines (stream: Readable, { longest, endless }: { longest: number, endless: number }): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let head = ''
  let tail: Buffer = Buffer.alloc(0)
  let count = 0

  const keep = (piece: Buffer) => {
    if (size + piece.length > longest && size <= longest) {
      const begun = Buffer.concat([...parts, piece.subarray(0, END_BYTES)])
      head = begun.toString('latin1', 0, END_BYTES)
      tail = Buffer.from(begun.subarray(-END_BYTES))
      parts = []
    }
    size += piece.length
    if (size > endless) throw new EndlessLine()
    if (size > longest) tail = Buffer.concat([tail, piece.subarray(-END_BYTES)]).subarray(-END_BYTES)
    else if (piece.length > 0) parts = joined(parts, piece)
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

/** Pieces of one line, small ones joined: a line that comes byte by byte must not cost a buffer a byte. */
function joined (parts: Buffer[], piece: Buffer): Buffer[] {
  parts.push(piece)
  while (parts.length > 1 && parts.at(-2)!.length <= 2 * parts.at(-1)!.length && parts.at(-2)!.length < 1024 * 1024) {
    const [before, last] = parts.splice(-2)
    parts.push(Buffer.concat([before, last]))
  }
  return parts
}
