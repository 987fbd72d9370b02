import { decode } from './charset.ts'
import type { HtmlPage, ReadablePage } from './readable-page.ts'

/** Elements whose content is not for reading. */
const SILENT = new Set(['script', 'style', 'title', 'template', 'noscript', 'svg', 'iframe', 'textarea', 'select'])
const BLOCKS = new Set([
  'address',
  'article',
  'aside',
  'blockquote',
  'body',
  'br',
  'dd',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figure',
  'footer',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hr',
  'li',
  'main',
  'nav',
  'ol',
  'option',
  'p',
  'pre',
  'section',
  'table',
  'td',
  'th',
  'tr',
  'ul'
])
/** The named characters that pages use most: name, character, name, character. */
const ENTITIES = new Map(
  ('amp & lt < gt > quot " apos \' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” laquo « raquo » bull • ' +
    'middot · deg ° times × euro € pound £ szlig ß auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü eacute é egrave è agrave à ccedil ç ntilde ñ')
    .split(' ').map((name, at, all): [string, string] => [name, all[at + 1]]).filter((_pair, at) => at % 2 === 0)
)
const NAME = /[a-z][^\s/>]*/iy
const LONGEST_TITLE = 500

/** All text of a page, without a tree of it. */
export function toText ({ bytes, charset }: HtmlPage): ReadablePage {
  const html = decode(bytes, charset)
  const open = /<title[^>]{0,200}>/i.exec(html)
  const title = open &&
    plainText(html.slice(open.index + open[0].length, open.index + open[0].length + LONGEST_TITLE).split(/<\/title/i)[0])
  return { ...title && { title }, content: plainText(html) }
}

/** What is left of HTML when its tags are gone: one line a block. Takes time in proportion to its length, whatever it holds. */
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

/** The position after what begins at a `<`; what it means for the text is added to `pieces`. */
function skipTag (html: string, tag: number, pieces: string[]): number {
  if (html.startsWith('<!--', tag)) return after(html, '-->', tag + 4)
  if (html[tag + 1] === '!' || html[tag + 1] === '?') return after(html, '>', tag)
  const closing = html[tag + 1] === '/'
  NAME.lastIndex = tag + (closing ? 2 : 1)
  const name = NAME.exec(html)?.[0].slice(0, 20).toLowerCase()
  if (name === undefined) {
    pieces.push('<')
    return tag + 1
  }
  if (BLOCKS.has(name)) pieces.push(name === 'li' && !closing ? '\n- ' : '\n')
  const end = endOfTag(html, NAME.lastIndex)
  if (closing || !SILENT.has(name)) return end
  const close = new RegExp(`</${name}`, 'gi')
  close.lastIndex = end
  return close.exec(html)?.index ?? html.length
}

function after (html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from)
  return found < 0 ? html.length : found + mark.length
}

/** Past the `>` of a tag; one in a quoted value is none. */
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

function decodeEntities (text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? whole
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\uFFFD'
  })
}
