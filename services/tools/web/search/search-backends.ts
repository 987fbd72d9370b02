import { readJson } from '../../../lib/json.ts'
import { defineError } from '../../../lib/service-error.ts'
import type { Config } from '../../../../schemas/config.ts'

export type SearchSettings = NonNullable<Config['search']>
export type BackendName = SearchSettings['provider']

export interface SearchResult {
  title: string
  /** An http or https address. */
  url: string
  snippet: string
}

/** A search result as the search service sent it, not validated yet: a field can have any type, and texts can contain HTML. */
export interface RawResult {
  title?: unknown
  url?: unknown
  snippet?: unknown
}

interface SearchQuery {
  query: string
  count: number
  key?: string
}

/** Thrown if a search fails. The message is for the model and its user. */
export const SearchFailed = defineError('ERR_SEARCH_FAILED', '%s')

/** The protocol of one search service: its requests, its answers, and the meaning of its error statuses. */
export interface Backend {
  /** The name of the service for display. */
  title: string
  /** The default address; absent if the user must configure it. */
  baseURL?: string
  needsKey: boolean
  /** Returns the request for a query. `base` is the address without a final slash. */
  request(base: string, query: SearchQuery): { url: string, method?: 'GET' | 'POST', headers?: Record<string, string>, body?: string }
  /**
   * Returns the results in an answer of status 200; undefined if it contains no list of results. Throws SearchFailed if the service
   * refuses.
   */
  results(text: string, parsePage: (html: string) => Promise<ResultPage>): RawResult[] | undefined | Promise<RawResult[] | undefined>
  /** Error messages for statuses with a special meaning. */
  statusMessages?: Record<number, string>
}

/** The content of a DuckDuckGo page: results, or the reason why there are none. */
export interface ResultPage {
  kind: 'results' | 'nothing' | 'blocked' | 'unknown'
  results: RawResult[]
}

/** Converts a list of JSON results. `snippet` is the name of the field with the extract. Returns undefined if `list` is not a list. */
function toRawResults (list: unknown, snippet: string): RawResult[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((entry) => ({ title: entry?.title, url: entry?.url, snippet: entry?.[snippet] }))
}

/** Protocol: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
export const brave: Backend = {
  title: 'Brave',
  baseURL: 'https://api.search.brave.com',
  needsKey: true,
  request: (base, { query, count, key }) => ({
    url: `${base}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count), result_filter: 'web' })}`,
    headers: { 'x-subscription-token': key! }
  }),
  results (text) {
    const answer = readJson(text)
    // Brave omits `web` when there are no results.
    return answer?.type === 'search' && answer.web === undefined ? [] : toRawResults(answer?.web?.results, 'description')
  },
  statusMessages: {
    422: 'Brave does not accept the key or the query. Set another "apiKey" in config.json under "search", or search for something shorter.'
  }
}

const QUOTA_EXHAUSTED =
  'Tavily refuses: the plan\'s searches are used up. Raise the limit at Tavily, or set "search" in config.json to another provider.'

/** Protocol: https://docs.tavily.com/documentation/api-reference/endpoint/search */
export const tavily: Backend = {
  title: 'Tavily',
  baseURL: 'https://api.tavily.com',
  needsKey: true,
  request: (base, { query, count, key }) => ({
    url: `${base}/search`,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, max_results: count })
  }),
  results: (text) => toRawResults(readJson(text)?.results, 'content'),
  statusMessages: { 432: QUOTA_EXHAUSTED, 433: QUOTA_EXHAUSTED }
}

/** Protocol: https://docs.searxng.org/dev/search_api.html */
export const searxng: Backend = {
  title: 'SearXNG',
  needsKey: false,
  request: (base, { query, key }) => ({
    url: `${base}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
    // An instance behind a gateway might require a key.
    ...key !== undefined && { headers: { authorization: `Bearer ${key}` } }
  }),
  results: (text) => toRawResults(readJson(text)?.results, 'content'),
  statusMessages: {
    403: 'SearXNG refuses: its settings.yml must list json among search.formats, and its limiter must let this machine in.'
  }
}

const BLOCKED =
  'DuckDuckGo refuses automatic searches at the moment. Try again later, or set "search" in config.json to tavily, brave or searxng.'

/** DuckDuckGo's page for browsers without JavaScript. It needs no key. It refuses automatic callers with a page, mostly with status 202. */
export const duckduckgo: Backend = {
  title: 'DuckDuckGo',
  baseURL: 'https://html.duckduckgo.com',
  needsKey: false,
  request: (base, { query }) => ({ url: `${base}/html/?${new URLSearchParams({ q: query })}`, headers: { accept: 'text/html' } }),
  async results (text, parsePage) {
    const { kind, results } = await parsePage(text)
    if (kind === 'blocked') throw new SearchFailed(BLOCKED)
    return kind === 'unknown' ? undefined : results
  },
  statusMessages: { 202: BLOCKED, 403: BLOCKED, 418: BLOCKED, 429: BLOCKED }
}
