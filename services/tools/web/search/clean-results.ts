import { plainText } from '../fetch/to-text.ts'
import type { RawResult, SearchResult } from './search-backend.ts'

/** Of one answer; nobody sends more but to do harm. */
const MOST_READ = 100
const LONGEST_READ = 5_000
const LONGEST_TITLE = 300
const LONGEST_SNIPPET = 600
const LONGEST_URL = 2_000

/** Results fit to be shown: web addresses only, each once, texts without HTML, nothing endless. */
export function cleanResults (raw: RawResult[], most: number): SearchResult[] {
  const results = new Map<string, SearchResult>()
  for (const { title, url, snippet } of raw.slice(0, MOST_READ)) {
    if (results.size === most) break
    const address = typeof url === 'string' && url.length <= LONGEST_URL ? URL.parse(url) : null
    if (!address || !['http:', 'https:'].includes(address.protocol)) continue
    address.username = address.password = ''
    if (results.has(address.href)) continue
    results.set(address.href, {
      title: words(title, LONGEST_TITLE) || address.hostname,
      url: address.href,
      snippet: words(snippet, LONGEST_SNIPPET)
    })
  }
  return [...results.values()]
}

function words (value: unknown, longest: number): string {
  if (typeof value !== 'string') return ''
  const text = plainText(value.slice(0, LONGEST_READ)).replace(/\s+/g, ' ')
  return text.length <= longest
    ? text.toWellFormed()
    : `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '').trimEnd().toWellFormed()}…`
}
