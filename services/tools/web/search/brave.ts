import { toRawResults, parseAnswer, type Backend } from './search-backend.ts'

/** https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
export const brave: Backend = {
  title: 'Brave',
  baseURL: 'https://api.search.brave.com',
  needsKey: true,
  request: (base, { query, count, key }) => ({
    url: `${base}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count), result_filter: 'web' })}`,
    headers: { 'x-subscription-token': key! }
  }),
  results (text) {
    const answer = parseAnswer(text)
    // Brave omits `web` when there are no results.
    return answer?.type === 'search' && answer.web === undefined ? [] : toRawResults(answer?.web?.results, 'description')
  },
  statusMessages: {
    422: 'Brave does not accept the key or the query. Set another "apiKey" in config.json under "search", or search for something shorter.'
  }
}
