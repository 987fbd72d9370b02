import type { IncomingMessage, ServerResponse } from 'node:http'
import { startSite } from './site.ts'

export interface FakeResult {
  title: string
  url: string
  snippet: string
}

/** The behaviour of the search service for one query. */
export interface SearchPlan {
  results?: FakeResult[]
  status?: number
  headers?: Record<string, string>
  /** A raw response body. */
  body?: string
  /** The service never responds. */
  silent?: true
}

type Backend = 'tavily' | 'brave' | 'searxng' | 'duckduckgo'

const KEY = 'fake-search-key-123'

/** The request and response format of each search service, from its documentation; for DuckDuckGo, from its page. */
const WIRE: Record<
  Backend,
  {
    path: string,
    method: string,
    type: string,
    query(req: IncomingMessage, body: string): string | null,
    key?(req: IncomingMessage): unknown,
    answer(results: FakeResult[]): string,
    error(status: number): string
  }
> = {
  tavily: {
    path: '/search',
    method: 'POST',
    type: 'application/json',
    query: (_req, body) => JSON.parse(body).query,
    key: ({ headers }) => headers.authorization === `Bearer ${KEY}`,
    answer: (results) =>
      JSON.stringify({
        query: '',
        answer: null,
        images: [],
        results: results.map(({ title, url, snippet }) => ({ title, url, content: snippet, score: 0.9, raw_content: null })),
        response_time: 0.1
      }),
    error: (status) => JSON.stringify({ detail: { error: `no: ${status} ${KEY}` } })
  },
  brave: {
    path: '/res/v1/web/search',
    method: 'GET',
    type: 'application/json',
    query: ({ url }) => new URL(url!, 'http://x').searchParams.get('q'),
    key: ({ headers }) => headers['x-subscription-token'] === KEY,
    answer: (results) =>
      JSON.stringify({
        type: 'search',
        query: { original: '' },
        ...results.length > 0 &&
          {
            web: {
              type: 'search',
              results: results.map(({ title, url, snippet }) => ({ title, url, description: snippet, family_friendly: true }))
            }
          }
      }),
    error: (status) => JSON.stringify({ type: 'ErrorResponse', error: { code: 'NO', detail: KEY, status } })
  },
  searxng: {
    path: '/search',
    method: 'GET',
    type: 'application/json',
    query: ({ url }) =>
      new URL(url!, 'http://x').searchParams.get('format') === 'json' ? new URL(url!, 'http://x').searchParams.get('q') : null,
    answer: (results) =>
      JSON.stringify({
        query: '',
        number_of_results: results.length,
        results: results.map(({ title, url, snippet }) => ({ title, url, content: snippet, engine: 'x' })),
        answers: [],
        unresponsive_engines: []
      }),
    error: (status) => `<html><title>${status}</title></html>`
  },
  duckduckgo: {
    path: '/html/',
    method: 'GET',
    type: 'text/html; charset=UTF-8',
    query: ({ url }) => new URL(url!, 'http://x').searchParams.get('q'),
    answer: (results) =>
      `<!DOCTYPE html><html><head><title>DuckDuckGo</title></head><body><div id="links" class="results">
      <div class="result results_links result--ad"><h2 class="result__title">
      <a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.test">An advertisement</a></h2></div>
      ${
        results.map(({ title, url, snippet }) =>
          `<div class="result results_links results_links_deep web-result"><div class="links_main links_deep result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=${
            encodeURIComponent(url)
          }&amp;rut=0a1b">${title}</a></h2>
        <a class="result__snippet" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=0a1b">${snippet}</a></div></div>`
        ).join('\n')
      }
      ${results.length === 0 ? '<div class="no-results">No results.</div>' : ''}</div></body></html>`,
    error: (status) => `<html><body><h1>${status}</h1></body></html>`
  }
}

/** Starts a search service on a free local port. `plan` returns its behaviour for a query. */
export async function startFakeSearch (
  t: Parameters<typeof startSite>[0],
  backend: Backend,
  plan: (query: string) => SearchPlan | undefined = () => undefined
) {
  const wire = WIRE[backend]
  const queries: string[] = []
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const body = site.requests.at(-1)!.body
    const query = req.method === wire.method ? wire.query(req, body) : null
    if (query === null) return res.writeHead(400).end()
    if (wire.key && !wire.key(req)) return res.writeHead(401, { 'content-type': wire.type }).end(wire.error(401))
    queries.push(query)
    const { results = [], status = 200, headers, body: bytes, silent } = plan(query) ?? {}
    if (silent) return undefined
    res.writeHead(status, { 'content-type': wire.type, ...headers }).end(
      bytes ?? (status === 200 ? wire.answer(results) : wire.error(status))
    )
    return undefined
  }
  const site = await startSite(t, { [wire.path]: answer })
  return { ...site, queries, key: wire.key && KEY }
}
