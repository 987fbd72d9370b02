import { asResults, parseAnswer, type Backend } from './search-backend.ts'

/** https://docs.searxng.org/dev/search_api.html */
export const searxng: Backend = {
  title: 'SearXNG',
  needsKey: false,
  request: (base, { query, key }) => ({
    url: `${base}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
    // For one behind a gateway that wants it.
    ...key !== undefined && { headers: { authorization: `Bearer ${key}` } }
  }),
  results: (text) => asResults(parseAnswer(text)?.results, 'content'),
  meanings: { 403: 'SearXNG refuses: its settings.yml must list json among search.formats, and its limiter must let this machine in.' }
}
