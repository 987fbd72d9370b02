import type { Page } from 'playwright-core'
import texts from '../../console/texts/en.json' with { type: 'json' }

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const PSEUDO = 'áƀçđéƒğĥíĵķłḿñóþɋŕšťúṽŵẋýž'
const written = (letter: string) => {
  const sign = [...PSEUDO][LETTERS.indexOf(letter.toLowerCase())]
  return letter === letter.toLowerCase() ? sign : sign.toUpperCase()
}

/** How much longer the texts are than in English, as those of German or Finnish may be. */
const LONGER = 0.4

/** Returns a text in a language that nobody speaks, with the same {placeholders}: its words are longer, by letters that stand twice. */
function pseudo (text: string): string {
  const letters = text.replace(/\{\w+\}/g, '').match(/[A-Za-z]/g)?.length ?? 0
  const rate = LONGER * text.length / letters
  let owed = 0
  return text.replace(/\{\w+\}|[A-Za-z]/g, (piece) => {
    if (piece.startsWith('{')) return piece
    owed += rate
    const more = Math.floor(owed)
    owed -= more
    return written(piece) + written(piece).toLowerCase().repeat(more)
  })
}

const leaves = (value: unknown): string[] => typeof value === 'string' ? [value] : Object.values(value as object).flatMap(leaves)

/** The texts by what the build writes for them. */
const BUILT = new Map(leaves(texts).flatMap((text) => [
  [JSON.stringify(text), text] as const,
  [`\`${text.replace(/[\\`$]/g, '\\$&')}\``, text] as const,
  [`'${text.replace(/[\\']/g, '\\$&')}'`, text] as const
]))
/** Texts among the values of an object, in any quotation marks; a colon that is itself a string begins none. */
const VALUE = /(?<=:)(?<![,{(]["'`]:)(?:"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*')/g

type Values = Record<string, string>

/** Returns the text of a key, the form for several where it has two. */
function textOf (key: string): string {
  const found: unknown = key.split('.').reduce((at: any, part) => at[part], texts)
  return typeof found === 'string' ? found : (found as { other: string }).other
}
const filled = (text: string, values: Values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')

/** Returns a text of the console by its key, with its {placeholders} filled in. */
export const englishText = (key: string, values: Values = {}): string => filled(textOf(key), values)

/** The same in the other language. */
export const pseudoText = (key: string, values: Values = {}): string => filled(pseudo(textOf(key)), values)

/** Has the console speak the other language. Returns the texts that were not found in its files. */
export async function speakPseudo (page: Page): Promise<() => string[]> {
  const found = new Set<string>()
  const translated = new Map<string, string>()
  const translate = (code: string) => code.replace(VALUE, (literal) => {
    const text = BUILT.get(literal)
    if (text === undefined) return literal
    found.add(text)
    return JSON.stringify(pseudo(text))
  })
  await page.route('**/assets/*.js', async (route) => {
    const url = route.request().url()
    const code = translated.get(url) ?? translate(await (await route.fetch()).text())
    translated.set(url, code)
    await route.fulfill({ body: code, contentType: 'text/javascript' })
  })
  return () => leaves(texts).filter((text) => !found.has(text) && /[A-Za-z]{2}/.test(text))
}

/** Names of models, tools, keys and paths, versions, endings of files, and examples of what one writes. */
export const NO_TEXT = new RegExp([
  /\w+, version|claude-[\w.-]+|gpt-6-sol|offline|assistant|scripted|config|json|model|work|notes|odd|env|ls|js|Ctrl|ms|frac|https:|test/,
  /\d[\w.+]*|\.(?:md|txt)|[\w.-]*\/[\w./-]+/
].map(({ source }) => source).join('|'), 'g')

/**
 * Returns what is English on a page: its texts and the names of its elements, without code, and without what
 * is marked as the words of the service, which are English.
 */
export const englishOn = (page: Page, known: RegExp) => page.evaluate<string[]>(`(() => {
  const known = ${known}
  const found = [document.title]
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.nodeType === 3 ? node.parentElement : node
    // Names of folders depend on where the test runs.
    if (element.closest('.folder-part, .folder-list, .folder-places')) continue
    if (element.closest('code, pre, .mono, kbd, script, noscript, datalist, body [lang=en]')) continue
    if (node.nodeType === 3) found.push(node.data)
    else for (const name of ['aria-label', 'title', 'placeholder', 'alt']) found.push(node.getAttribute(name) ?? '')
  }
  return [...new Set(found.map((text) => text.trim()))].filter((text) => /[A-Za-z]{2}/.test(text.replace(known, '')))
})()`)
