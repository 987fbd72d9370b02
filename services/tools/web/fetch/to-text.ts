import { decode } from './charset.ts'

/** An HTML page as it was received. */
export interface HtmlPage {
  bytes: Uint8Array
  /** The encoding in the header, if any. Without it, the page itself can declare one. */
  charset?: string
  /** The address of the page, against which relative links are resolved. */
  url: string
}

/** The text of a page, as the tools return it. */
export interface ReadablePage {
  title?: string
  content: string
  /** True if the page says nothing, or little, unless its scripts run. */
  needsScripts?: true
}

/** Elements whose content is not shown to readers as text. */
const SKIPPED_ELEMENTS = new Set(['script', 'style', 'title', 'template', 'noscript', 'svg', 'iframe', 'textarea', 'select'])
const BLOCKS = new Set(
  ('address article aside blockquote body br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr ' +
    'li main nav ol option p pre section table td th tr ul').split(' ')
)
/** The most common named character references, each name followed by its character. */
const ENTITIES = new Map(
  ('amp & lt < gt > quot " apos \' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” ' +
    'laquo « raquo » bull • middot · deg ° times × euro € pound £ szlig ß auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü eacute é egrave è ' +
    'agrave à ccedil ç ntilde ñ')
    .split(' ').map((name, at, all): [string, string] => [name, all[at + 1]]).filter((_pair, at) => at % 2 === 0)
)
const TAG_NAME = /[a-z][^\s/>]*/iy
const LONGEST_TITLE = 500

/** Returns all text of a page, without building a DOM. */
export function toText ({ bytes, charset }: HtmlPage): ReadablePage {
  const html = decode(bytes, charset)
  const open = /<title[^>]{0,200}>/i.exec(html)
  const title = open &&
    plainText(html.slice(open.index + open[0].length, open.index + open[0].length + LONGEST_TITLE).split(/<\/title/i)[0])
  return { ...title && { title }, content: plainText(html) }
}

/** Removes the tags from HTML, and puts each block on its own line. Takes time linear in the length for any input. */
export function plainText (html: string): string {
  const pieces: string[] = []
  for (let at = 0; at < html.length;) {
    const tag = html.indexOf('<', at)
    if (tag < 0 || tag > at) pieces.push(html.slice(at, tag < 0 ? html.length : tag).replace(/\s+/g, ' '))
    if (tag < 0) break
    at = skipTag(html, tag, pieces)
  }
  return decodeEntities(pieces.join('')).replace(/[ \u00a0]+/g, ' ').replace(/ ?\n ?/g, '\n').replace(/\n{3,}/g, '\n\n').trim()
}

/**
 * Skips the tag or comment that begins at position `tag`, and returns the position after it. Adds the text that it stands for, such as a
 * line break, to `pieces`.
 */
function skipTag (html: string, tag: number, pieces: string[]): number {
  if (html.startsWith('<!--', tag)) return positionAfter(html, '-->', tag + 4)
  if (html[tag + 1] === '!' || html[tag + 1] === '?') return positionAfter(html, '>', tag)
  const closing = html[tag + 1] === '/'
  TAG_NAME.lastIndex = tag + (closing ? 2 : 1)
  const name = TAG_NAME.exec(html)?.[0].slice(0, 20).toLowerCase()
  if (name === undefined) {
    pieces.push('<')
    return tag + 1
  }
  if (BLOCKS.has(name)) pieces.push(name === 'li' && !closing ? '\n- ' : '\n')
  const end = endOfTag(html, TAG_NAME.lastIndex)
  if (closing || !SKIPPED_ELEMENTS.has(name)) return end
  const close = new RegExp(`</${name}`, 'gi')
  close.lastIndex = end
  return close.exec(html)?.index ?? html.length
}

function positionAfter (html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from)
  return found < 0 ? html.length : found + mark.length
}

/** Returns the position after the `>` that ends a tag. A `>` inside a quoted value does not end it. */
function endOfTag (html: string, from: number): number {
  let quote: string | undefined
  for (let at = from; at < html.length; at++) {
    const character = html[at]
    if (quote !== undefined) {
      if (character === quote) quote = undefined
    } else if (character === '>') return at + 1
    else if ((character === '"' || character === "'") && /[=\s]/.test(html[at - 1])) quote = character
  }
  return html.length
}

/** Replaces numeric character references, and named ones that are in ENTITIES. */
export function decodeEntities (text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? whole
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\uFFFD'
  })
}
