import type { ResultPage } from '../web/search/search-backend.ts'
import type { HtmlPage, ReadablePage } from '../web/fetch/readable-page.ts'

/** What the transform worker can do, by kind: plain data in, plain data out. Add a kind here and in workers/transform.ts. */
export interface Transforms {
  /** The readable part of a page as markdown, its links absolute. */
  markdown: { input: HtmlPage, output: ReadablePage }
  /** All text of a page, in time that grows with its length alone: for pages that `markdown` is too slow for. */
  text: { input: HtmlPage, output: ReadablePage }
  /** The results on DuckDuckGo's page. */
  results: { input: string, output: ResultPage }
}

export type Kind = keyof Transforms

/** How each kind is done; what it needs is loaded when it is first asked for. */
export type TransformHandlers = { [K in Kind]: (input: Transforms[K]['input']) => Promise<Transforms[K]['output']> }

/** What goes to the worker, and what comes back. */
export interface Job {
  kind: Kind
  input: unknown
}
export type Done = { output: unknown } | { error: string }
