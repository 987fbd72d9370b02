import { defineError } from '../../../lib/service-error.ts'
import type { Config } from '../../../../schemas/config.ts'

export type SearchSettings = NonNullable<Config['search']>
export type BackendName = SearchSettings['provider']

export interface SearchResult {
  title: string
  /** http or https. */
  url: string
  snippet: string
}

/** A result as a backend returns it. Texts may contain HTML; types are not validated. */
export interface RawResult {
  title?: unknown
  url?: unknown
  snippet?: unknown
}

export interface SearchQuery {
  query: string
  count: number
  key?: string
}

/** A search failed; the message is for the model and its user. */
export const SearchFailed = defineError('ERR_SEARCH_FAILED', '%s')

/** The protocol of one search service: its requests, its answers and the meaning of its error statuses. */
export interface Backend {
  /** The service's name for people. */
  title: string
  /** The default address; undefined when the user must configure it. */
  baseURL?: string
  needsKey: boolean
  /** Builds the request. `base` has no slash at its end. */
  request(base: string, query: SearchQuery): { url: string, method?: 'GET' | 'POST', headers?: Record<string, string>, body?: string }
  /** Returns the results in an answer of status 200; undefined when it has no list of results. Throws SearchFailed for a refusal. */
  results(text: string, parsePage: (html: string) => Promise<ResultPage>): RawResult[] | undefined | Promise<RawResult[] | undefined>
  /** Sentences for statuses that mean something else than usual. */
  statusMessages?: Record<number, string>
}

/** The content of a DuckDuckGo page. */
export interface ResultPage {
  kind: 'results' | 'nothing' | 'blocked' | 'unknown'
  results: RawResult[]
}

/** Parses JSON of unknown shape; undefined when the text is not JSON. */
export function parseAnswer (text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Converts a list of JSON results; `snippet` names their field for the extract. Undefined when `list` is not a list. */
export function toRawResults (list: unknown, snippet: string): RawResult[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((entry) => ({ title: entry?.title, url: entry?.url, snippet: entry?.[snippet] }))
}
