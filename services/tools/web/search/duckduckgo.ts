import { SearchFailed, type Backend } from './search-backend.ts'

const BLOCKED =
  'DuckDuckGo refuses automatic searches at the moment. Try again later, or set "search" in config.json to tavily, brave or searxng.'

/** DuckDuckGo's page for browsers without JavaScript. It needs no key; it refuses automatic callers with a page, mostly of status 202. */
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
