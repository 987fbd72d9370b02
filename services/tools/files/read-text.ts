import type { FileHandle } from 'node:fs/promises'
import type { ToolOutput } from '../../contracts/tool.ts'
import { contentDigest } from './change-digest.ts'
import { createLineCollector, type LineRange, type LineRequest } from './line-range.ts'
import { byteOrderMark, createTextDecoder, detectEncoding, lineEndsOf, unusualForm, type Encoding } from './text-encoding.ts'

/** The largest file, in bytes, that is read whole. Such a file can be edited, and all of its bytes decide the encoding. */
export const WHOLE_BYTES = 10 * 1024 * 1024
/** The most bytes of the content as JSON with line numbers. The whole answer then stays below the limit for model output. */
const ANSWER_BYTES = 48 * 1024
/** The bytes of a larger file that are in memory at a time. The first such piece decides the encoding. */
const CHUNK_BYTES = 256 * 1024
/** The most bytes after the range that are read to count lines. */
const COUNTED_BYTES = 64 * 1024 * 1024
const DIGEST_CHARS = 16
const NEWLINE = 10

/** Returns the digest by which editFile recognises the content that a model has read. The digest is short, because models repeat it. */
export const readDigest = (bytes: Uint8Array): string => contentDigest(bytes).slice('sha256:'.length).slice(0, DIGEST_CHARS)

/** Returns the bytes of an open file; undefined if there are more than WHOLE_BYTES, or more than `size`. */
export async function readWhole (file: FileHandle, size: number, signal: AbortSignal): Promise<Buffer | undefined> {
  if (size > WHOLE_BYTES) return undefined
  // One byte more than `size`: a file that grows meanwhile fills it, and is then read in pieces.
  const bytes = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(bytes, length, Math.min(CHUNK_BYTES, bytes.length - length), length)
    length += bytesRead
    if (bytesRead === 0) return bytes.subarray(0, length)
    if (length === bytes.length) return undefined
  }
}

/**
 * Returns a range of lines: `{content, startLine, endLine, totalLines?, …}`, see createReadFile. Returns undefined for a file that is not
 * text. `whole` is the content of the file, or undefined if the file is too large.
 */
export async function readText (
  file: FileHandle,
  whole: Buffer | undefined,
  request: LineRequest,
  signal: AbortSignal
): Promise<ToolOutput | undefined> {
  const head = whole ?? await firstChunk(file)
  const encoding = detectEncoding(head, { isBeginning: whole === undefined })
  if (encoding === undefined) return undefined
  const { range, totalLines } = await readRange(asUtf8(file, whole, encoding), request, signal)
  const message = messageOf(request, range, totalLines)
  const beginning = createTextDecoder(encoding)(head.subarray(0, CHUNK_BYTES))
  return {
    content: range?.content ?? '',
    ...(range && { startLine: range.startLine, endLine: range.endLine }),
    ...(range && range.startColumn > 1 && { startColumn: range.startColumn }),
    ...(totalLines !== undefined && { totalLines }),
    ...unusualForm({ encoding, lineEnds: lineEndsOf(beginning) }),
    ...(whole && { digest: readDigest(whole) }),
    ...(range?.content.includes('\ufffd') && { lossy: true }),
    ...(range?.nextOffset !== undefined && { truncated: true, nextOffset: range.nextOffset }),
    ...(range?.nextColumn !== undefined && { nextColumn: range.nextColumn }),
    ...(message !== undefined && { message })
  }
}

async function firstChunk (file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, 0)
  return buffer.subarray(0, bytesRead)
}

/** Reads a file in pieces, converted to UTF-8 and without the byte order mark. */
async function * asUtf8 (file: FileHandle, whole: Buffer | undefined, encoding: Encoding): AsyncGenerator<Uint8Array> {
  const decode = encoding.startsWith('utf-8') ? undefined : createTextDecoder(encoding)
  const buffer = Buffer.allocUnsafe(whole === undefined ? CHUNK_BYTES : 0)
  for (let position = byteOrderMark(encoding).length; ;) {
    const piece = whole?.subarray(position, position + CHUNK_BYTES) ??
      buffer.subarray(0, (await file.read(buffer, 0, CHUNK_BYTES, position)).bytesRead)
    if (piece.length === 0) break
    yield decode === undefined ? piece : Buffer.from(decode(piece))
    position += piece.length
  }
  const rest = decode?.()
  if (rest !== undefined && rest !== '') yield Buffer.from(rest)
}

/**
 * Reads pieces up to the end of the range, and up to COUNTED_BYTES more to count the lines. `totalLines` is undefined if the end of the
 * file was not reached.
 */
async function readRange (
  pieces: AsyncIterable<Uint8Array>,
  request: LineRequest,
  signal: AbortSignal
): Promise<{ range?: LineRange, totalLines?: number }> {
  const range = createLineCollector(request, ANSWER_BYTES)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let newlines = 0
  let last = NEWLINE
  let hasBegun = false
  let counted = 0
  for await (const piece of pieces) {
    signal.throwIfAborted()
    const from = hasBegun ? 0 : lineStart(piece, request.offset - 1 - newlines)
    if (from !== -1) hasBegun = true
    if (from !== -1 && !range.isDone) range.feed(decoder.decode(piece.subarray(from), { stream: true }))
    newlines += countNewlines(piece)
    last = piece[piece.length - 1]
    if (range.isFull) counted += piece.length
    if (counted > COUNTED_BYTES) return { range: range.end() }
  }
  if (hasBegun) range.feed(decoder.decode())
  return { range: range.end(), totalLines: newlines + (last === NEWLINE ? 0 : 1) }
}

/**
 * Returns the position after the `count`th newline; -1 if the piece has fewer. Uses a loop, because calling indexOf for each newline is
 * slower if lines are short.
 */
function lineStart (piece: Uint8Array, count: number): number {
  if (count === 0) return 0
  let left = count
  for (let at = 0; at < piece.length; at++) if (piece[at] === NEWLINE && --left === 0) return at + 1
  return -1
}

function countNewlines (piece: Uint8Array): number {
  let count = 0
  for (let at = 0; at < piece.length; at++) if (piece[at] === NEWLINE) count++
  return count
}

/**
 * Returns a sentence for the model about the lines that are not shown, and how to read them; undefined if everything from the requested
 * position on is shown.
 */
function messageOf ({ offset, column }: LineRequest, range: LineRange | undefined, totalLines: number | undefined): string | undefined {
  if (range === undefined) {
    if (offset === 1 && column === 1) return undefined
    return totalLines !== undefined && offset > totalLines
      ? `There is no line ${offset}: the file ends with line ${totalLines}.`
      : `Line ${offset} ends before column ${column}.`
  }
  const { startLine, endLine, startColumn, nextOffset, nextColumn } = range
  if (nextOffset === undefined) return undefined
  const of = totalLines === undefined ? '; the file is so long that its lines were not counted' : ` of ${totalLines}`
  if (nextColumn === undefined) return `These are the lines ${startLine} to ${endLine}${of}. Read on with offset ${nextOffset}.`
  return `These are the characters ${startColumn} to ${nextColumn - 1} of line ${startLine}${of}. ` +
    `Read on with offset ${nextOffset} and column ${nextColumn}.`
}
