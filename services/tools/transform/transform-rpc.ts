import type { ResultPage } from '../web/search/search-backend.ts'
import type { HtmlPage, ReadablePage } from '../web/fetch/readable-page.ts'

/** The transformations of the worker by kind; inputs and outputs are plain data. Add a kind here and in workers/transform.ts. */
export interface Transforms {
  /** The readable part of a page as markdown, its links absolute. */
  markdown: { input: HtmlPage, output: ReadablePage }
  /** All text of a page, in time linear in its length: for pages that `markdown` is too slow for. */
  text: { input: HtmlPage, output: ReadablePage }
  /** The search results in a page of DuckDuckGo. */
  results: { input: string, output: ResultPage }
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
