import type { Clock } from '../../../lib/clock.ts'
import { expandVariables, type Variables } from '../../../config/index.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import type { Transform } from '../../transform/transform.ts'
import { readBody, send, FetchFailed, reasonOf } from '../fetch/send.ts'
import { decode } from '../fetch/charset.ts'
import {
  brave,
  SearchFailed,
  type Backend,
  type BackendName,
  type SearchResult,
  type SearchSettings,
  duckduckgo,
  searxng,
  tavily,
  type RawResult
} from './search-backends.ts'
import { plainText } from '../fetch/to-text.ts'

const DEADLINE_MS = 15_000
const MAX_BYTES = 2 * 1024 * 1024
const BACKENDS: Record<BackendName, Backend> = { tavily, brave, searxng, duckduckgo }

interface Parts {
  /** Returns the current config.search. Called at each search. */
  settings: () => SearchSettings | undefined
  variables: Variables
  transform: Transform
  clock: Clock
}

export type Search = ReturnType<typeof createSearch>

/** Searches the web with the configured backend; by default with DuckDuckGo. */
export function createSearch ({ settings, variables, transform, clock }: Parts) {
  return {
    /** Returns at most `count` results, best first. Throws SearchFailed, TransformBusy or the signal's abort reason. */
    async search (query: string, count: number, signal: AbortSignal): Promise<SearchResult[]> {
      const { provider, baseURL, apiKey } = settings() ?? { provider: 'duckduckgo' as const }
      const backend = BACKENDS[provider]
      const base = (baseURL ?? backend.baseURL)?.replace(/\/+$/, '')
      if (base === undefined) {
        throw new SearchFailed(`A search with ${backend.title} needs its address: set "baseURL" in config.json under "search".`)
      }
      const request = backend.request(base, { query, count, key: keyOf(backend, apiKey) })

      const { status, retryAfter, text } = await withDeadline({ clock, ms: DEADLINE_MS, signal }, async (limit) => {
        // Redirects are not followed, because the key is allowed to go only to the address that the user configured.
        const response = await send(new URL(request.url), {
          ...request,
          headers: { accept: 'application/json', ...request.headers },
          signal: limit
        })
        const { bytes } = await readBody(response, MAX_BYTES)
        return { status: response.statusCode!, retryAfter: response.headers['retry-after'], text: decode(bytes, 'utf-8') }
      }).catch((error) => {
        signal.throwIfAborted()
        if (error?.kind === 'timeout') throw new SearchFailed(`${backend.title} did not answer within ${DEADLINE_MS / 1000} s. Try again.`)
        throw new SearchFailed(`${backend.title} cannot be asked: ${error instanceof FetchFailed ? error.message : reasonOf(error)}.`)
      })
      if (status !== 200) throw new SearchFailed(describeStatus(backend, status, retryAfter))
      const raw = await read(backend, text, signal)
      if (raw === undefined) {
        throw new SearchFailed(
          `${backend.title} answered with something that is no list of results. Check "search" in config.json, or try again later.`
        )
      }
      return cleanResults(raw, count)
    }
  }

  /** Returns the results in an answer; undefined if the answer cannot be read, or the worker cannot parse its page. */
  async function read (backend: Backend, text: string, signal: AbortSignal) {
    try {
      return await backend.results(text, (html) => transform.run('results', html, { signal }))
    } catch (error) {
      signal.throwIfAborted()
      if ((error as { code?: string }).code === 'ERR_TRANSFORM_FAILED') return undefined
      throw error
    }
  }

  function keyOf ({ title, needsKey }: Backend, apiKey: string | undefined): string | undefined {
    const { value, missing: [variable] } = expandVariables(apiKey, variables)
    if (variable !== undefined) {
      throw new SearchFailed(
        `The key for ${title} is to come from the environment variable ${variable}, which is not set. Set it and restart, or write the ` +
        'key into config.json under "search".'
      )
    }
    if (needsKey && value === undefined) {
      throw new SearchFailed(`A search with ${title} needs a key: set "apiKey" in config.json under "search".`)
    }
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value)) {
      throw new SearchFailed(`The "apiKey" in config.json under "search" holds characters that no key of ${title} has.`)
    }
    return value
  }
}

function describeStatus ({ title, statusMessages }: Backend, status: number, retryAfter: string | undefined): string {
  if (statusMessages?.[status]) return statusMessages[status]
  if (status >= 300 && status < 400) {
    return `${title} is not at that address: it points elsewhere (${status}). Check "baseURL" in config.json under "search".`
  }
  if (status === 401 || status === 403) {
    return `${title} refuses the key. Set another "apiKey" in config.json under "search", then POST /config/reload.`
  }
  if (status === 402) return `${title} refuses: the account has no credit left.`
  if (status === 429) {
    return `${title} is asked too often. Wait${/^\d{1,6}$/.test(retryAfter ?? '') ? ` ${retryAfter} s` : ' a while'} and try again.`
  }
  return `${title} answered ${status}. Try again later${status < 500 ? ', and check "search" in config.json' : ''}.`
}

/** The most results that are read from one answer. More would be an attack. */
const MAX_READ = 100
/** The most characters that are read of one text. */
const LONGEST_READ = 5_000
const LONGEST_TITLE = 300
const LONGEST_SNIPPET = 600
const LONGEST_URL = 2_000

/** Cleans results for the model: keeps only http and https addresses, each once, removes HTML from the texts, and limits all lengths. */
function cleanResults (raw: RawResult[], maxResults: number): SearchResult[] {
  const results = new Map<string, SearchResult>()
  for (const { title, url, snippet } of raw.slice(0, MAX_READ)) {
    if (results.size === maxResults) break
    const address = typeof url === 'string' && url.length <= LONGEST_URL ? URL.parse(url) : null
    if (!address || !['http:', 'https:'].includes(address.protocol)) continue
    address.username = address.password = ''
    if (results.has(address.href)) continue
    results.set(address.href, {
      title: plainLine(title, LONGEST_TITLE) || address.hostname,
      url: address.href,
      snippet: plainLine(snippet, LONGEST_SNIPPET)
    })
  }
  return [...results.values()]
}

function plainLine (value: unknown, longest: number): string {
  if (typeof value !== 'string') return ''
  const text = plainText(value.slice(0, LONGEST_READ)).replace(/\s+/g, ' ')
  return text.length <= longest
    ? text.toWellFormed()
    : `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '').trimEnd().toWellFormed()}…`
}
