import createError from '@fastify/error'
import type { Config } from '../../../../schemas/config.ts'

export type SearchSettings = NonNullable<Config['search']>
export type BackendName = SearchSettings['provider']

export interface SearchResult {
  title: string
  /** http or https. */
  url: string
  snippet: string
}

/** A result as a backend tells it, its texts HTML; nothing about it is certain. */
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

/** A search could not be made; the message is for the model and its user. */
export const SearchFailed = createError<[string]>('ERR_SEARCH_FAILED', '%s', 422)

/** What is known of one search service: how it is asked, how it answers, and what its refusals mean. */
export interface Backend {
  /** As people call it. */
  title: string
  /** Where it is unless the user says otherwise; undefined when only the user knows. */
  baseURL?: string
  needsKey: boolean
  /** The address under `base`, which has no slash at its end. */
  request(base: string, query: SearchQuery): { url: string, method?: 'GET' | 'POST', headers?: Record<string, string>, body?: string }
  /** The results in an answer of status 200; undefined when it holds no list of them. Throws SearchFailed for a refusal. */
  results(text: string, parsePage: (html: string) => Promise<ResultPage>): RawResult[] | undefined | Promise<RawResult[] | undefined>
  /** What statuses mean, as a whole sentence, where it is not what they mean elsewhere. */
  meanings?: Record<number, string>
}

/** A page of DuckDuckGo. */
export interface ResultPage {
  kind: 'results' | 'nothing' | 'blocked' | 'unknown'
  results: RawResult[]
}

/** A JSON value of unknown shape; undefined when the text is none. */
export function parseAnswer (text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A list of JSON results with the names of their fields put right. */
export function asResults (list: unknown, snippet: string): RawResult[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((entry) => ({ title: entry?.title, url: entry?.url, snippet: entry?.[snippet] }))
}
