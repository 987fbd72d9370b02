import { getDocumentProxy } from 'unpdf'
import type { PdfRequest, PdfText } from './transform-rpc.ts'

/** The most pages that are read in one request. */
const MOST_PAGES = 500
/** How long pages are read, in milliseconds. Then no further page begins, so that the answer precedes the time limit of the worker. */
const READING_MS = 7_000
const LONGEST_TITLE = 500

/**
 * Returns the text of a PDF. Scripts in it are not run, and nothing is fetched. Throws for a document that is damaged or needs a password.
 */
export async function readPdf ({ bytes, firstPage, mostPages, mostChars }: PdfRequest): Promise<PdfText> {
  const started = performance.now()
  // Verbosity 0 logs only errors.
  const document = await getDocumentProxy(bytes, { useSystemFonts: false, disableFontFace: true, verbosity: 0 })
  const totalPages = document.numPages
  const last = Math.min(totalPages, firstPage + Math.min(mostPages, MOST_PAGES) - 1)
  const pages: string[] = []
  let chars = 0
  for (let number = firstPage; number <= last && chars < mostChars && performance.now() - started < READING_MS; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const text = items.map((item) => 'str' in item ? item.str + (item.hasEOL ? '\n' : '') : '').join('').toWellFormed()
    pages.push(text)
    chars += text.length
    page.cleanup()
  }
  const { info } = await document.getMetadata()
  await document.loadingTask.destroy()
  const title = 'Title' in info && typeof info.Title === 'string' ? info.Title.trim().slice(0, LONGEST_TITLE) : ''
  return { pages, totalPages, ...title !== '' && { title } }
}
