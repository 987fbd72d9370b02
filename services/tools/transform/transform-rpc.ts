import type { FoundFiles, FilesRequest, FoundLines, LinesRequest, Scanned, ScanRequest } from '../search/search-rpc.ts'
import type { FolderJobs } from '../../workspace/index.ts'
import type { ResultPage } from '../web/search/search-backends.ts'
import type { HtmlPage, ReadablePage } from '../web/fetch/to-text.ts'

/** The input and output of each kind of job in the worker. All are plain data. A new kind is added here and in workers/transform.ts. */
export interface Transforms extends FolderJobs {
  /** Returns the readable part of a page as markdown, with absolute links. */
  markdown: { input: HtmlPage, output: ReadablePage }
  /** Returns all text of a page, in time linear in its length. Used for pages for which `markdown` takes too long. */
  text: { input: HtmlPage, output: ReadablePage }
  /** Returns the search results in a page of DuckDuckGo. */
  results: { input: string, output: ResultPage }
  /** Returns the text of a PDF, page by page. */
  pdf: { input: PdfRequest, output: PdfText }
  /** Returns the text of an office document. */
  office: { input: OfficeRequest, output: string }
  /** Returns the lines that match a pattern, in the files below a folder. */
  searchLines: { input: LinesRequest, output: FoundLines }
  /** Returns the files below a folder whose paths match a glob. */
  searchFiles: { input: FilesRequest, output: FoundFiles }
  /** Returns the files below a folder whose paths match a glob, with sizes and times. */
  scanFiles: { input: ScanRequest, output: Scanned }
  /** Returns a recording as text without secrets; null if it is too large. */
  recording: { input: RecordingRequest, output: string | null }
  /** Reads one name in a folder. The result does not matter, only that the file system answers. */
  knock: { input: string, output: null }
}

/** A recording, the secrets to remove (`known`), the folders with their placeholders, and the most bytes of the result. */
export interface RecordingRequest {
  header: object
  lines: readonly object[]
  known: readonly string[]
  folders: ReadonlyArray<readonly [path: string, name: string]>
  mostBytes: number
}

/**
 * A request for at most `mostPages` pages of a document, beginning with page `firstPage`, counted from 1. No further page begins once
 * `mostChars` characters are read.
 */
export interface PdfRequest {
  bytes: Uint8Array
  firstPage: number
  mostPages: number
  mostChars: number
}

/** A request for the first `mostCharacters` characters of an office document. */
export interface OfficeRequest {
  bytes: Uint8Array
  format: 'docx' | 'xlsx' | 'pptx' | 'odt'
  mostCharacters: number
}

export interface PdfText {
  /** The text of each page. There are fewer pages than requested if `mostChars` or the time was used up. */
  pages: string[]
  totalPages: number
  title?: string
}

export type Kind = keyof Transforms

/** The worker's function for each kind of job. It imports its libraries at the first call. */
export type TransformHandlers = { [K in Kind]: (input: Transforms[K]['input']) => Promise<Transforms[K]['output']> }

/** A message to the worker: one job. */
export interface Job {
  kind: Kind
  input: unknown
}
/** The worker's answer to a job. */
export type Done = { output: unknown } | { error: string }
