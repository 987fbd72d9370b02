import { plainText } from '../fetch/to-text.ts'
import type { RawResult, SearchResult } from './search-backend.ts'

/** Results read of one answer; more would be an attack. */
const MAX_READ = 100
/** Characters read of one text. */
const LONGEST_READ = 5_000
const LONGEST_TITLE = 300
const LONGEST_SNIPPET = 600
const LONGEST_URL = 2_000

/** Cleans results for the model: keeps only web addresses, each once, strips HTML from the texts and limits all lengths. */
export function cleanResults (raw: RawResult[], maxResults: number): SearchResult[] {
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
