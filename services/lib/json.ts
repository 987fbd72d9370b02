import { isDeepStrictEqual } from 'node:util'

/**
 * Parses JSON like `JSON.parse`, but its SyntaxError does not quote the text: bodies and config.json hold secrets, and errors
 * are shown to clients.
 */
export function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError(withoutQuote(error.message))
  }
}

/** Parses a text as JSON, of unknown shape; undefined for any other text. */
export function readJson (text: string, reviver?: Parameters<typeof JSON.parse>[1]): any {
  try {
    return JSON.parse(text, reviver)
  } catch {
    return undefined
  }
}

/** True if two texts hold the same JSON value, whatever the order of the keys. Texts that are not JSON must be equal. */
export const isSameJson = (one: string, other: string): boolean =>
  one === other || isDeepStrictEqual(readJson(one) ?? one, readJson(other) ?? other)

/** Removes the excerpt from V8's message: Unexpected token 'a', ..."excerpt"... is not valid JSON. The excerpt can span lines. */
function withoutQuote (message: string) {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '').replace(/^".*" is not valid JSON$/s, 'no JSON value')
}

const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/**
 * The first bytes of a string are scanned one by one before `indexOf` searches for its end: most strings are either shorter or
 * much longer.
 */
const SHORT = 64

/** Returns which limit a JSON text in UTF-8 exceeds: nesting levels or number of values. Counts brackets and commas without parsing. */
export function exceededLimit (json: Buffer, limits: { levels: number, values?: number }): 'levels' | 'values' | undefined {
  const { levels, values = Infinity } = limits
  let depth = 0
  let count = 0
  let inString = false
  let short = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (inString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) inString = false
      else if (at > short) {
        // Continues before the backslashes in front of the next quote, which decide whether it ends the string.
        at = beforeQuote(json, at + 1)
        short = at + SHORT
      }
    } else if (byte === QUOTE) {
      inString = true
      short = at + SHORT
    } else if (byte === COMMA) {
      if (++count > values) return 'values'
    } else if (OPEN.has(byte)) {
      if (++depth > levels) return 'levels'
      if (++count > values) return 'values'
    } else if (CLOSE.has(byte)) depth--
  }
  return undefined
}

/** Returns the offset before the backslashes that precede the next quote. */
function beforeQuote (json: Buffer, from: number): number {
  const quote = json.indexOf(QUOTE, from)
  let at = (quote === -1 ? json.length : quote) - 1
  while (at >= from && json[at] === BACKSLASH) at--
  return at
}

/** True if a value is a JSON object: not a list, not null. */
export const isObject = (value: unknown): value is Record<string, any> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the value if it is an object, else an empty object: providers accept only objects as the input of a tool call, even
 * of a call that was rejected as invalid.
 */
export const asObject = (value: unknown): object => isObject(value) ? value : {}

/** The most bytes of JSON in one page of a list, besides its first entry: an answer is built in memory as a whole. */
export const PAGE_BYTES = 32 * 1024 * 1024

/** Returns the size of a value as JSON, bytes; 0 for undefined. */
export const jsonBytes = (value: unknown): number => value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))

const fixed = new WeakMap<object, string>()
let newest: { values: readonly object[], text: string } = { values: [], text: '[]' }

/**
 * Returns the JSON text of an array of objects that never change, such as the descriptions of tools. The text of each object is made once.
 * The text of the array is made again only when the array differs from the last one.
 */
export function jsonOfFixed (values: readonly object[]): string {
  if (values.length === newest.values.length && values.every((value, at) => value === newest.values[at])) return newest.text
  const texts = values.map((value) => {
    const text = fixed.get(value) ?? JSON.stringify(value)
    fixed.set(value, text)
    return text
  })
  newest = { values: [...values], text: `[${texts.join(',')}]` }
  return newest.text
}
