/** The most characters of a quoted value. */
const MAX_TEXT = 2_000

/** Returns a number with its noun: `1 byte`, `2 bytes`. */
export const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

/** Returns a text as it is, and any other value as JSON with shortened texts. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_key, inner) => typeof inner === 'string' ? shorten(inner, 500) : inner)

/** Returns a paragraph with a fenced code block whose fence is longer than any in its content; '' for a blank text. */
export function block (content: unknown, language = ''): string {
  if (typeof content !== 'string' || content.trim() === '') return ''
  const text = shorten(content, MAX_TEXT)
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)))
  return `\n\n${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** Returns the text, or its beginning and the number of characters that are left out. Never splits a surrogate pair. */
export function shorten (text: string, longest = MAX_TEXT): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}\n… (${text.length - longest} more characters)`
}
