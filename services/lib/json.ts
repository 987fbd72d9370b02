/**
 * `JSON.parse` whose error quotes nothing of the text: bodies and config.json hold secrets, and errors are shown.
 * Throws SyntaxError.
 */
export function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError(withoutQuote(error.message))
  }
}

/** V8 says: Unexpected token 'a', ..."excerpt"... is not valid JSON. The excerpt may span lines. */
function withoutQuote (message: string) {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '').replace(/^".*" is not valid JSON$/s, 'no JSON value')
}

const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/** Bytes of a text that are looked at one by one, before its end is searched for: most texts are shorter, or much longer. */
const SHORT = 64

/** What JSON, as UTF-8 bytes, has more of than it may: levels or values. Counts its brackets and commas and builds nothing. */
export function excess (json: Buffer, most: { levels: number, values?: number }): 'levels' | 'values' | undefined {
  const { levels, values = Infinity } = most
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
        // Just before the next quote that may end it: a backslash there is looked at again.
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

/** The place before the backslashes in front of the next quote. */
function beforeQuote (json: Buffer, from: number): number {
  const quote = json.indexOf(QUOTE, from)
  let at = (quote === -1 ? json.length : quote) - 1
  while (at >= from && json[at] === BACKSLASH) at--
  return at
}

/** A value that is an object, else an empty one: what providers take as the input of a call, also of one that was told to be wrong. */
export const asObject = (value: unknown): object => typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
