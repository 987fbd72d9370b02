import type { Transform } from '../transform/transform.ts'
import { FITTING_BYTES, fittingEnd, jsonBytes } from '../fitting-text.ts'
import type { ToolOutput } from '../../contracts/tool.ts'
import type { LineRequest } from './line-range.ts'

/** Separates the pages in `content`, as in pdftotext. */
const PAGE_BREAK = '\f'
/** Characters of a page in one answer. */
const ANSWER_CHARS = 40_000

/**
 * Answers with a range of pages: `{content, startPage, endPage, totalPages, title?}`, with `nextOffset` and possibly `nextColumn` when
 * there is more. `offset` and `limit` count pages, `column` the characters of the first.
 */
export async function readPdfPages (
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

/** Returns the content of pages with the number of each before it. */
export const withPageNumbers = (content: string, startPage: number): string =>
  content.split(PAGE_BREAK).map((page, at) => `[page ${startPage + at}]\n${page}`).join('\n')
