import { parseHTML } from 'linkedom'
import type { Document } from '../fetch/markdown.ts'
import type { RawResult, ResultPage } from './search-backends.ts'

const BLOCK = '.anomaly-modal__title, .anomaly-modal, #challenge-form'

/** Parses a result page of html.duckduckgo.com, without advertisements. Runs in the transform worker. */
export function readResultPage (html: string): ResultPage {
  const document: Document = parseHTML(html).document as any
  const results = [...document.querySelectorAll('a.result__a')].flatMap((link): RawResult[] => {
    const result = link.closest('.result')
    const url = targetOf(link.getAttribute('href') ?? '')
    if (url === undefined || result?.classList.contains('result--ad')) return []
    return [{ title: link.innerHTML, url, snippet: result?.querySelector('.result__snippet')?.innerHTML ?? '' }]
  })
  if (results.length > 0) return { kind: 'results', results }
  if (document.querySelector(BLOCK)) return { kind: 'blocked', results }
  return { kind: document.querySelector('.no-results, .result--no-result, .result--ad') ? 'nothing' : 'unknown', results }
}

/**
 * Returns the target of a result's link, which can be wrapped in a redirect of DuckDuckGo; undefined for links within DuckDuckGo, such as
 * ads.
 */
function targetOf (href: string): string | undefined {
  const url = URL.parse(href, 'https://duckduckgo.com/')
  if (!url || !/(?:^|\.)duckduckgo\.com$/.test(url.hostname)) return url?.href
  const target = url.pathname === '/l/' ? URL.parse(url.searchParams.get('uddg') ?? '') : null
  return target && !/(?:^|\.)duckduckgo\.com$/.test(target.hostname) ? target.href : undefined
}
