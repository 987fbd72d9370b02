import type { FileHandle } from 'node:fs/promises'
import { Type, type Static } from '@sinclair/typebox'
import type { Tool } from '../contract.ts'
import { about } from '../errors.ts'
import type { PathPolicy } from '../paths.ts'
import { withFile, withParent } from './folder.ts'

const Input = Type.Object({
  path: Type.String({ minLength: 1, description: 'File to read: absolute, or relative to the working directory.' }),
  offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First line to read; lines are counted from 1. Default 1.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'How many lines to read. Default: to the end of the file.' }))
}, { additionalProperties: false })

const MIB = 1024 * 1024
/** Bytes of a file that are looked at. */
const READ_BYTES = 10 * MIB
/** Bytes of it in one answer: an answer is stored and sent to every reader. */
const ANSWER_BYTES = MIB / 2
/** A NUL this early means a binary file (what git and grep go by). */
const SNIFFED_BYTES = 8000
const NEWLINE = 10

/**
 * `{path, content, totalLines, size}`, with `truncated` and `nextOffset` when there is more than the content shows,
 * `lossy` when bytes were no UTF-8. A binary file: `{path, binary: true, size, content: ''}`.
 */
export function createReadFile ({ paths }: { paths: PathPolicy }): Tool<Static<typeof Input>> {
  return {
    name: 'readFile',
    description: 'Read a text file. Answers its content and number of lines; pass offset and limit for a part of a long file.',
    inputSchema: Input,
    effect: 'read',
    execute: ({ path, offset = 1, limit = Infinity }, { cwd, signal }) => about(path, async () => {
      const real = await paths.resolve(path, cwd)
      return withParent(real, (folder, name) => withFile(folder, name, paths, async (file, size) => {
        const bytes = await readUpTo(file, READ_BYTES, signal)
        if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) {
          return { path: real, content: '', binary: true, size, message: `This is a binary file of ${size} bytes; its content is not shown.` }
        }
        const part = linesOf(bytes, offset, limit)
        const cutFile = size > bytes.length
        return {
          path: real,
          content: part.content,
          totalLines: part.totalLines,
          size,
          ...(part.lossy && { lossy: true }),
          ...((part.nextOffset !== undefined || cutFile) && { truncated: true }),
          ...(part.nextOffset !== undefined && { nextOffset: part.nextOffset }),
          ...(cutFile && { message: `Only the first ${READ_BYTES} of ${size} bytes can be read; totalLines counts those.` })
        }
      }))
    })
  }
}

/** Reads to the end or the limit; the size is not believed, as the file may grow. */
async function readUpTo (file: FileHandle, limit: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let total = 0; total < limit;) {
    signal.throwIfAborted()
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(MIB, limit - total)), 0)
    if (bytesRead === 0) break
    total += bytesRead
    chunks.push(buffer.subarray(0, bytesRead))
  }
  return Buffer.concat(chunks)
}

/** The lines from `offset` on, as many as asked for and as fit: whole lines, or the start of one that is too long. */
function linesOf (bytes: Buffer, offset: number, limit: number) {
  let line = 1
  let from = offset === 1 ? 0 : bytes.length
  let to = bytes.length
  let nextOffset: number | undefined
  let lineStart = 0
  const endLine = (next: number) => {
    if (nextOffset === undefined && line >= offset && next - from > ANSWER_BYTES) {
      to = lineStart > from ? lineStart : from + ANSWER_BYTES
      nextOffset = lineStart > from ? line : line + 1
    }
    line += 1
    lineStart = next
    if (line === offset) from = next
    if (nextOffset === undefined && line === offset + limit && next < bytes.length) [to, nextOffset] = [next, line]
  }
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) endLine(at + 1)
  if (lineStart < bytes.length) endLine(bytes.length)

  const content = bytes.subarray(from, Math.max(from, to)).toString('utf8')
  return { content, totalLines: line - 1, nextOffset, lossy: content.includes('\ufffd') }
}
