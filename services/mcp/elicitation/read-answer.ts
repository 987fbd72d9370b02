import type { Json, Reading } from './form-types.ts'

interface Reader {
  hint: string
  read(answer: string | string[]): Reading
}

/** RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i
/** The formats that MCP knows, without the patterns of servers: a server's regular expression could stop the whole service. */
const FORMATS: Record<string, { hint: string, fits(text: string): boolean }> = {
  email: { hint: 'an email address', fits: (text) => text.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { hint: 'an address such as https://example.com', fits: (text) => URL.canParse(text) },
  date: { hint: 'a date as YYYY-MM-DD', fits: isDate },
  'date-time': {
    hint: 'a time as YYYY-MM-DDThh:mm:ssZ',
    fits: (text) => TIME.test(text) && isDate(text.slice(0, 10)) && !isNaN(Date.parse(text))
  }
}

function isDate (text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  // A day that its month does not have becomes one of the next month.
  return !isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Reads texts: their length in characters and their format are checked. */
export function readText ({ format, minLength, maxLength }: Json): Reader {
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  const length = between(minLength, maxLength)
  return {
    hint: [known?.hint, length && `${length} characters`].filter(Boolean).join(', '),
    read (answer) {
      const value = String(answer)
      if (known !== undefined && !known.fits(value)) return { wrong: `takes ${known.hint}` }
      return isBetween([...value].length, minLength, maxLength) ? { value } : { wrong: `takes ${length} characters` }
    }
  }
}

/** Reads numbers as JSON writes them. */
export function readNumber ({ type, minimum, maximum }: Json): Reader {
  const range = between(minimum, maximum)
  const hint = `${type === 'integer' ? 'a whole number' : 'a number'}${range && ` ${range}`}`
  return {
    hint,
    read (answer) {
      const text = String(answer).trim()
      const value = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN
      const isOfType = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
      return isOfType && isBetween(value, minimum, maximum) ? { value } : { wrong: `takes ${hint}` }
    }
  }
}

const isBetween = (value: number, least: unknown, most: unknown): boolean =>
  !(typeof least === 'number' && value < least) && !(typeof most === 'number' && value > most)

/** Names a range; '' for none. */
function between (least: unknown, most: unknown): string {
  const [from, to] = [typeof least === 'number', typeof most === 'number']
  if (from && to) return `from ${least} to ${most}`
  return from ? `of at least ${least}` : to ? `of at most ${most}` : ''
}
