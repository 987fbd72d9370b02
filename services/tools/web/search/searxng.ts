import { toRawResults, parseAnswer, type Backend } from './search-backend.ts'

/** https://docs.searxng.org/dev/search_api.html */
export const searxng: Backend = {
  title: 'SearXNG',
  needsKey: false,
  request: (base, { query, key }) => ({
    url: `${base}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
    // An instance behind a gateway may require a key.
    ...key !== undefined && { headers: { authorization: `Bearer ${key}` } }
  }),
  results: (text) => toRawResults(parseAnswer(text)?.results, 'content'),
  statusMessages: {
    403: 'SearXNG refuses: its settings.yml must list json among search.formats, and its limiter must let this machine in.'
  }
}
