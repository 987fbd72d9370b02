import type { Page } from 'playwright-core'
import texts from '../../console/texts/en.json' with { type: 'json' }

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const PSEUDO = 'áƀçđéƒğĥíĵķłḿñóþɋŕšťúṽŵẋýž'
const written = (letter: string) => {
  const sign = [...PSEUDO][LETTERS.indexOf(letter.toLowerCase())]
  return letter === letter.toLowerCase() ? sign : sign.toUpperCase()
}

/** Returns a text in a language that nobody speaks, with the same {placeholders}. */
const pseudo = (text: string) => text.replace(/\{\w+\}|[A-Za-z]/g, (piece) => piece.startsWith('{') ? piece : written(piece))

const leaves = (value: unknown): string[] => typeof value === 'string' ? [value] : Object.values(value as object).flatMap(leaves)

/** The texts by what the build writes for them. */
const BUILT = new Map(leaves(texts).flatMap((text) => [
  [JSON.stringify(text), text] as const,
  [`\`${text.replace(/[\\`$]/g, '\\$&')}\``, text] as const,
  [`'${text.replace(/[\\']/g, '\\$&')}'`, text] as const
]))
/** Texts among the values of an object, in any quotation marks. */
const VALUE = /(?<=:)(?:"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*')/g

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

/** Returns what is English on a page: its texts and the names of its elements, without code and what a user or the service has written. */
export const englishOn = (page: Page, known: RegExp) => page.evaluate<string[]>(`(() => {
  const known = ${known}
  const found = [document.title]
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.nodeType === 3 ? node.parentElement : node
    if (element.closest('code, pre, .mono, kbd, script, noscript, datalist')) continue
    if (node.nodeType === 3) found.push(node.data)
    else for (const name of ['aria-label', 'title', 'placeholder', 'alt']) found.push(node.getAttribute(name) ?? '')
  }
  return [...new Set(found.map((text) => text.trim()))].filter((text) => /[A-Za-z]{2}/.test(text.replace(known, '')))
})()`)
