import type { FoundFiles, FilesRequest, FoundLines, LinesRequest, Scanned, ScanRequest } from '../search/search-rpc.ts'
import type { FolderJobs } from '../../workspace/index.ts'
import type { ResultPage } from '../web/search/search-backends.ts'
import type { HtmlPage, ReadablePage } from '../web/fetch/to-text.ts'

/** The transformations of the worker by kind; inputs and outputs are plain data. Add a kind here and in workers/transform.ts. */
export interface Transforms extends FolderJobs {
  /** The readable part of a page as markdown, its links absolute. */
  markdown: { input: HtmlPage, output: ReadablePage }
  /** All text of a page, in time linear in its length: for pages that `markdown` is too slow for. */
  text: { input: HtmlPage, output: ReadablePage }
  /** The search results in a page of DuckDuckGo. */
  results: { input: string, output: ResultPage }
  /** The text of a PDF, page by page. */
  pdf: { input: PdfRequest, output: PdfText }
  /** The text of an office document. */
  office: { input: OfficeRequest, output: string }
  /** The lines of the files below a folder that match a pattern. */
  searchLines: { input: LinesRequest, output: FoundLines }
  /** The files below a folder whose paths match a pattern. */
  searchFiles: { input: FilesRequest, output: FoundFiles }
  /** The files below a folder whose paths match a pattern, with sizes and times. */
  scanFiles: { input: ScanRequest, output: Scanned }
  /** A recording as text, without secrets; null when it is too large. */
  recording: { input: RecordingRequest, output: string | null }
  /** Reads one name of a folder. Only whether its file system answers counts, not the result. */
  knock: { input: string, output: null }
}

/** A recording, the secrets of the service, and the folders with their placeholders. */
export interface RecordingRequest {
  header: object
  lines: readonly object[]
  known: readonly string[]
  folders: ReadonlyArray<readonly [path: string, name: string]>
  mostBytes: number
}

/**
 * At most `mostPages` pages of a document from page `firstPage` on, counted from 1. No further page begins after `mostChars` characters.
 */
export interface PdfRequest {
  bytes: Uint8Array
  firstPage: number
  mostPages: number
  mostChars: number
}

/** A document of Office or OpenDocument; at most `mostCharacters` of its text are read. */
export interface OfficeRequest {
  bytes: Uint8Array
  format: 'docx' | 'xlsx' | 'pptx' | 'odt'
  mostCharacters: number
}

export interface PdfText {
  /** The texts of the pages; fewer than requested if `mostChars` or the time was used up. */
  pages: string[]
  totalPages: number
  title?: string
}

export type Kind = keyof Transforms

/** The worker's function for each kind. It imports its libraries at the first call. */
export type TransformHandlers = { [K in Kind]: (input: Transforms[K]['input']) => Promise<Transforms[K]['output']> }

/** A message to the worker. */
export interface Job {
  kind: Kind
  input: unknown
}
/** The worker's answer. */
export type Done = { output: unknown } | { error: string }
