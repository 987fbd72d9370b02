import type { Page } from 'playwright-core'
import texts from '../../console/texts/en.json' with { type: 'json' }

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const PSEUDO = 'áƀçđéƒğĥíĵķłḿñóþɋŕšťúṽŵẋýž'
const written = (letter: string) => {
  const sign = [...PSEUDO][LETTERS.indexOf(letter.toLowerCase())]
  return letter === letter.toLowerCase() ? sign : sign.toUpperCase()
}

/** How much longer the pseudo texts are than the English ones, as a fraction. German or Finnish texts may be that long. */
const LONGER = 0.4

/** Returns a pseudo-localized text with the same {placeholders}. Its words are longer, because some letters are doubled. */
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

/** The console's texts, by the literals that the build writes for them. */
const BUILT = new Map(leaves(texts).flatMap((text) => [
  [JSON.stringify(text), text] as const,
  [`\`${text.replace(/[\\`$]/g, '\\$&')}\``, text] as const,
  [`'${text.replace(/[\\']/g, '\\$&')}'`, text] as const
]))
/** Matches texts among the values of an object literal, with any quotes. A colon that is itself a string does not count. */
const VALUE = /(?<=:)(?<![,{(]["'`]:)(?:"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*')/g

type Values = Record<string, string>

/** Returns the text of a key; the plural form if it has two. */
function textOf (key: string): string {
  const found: unknown = key.split('.').reduce((at: any, part) => at[part], texts)
  return typeof found === 'string' ? found : (found as { other: string }).other
}
const filled = (text: string, values: Values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')

/** Returns a text of the console by its key, with its {placeholders} filled in. */
export const englishText = (key: string, values: Values = {}): string => filled(textOf(key), values)

/** Returns the pseudo-localized text of a key, in the same way. */
export const pseudoText = (key: string, values: Values = {}): string => filled(pseudo(textOf(key)), values)

/**
 * Makes the console use the pseudo-localized texts. Returns a function that returns the texts that were not found in the console's files.
 */
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

/** Matches text that is not translated: names of models, tools, keys and paths, versions, file extensions, and sample input. */
export const NO_TEXT = new RegExp([
  /\w+, version|claude-[\w.-]+|gpt-6-sol|offline|assistant|scripted|config|json|model|work|notes|odd|env|ls|js|Ctrl|ms|frac|https:|test/,
  /\d[\w.+]*|\.(?:md|txt)|[\w.-]*\/[\w./-]+/
].map(({ source }) => source).join('|'), 'g')

/**
 * Returns the English texts and element names on a page, without code and without text that is marked as the service's own, which is
 * English.
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
