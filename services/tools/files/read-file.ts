import type { FileHandle } from 'node:fs/promises'
import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import { withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import type { Skills } from '../skills/skills.ts'
import type { OpenEditors } from './open-editors.ts'
import type { Transform } from '../transform/transform.ts'
import { kindOf, imageFormat } from './file-kind.ts'
import { withFile, withParent } from '../../workspace/index.ts'
import { numbered, NUMBER_MARK, type LineRequest } from './line-range.ts'
import { askForCredentials } from './ask-for-credentials.ts'
import { readText, readWhole, WHOLE_BYTES } from './read-text.ts'
import { jsonBytes } from '../../lib/json.ts'
import { FITTING_BYTES, fittingEnd } from '../model-output.ts'
import { block, textOf } from '../../lib/in-words.ts'

const Input = Type.Object({
  path: Type.String({ minLength: 1 }),
  offset: Type.Optional(
    Type.Integer({ minimum: 1, description: 'First line, of a PDF: page' })
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1 })
  ),
  column: Type.Optional(
    Type.Integer({ minimum: 1 })
  )
}, { additionalProperties: false })

/** The most bytes of an image: providers accept 5 MiB of base64. */
const IMAGE_BYTES = 3.75 * 1024 * 1024
/** The most pixels on a side of an image: providers refuse larger ones. */
const IMAGE_PIXELS = 8_000

interface Parts {
  paths: PathPolicy
  transform: Transform
  editors?: OpenEditors
  /** The skills, whose files can be read even outside of the folders that tools are allowed to use. */
  skills: Pick<Skills, 'fileAt'>
}

const UNSAVED = 'This is the text in the user\'s editor, which is not saved yet. The file can be changed when it is.'

interface Reading {
  request: LineRequest
  /** The path as JSON, for messages. */
  shown: string
  /** Returns the editor's text of the file with these bytes, if it has unsaved changes; undefined otherwise. */
  unsaved: (bytes: Buffer) => Promise<string | undefined>
  signal: AbortSignal
}

/**
 * Output for text: `{path, content, startLine, endLine, totalLines?, size, digest?}`. `content` is the unchanged text of these lines. If
 * more text follows, `truncated`, `nextOffset` and possibly `nextColumn` are set, and `message` says how to read on. Further fields:
 * `startColumn` if the content begins inside a line; `encoding` and `lineEnds` if they are not UTF-8 and LF; `encodingIsGuess` if the
 * encoding is not Unicode; `lossy` if some bytes are not valid in the encoding; `digest`, for editFile, unless the file is too large to
 * edit; `unsaved` if the text is from an editor. Models get each line with its number. Output for images: `{path, size, mimeType, width,
 * height, content: [image]}`. For PDFs see readPdfPages. Throws ToolFailed for other binary files.
 */
export function createReadFile ({ paths, transform, editors, skills }: Parts): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'readFile',
      description: 'Read a file: text, the text of a PDF, or an image, which you then see. ' +
        `Each line has its number and "${NUMBER_MARK}" before it; these are not part of the file. ` +
        'Read on with nextOffset as offset, and nextColumn as column.',
      compact: {
        description: `Read a file. Line numbers with "${NUMBER_MARK}" are not part of it.`,
        schema: Type.Object({ path: Type.String(), offset: Type.Optional(Type.Integer()) })
      },
      schema: Input,
      use: 'always',
      output: withNumbers
    },
    says: {
      en: { label: 'Read a file', does: 'read the file', verb: 'read', result: fileInWords },
      about: ['path'],
      otherNames: [
        'cat', 'read', 'open', 'openfile', 'viewfile', 'view',
        'readtextfile', 'getfile', 'getfilecontents', 'showfile', 'notebookread'
      ]
    },
    policy: { effect: 'read', permission: ({ path }, { cwd }) => askForCredentials(path, cwd, paths) },
    effects: { source: 'file' },
    execute: ({ path, offset = 1, limit = Infinity, column = 1 }, { cwd, runId, signal }) =>
      withPathErrors(path, async () => {
        const real = await skills.fileAt(path, cwd) ?? await paths.resolve(path, cwd)
        const about = { request: { offset, column, limit }, shown: JSON.stringify(path) }
        const unsaved = async (bytes: Buffer) => editors?.unsaved(runId, real, bytes, signal)
        return withParent(real, (folder, name) =>
          withFile(folder, name, paths, async (file, size) => ({
            path: real,
            size,
            ...await read(file, size, { ...about, unsaved, signal })
          })))
      })
  }

  async function read (file: FileHandle, size: number, { request, shown, unsaved, signal }: Reading): Promise<ToolOutput> {
    const whole = await readWhole(file, size, signal)
    const head = whole ?? (await file.read(Buffer.alloc(4096), 0, 4096, 0)).buffer
    if (/^\s*%PDF-/.test(head.toString('latin1', 0, 1024))) {
      if (whole !== undefined) return readPdfPages(new Uint8Array(whole), request, transform, signal)
      throw new ToolFailed(`${shown} is a PDF of ${size} bytes; at most ${WHOLE_BYTES} can be read. Split it with a command.`)
    }
    const image = imageFormat(head)
    if (image !== undefined) return imageOutput(image, whole, size, shown)
    const typed = whole && await unsaved(whole)
    if (typed !== undefined) return readUnsaved(file, Buffer.from(typed), request, signal)
    const text = await readText(file, whole, request, signal)
    if (text !== undefined) return text
    throw new ToolFailed(
      `${shown} is ${kindOf(head)} of ${size} bytes, not text. readFile reads text, PDF and PNG, JPEG, GIF and WebP images only.`
    )
  }
}

/**
 * Returns the output for a text from an editor: like that for a file with this text, but without a digest, because the text cannot be
 * edited.
 */
async function readUnsaved (file: FileHandle, bytes: Buffer, request: LineRequest, signal: AbortSignal): Promise<ToolOutput> {
  const { digest, message, ...text } = await readText(file, bytes, request, signal) ?? {}
  return { ...text, size: bytes.length, unsaved: true, message: message === undefined ? UNSAVED : `${UNSAVED} ${String(message)}` }
}

function imageOutput (
  image: NonNullable<ReturnType<typeof imageFormat>>,
  bytes: Buffer | undefined,
  size: number,
  shown: string
): ToolOutput {
  const { mimeType, width, height } = image
  if (bytes === undefined || size > IMAGE_BYTES || width > IMAGE_PIXELS || height > IMAGE_PIXELS) {
    throw new ToolFailed(
      `${shown} is an image (${mimeType}, ${width} × ${height} pixels, ${size} bytes) too large to be shown: at most ${IMAGE_BYTES} ` +
      `bytes and ${IMAGE_PIXELS} pixels on a side can be. Make a smaller copy of it with a command.`
    )
  }
  return { mimeType, width, height, content: [{ type: 'image', mimeType, data: bytes.toString('base64') }] }
}

function withNumbers (output: ToolOutput): ToolOutput {
  const { content, startLine, startPage } = output
  if (typeof content !== 'string') return output
  if (Number.isSafeInteger(startPage)) return { ...output, content: withPageNumbers(content, startPage as number) }
  return Number.isSafeInteger(startLine) ? { ...output, content: numbered(content, startLine as number) } : output
}

/** Separates the pages in `content`, as in the output of pdftotext. */
const PAGE_BREAK = '\f'
/** The most characters of a page in one answer. */
const ANSWER_CHARS = 40_000

/**
 * Returns a range of pages: `{content, startPage, endPage, totalPages, title?}`, with `nextOffset` and possibly `nextColumn` if more text
 * follows. `offset` and `limit` count pages; `column` counts characters of the first page.
 */
async function readPdfPages (
  bytes: Uint8Array,
  { offset, column, limit }: LineRequest,
  transform: Transform,
  signal: AbortSignal
): Promise<ToolOutput> {
  const mostPages = Math.min(limit, 1e6)
  const request = { bytes, firstPage: offset, mostPages, mostChars: ANSWER_CHARS + column }
  const { pages, totalPages, title } = await transform.run('pdf', request, { signal })
  const about = { mimeType: 'application/pdf', ...title !== undefined && { title }, totalPages }
  if (pages.length === 0) {
    return {
      ...about,
      content: '',
      message: `There is no page ${offset}: the document ends with page ${totalPages}.`
    }
  }

  const first = pages[0].slice(column - 1)
  const end = fittingEnd(first, 0, ANSWER_CHARS)
  const shown = [first.slice(0, end)]
  let room = FITTING_BYTES - jsonBytes(shown[0])
  for (const page of end < first.length ? [] : pages.slice(1)) {
    room -= jsonBytes(page)
    if (room < 0) break
    shown.push(page)
  }
  const endPage = offset + shown.length - 1
  const nextColumn = end < first.length ? column + end : undefined
  const nextOffset = nextColumn !== undefined ? offset : endPage < totalPages ? endPage + 1 : undefined
  const message = [
    nextColumn !== undefined && `This is a part of page ${offset} of ${totalPages}.`,
    nextColumn === undefined && nextOffset !== undefined && `These are the pages ${offset} to ${endPage} of ${totalPages}.`,
    nextOffset !== undefined && `Read on with offset ${nextOffset}${nextColumn === undefined ? '' : ` and column ${nextColumn}`}.`,
    shown.every((page) => page.trim() === '') && 'There is no text in these pages: they may be scanned pictures.'
  ].filter((sentence) => typeof sentence === 'string').join(' ')
  return {
    ...about,
    content: shown.join(PAGE_BREAK).toWellFormed(),
    startPage: offset,
    endPage,
    ...nextOffset !== undefined && { truncated: true, nextOffset },
    ...nextColumn !== undefined && { nextColumn },
    ...message !== '' && { message }
  }
}

/** Returns the pages with their number before each. */
const withPageNumbers = (content: string, startPage: number): string =>
  content.split(PAGE_BREAK).map((page, at) => `[page ${startPage + at}]\n${page}`).join('\n')

/** Matches the line numbers in the text that models get, which are not part of the file. */
const LINE_NUMBER = /(?<![^\n])\d+→/g

function fileInWords (
  { content, startLine, truncated, message, mimeType, width, height }: ToolOutput,
  { path }: { path?: unknown }
): string {
  if (Array.isArray(content)) return `\`${path}\` is an image (${mimeType}, ${width} × ${height} pixels).`
  if (!content) return `\`${path}\`${message ? `: ${message}` : ' is empty.'}`
  const text = typeof startLine === 'number' ? textOf(content).replace(LINE_NUMBER, '') : textOf(content)
  return `\`${path}\` contains:${block(text)}${truncated === true ? '\n(There is more in the file.)' : ''}`
}
