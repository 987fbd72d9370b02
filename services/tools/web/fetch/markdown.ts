import { Readability, isProbablyReaderable } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import Turndown from 'turndown'
import { decode } from './charset.ts'
import type { HtmlPage, ReadablePage } from './to-text.ts'

/**
 * The most characters of a page that is converted. A longer page would exceed the time limit of ten seconds: a megabyte takes about two
 * seconds.
 */
const LONGEST_HTML = 3 * 1024 * 1024
/** A page with scripts whose content is shorter than this needs them. The second, longer limit applies if the page asks for JavaScript. */
const EMPTY_CHARS = 30
const NEARLY_EMPTY_CHARS = 400
const REMOVED_ELEMENTS =
  'script, style, noscript, template, iframe, object, embed, svg, canvas, form button, input, select, textarea, link, meta'
const NAVIGATION_ELEMENTS = 'nav, header, footer, aside, [role=navigation], [aria-hidden=true], [hidden]'

/**
 * Returns the article in a page as markdown; if there is none, the whole page without navigation. Throws an Error if the page is too large.
 */
export function toMarkdown ({ bytes, charset, url }: HtmlPage): ReadablePage {
  const html = decode(bytes, charset)
  if (html.length > LONGEST_HTML) throw new Error('the page is too large')
  const document: Document & any =
    parseHTML(/<html[\s>]/i.test(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`).document
  makeLinksAbsolute(document, url)
  const title = document.querySelector('title')?.textContent?.replace(/\s+/g, ' ').trim()
  const hasScripts = document.querySelector('script') !== null
  const asksForScripts = /javascript/i.test(document.querySelector('noscript')?.textContent ?? '')
  for (const element of document.querySelectorAll(REMOVED_ELEMENTS)) element.remove()

  const article = isProbablyReaderable(document)
    ? new Readability<Element>(document, { serializer: (root) => root as Element, keepClasses: true }).parse()
    : null
  const named = article?.title?.trim() || title
  const content = markdownOf(article?.content ?? wholePage(document))
  const needsScripts = hasScripts && content.length < (asksForScripts ? NEARLY_EMPTY_CHARS : EMPTY_CHARS)
  return { ...named && { title: named }, content, ...needsScripts && { needsScripts } }
}

function wholePage (document: Document): Element {
  const body = document.body ?? document.documentElement
  // In a page without a head, the title is inside the body.
  body.querySelector('title')?.remove()
  const text = body.textContent?.trim().length ?? 0
  const copy = body.cloneNode(true) as Element
  for (const element of copy.querySelectorAll(NAVIGATION_ELEMENTS)) element.remove()
  // If little text remains, the page consists of navigation, so all of it is kept.
  return (copy.textContent?.trim().length ?? 0) * 10 < text ? body : copy
}

/** Makes links absolute. Removes link targets that are not on the web, and images without a description. */
function makeLinksAbsolute (document: Document, url: string) {
  const base = resolve(document.querySelector('base[href]')?.getAttribute('href'), url) ?? url
  for (const link of document.querySelectorAll('a[href]')) {
    const target = resolve(link.getAttribute('href'), base)
    if (target === undefined) link.removeAttribute('href')
    else link.setAttribute('href', target)
  }
  for (const image of document.querySelectorAll('img')) {
    const target = resolve(image.getAttribute('src'), base)
    if (target === undefined || !image.getAttribute('alt')?.trim()) image.remove()
    else image.setAttribute('src', target)
  }
}

function resolve (href: string | null | undefined, base: string): string | undefined {
  const target = href === null || href === undefined ? null : URL.parse(href, base)
  return target && ['http:', 'https:', 'mailto:'].includes(target.protocol) ? target.href : undefined
}

function markdownOf (root: Element): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*', hr: '---' })
  const cells = (row: Element) => [...row.children].filter(({ nodeName }) => /^t[dh]$/i.test(nodeName))
  turndown.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content) => ` ${content.trim().replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')} |`
  })
  turndown.addRule('row', {
    filter: 'tr',
    replacement (content: string, row: unknown) {
      const line = `\n|${content.replaceAll('\n', ' ')}`
      const isHead = cells(row as Element).length > 0 && cells(row as Element).every(({ nodeName }) => /^th$/i.test(nodeName))
      return isHead ? `${line}\n|${' --- |'.repeat(cells(row as Element).length)}` : line
    }
  })
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  turndown.addRule('part', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  return turndown.turndown(root as any).replace(/\n{3,}/g, '\n\n').trim()
}

/** The part of the DOM that is used here, as implemented by linkedom. */
interface Element {
  nodeName: string
  textContent: string | null
  innerHTML: string
  children: Iterable<Element>
  classList: { contains(name: string): boolean }
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
  cloneNode(deep: boolean): Element
  closest(selector: string): Element | null
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
}

export interface Document extends Element {
  body: Element | null
  documentElement: Element
}
