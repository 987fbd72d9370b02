import { toRawResults, parseAnswer, type Backend } from './search-backend.ts'

const QUOTA_EXHAUSTED =
  'Tavily refuses: the plan\'s searches are used up. Raise the limit at Tavily, or set "search" in config.json to another provider.'

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
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
  results: (text) => toRawResults(parseAnswer(text)?.results, 'content'),
  statusMessages: { 432: QUOTA_EXHAUSTED, 433: QUOTA_EXHAUSTED }
}
