import type { FileHandle } from 'node:fs/promises'
import { Type, type Static } from '@sinclair/typebox'
import type { Tool, ToolOutput } from '../tool.ts'
import { withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFile, withParent } from './open-folder.ts'
import { createLineCollector, numbered, NUMBER_MARK, type LineRange, type LineRequest } from './line-range.ts'

const Input = Type.Object({
  path: Type.String({ minLength: 1, description: 'File to read: absolute, or relative to the working directory.' }),
  offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First line to read; lines are counted from 1. Default 1.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'How many lines to read. Default: as many as one answer holds.' })),
  column: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'First character of that line to read, from 1: the nextColumn of an answer that ended inside a line. Default 1.'
    })
  )
}, { additionalProperties: false })

/** Bytes of the content as JSON with line numbers. The whole answer then stays below the limit for model output. */
const ANSWER_BYTES = 48 * 1024
/** Bytes of the file in memory at a time. */
const CHUNK_BYTES = 256 * 1024
/** Bytes after the range whose lines are still counted. */
const COUNTED_BYTES = 64 * 1024 * 1024
/** A NUL within this many bytes marks a binary file, as in git and grep. */
const SNIFFED_BYTES = 8000
const NEWLINE = 10

/**
 * `{path, content, startLine, endLine, totalLines?, size}`: `content` is the text of these lines, unchanged. When more text follows,
 * `truncated`, `nextOffset` and possibly `nextColumn` are set, with a `message` that says how to read on. `startColumn` is set when
 * the content begins inside a line, `lossy` when bytes were not UTF-8. Models get each line with its number. Throws ToolFailed for a
 * binary file.
 */
export function createReadFile ({ paths }: { paths: PathPolicy }): Tool<Static<typeof Input>> {
  return {
    name: 'readFile',
    description: `Read a text file. Each line is shown with its number and "${NUMBER_MARK}" before it; these are not part of the file. ` +
      'A long file is answered in parts: read on with offset set to the nextOffset of the answer, and column to its nextColumn if it ' +
      'has one.',
    inputSchema: Input,
    effect: 'read',
    target: ({ path }) => path,
    forModel: withNumbers,
    execute: ({ path, offset = 1, limit = Infinity, column = 1 }, { cwd, signal }) =>
      withPathErrors(path, async () => {
        const real = await paths.resolve(path, cwd)
        return withParent(real, (folder, name) =>
          withFile(folder, name, paths, async (file, size) => {
            const refuse = () =>
              new ToolFailed(`${JSON.stringify(path)} is a binary file of ${size} bytes, not text. readFile reads text only.`)
            const request = { offset, column, limit }
            const { range, totalLines } = await readRange(file, request, refuse, signal)
            const message = messageOf(request, range, totalLines)
            return {
              path: real,
              content: range?.content ?? '',
              ...(range && { startLine: range.startLine, endLine: range.endLine }),
              ...(range && range.startColumn > 1 && { startColumn: range.startColumn }),
              ...(totalLines !== undefined && { totalLines }),
              size,
              ...(range?.content.includes('\ufffd') && { lossy: true }),
              ...(range?.nextOffset !== undefined && { truncated: true, nextOffset: range.nextOffset }),
              ...(range?.nextColumn !== undefined && { nextColumn: range.nextColumn }),
              ...(message !== undefined && { message })
            }
          }))
      })
  }
}

function withNumbers (output: ToolOutput): ToolOutput {
  const { content, startLine } = output
  if (typeof content !== 'string' || !Number.isSafeInteger(startLine)) return output
  return { ...output, content: numbered(content, startLine as number) }
}

/**
 * Reads the file from its beginning in chunks to the end of the range, and up to COUNTED_BYTES further to count the lines.
 * `totalLines` is undefined when the end of the file was not reached.
 */
async function readRange (
  file: FileHandle,
  request: LineRequest,
  refuse: () => Error,
  signal: AbortSignal
): Promise<{ range?: LineRange, totalLines?: number }> {
  const range = createLineCollector(request, ANSWER_BYTES)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let newlines = 0
  let last = NEWLINE
  let hasBegun = false
  let fullAt = Infinity
  for (let position = 0; position - fullAt < COUNTED_BYTES;) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) {
      if (hasBegun) range.feed(decoder.decode())
      return { range: range.end(), totalLines: newlines + (last === NEWLINE ? 0 : 1) }
    }
    const chunk = buffer.subarray(0, bytesRead)
    if (position === 0 && chunk.subarray(0, SNIFFED_BYTES).includes(0)) throw refuse()
    const from = hasBegun ? 0 : lineStart(chunk, request.offset - 1 - newlines)
    if (from !== -1) hasBegun = true
    if (from !== -1 && !range.isDone) {
      range.feed(decoder.decode(chunk.subarray(from), { stream: true }))
    }
    newlines += countNewlines(chunk)
    last = chunk[bytesRead - 1]
    position += bytesRead
    if (range.isFull) fullAt = Math.min(fullAt, position)
  }
  return { range: range.end() }
}

/**
 * Returns the position after the `count`th newline; -1 when the chunk has fewer. A loop, because indexOf for each newline is slower for
 * short lines.
 */
function lineStart (chunk: Uint8Array, count: number): number {
  if (count === 0) return 0
  let left = count
  for (let at = 0; at < chunk.length; at++) if (chunk[at] === NEWLINE && --left === 0) return at + 1
  return -1
}

function countNewlines (chunk: Uint8Array): number {
  let count = 0
  for (let at = 0; at < chunk.length; at++) if (chunk[at] === NEWLINE) count++
  return count
}

/** Returns a text for the model: what is not shown and how to read it; undefined when everything from the requested place on is shown. */
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
