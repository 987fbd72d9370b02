import { isObject, readJson } from './json.ts'

// Reads JSON as models write it: with extra or missing commas, quotation marks of other languages, unquoted names, comments, literals of
// Python (`None`), a fence or prose around it, and cut off at any place.

/**
 * Returns the value of a text that is JSON except for small faults: an extra comma, quotation marks of another language, comments, a fence
 * around it. Returns undefined if the text might have been cut off, or is ambiguous.
 */
export function readNearlyJson (text: string): { value: unknown } | undefined {
  const bare = text.trim().replace(/^```(?:json)?\s*|\s*```$/g, '')
  if (!isWhole(bare)) return undefined
  const reader: Reader = { text: bare, at: 0, isCut: false }
  const whole = readJson(bare)
  if (whole !== undefined) return { value: whole }
  const value = readValue(reader, 0)
  // Two values side by side might be two calls, or anything else.
  const isRead = value !== NONE && !reader.isCut && bare.slice(reader.at).trim() === ''
  return isRead ? { value } : undefined
}

/** True if every bracket and quotation mark of the text is closed, and each string stands where JSON allows one. */
function isWhole (text: string): boolean {
  const open: string[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || character === "'") {
      const end = endOfText(text, at)
      if (end === undefined || !/^\s*(?:[,:}\]/]|$)/.test(text.slice(end + 1, end + 200))) return false
      at = end
    } else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']')
    else if (character === '}' || character === ']') {
      if (open.pop() !== character) return false
    } else if (open.length === 0 && /\S/.test(character)) return false
  }
  return open.length === 0 && text !== ''
}

function endOfText (text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[from]) return at
  }
  return undefined
}

/**
 * Finds the end of the object or list that begins at `from`. Returns the index behind its last bracket, or the closing brackets that are
 * missing, or `isInText` if the text ends within a string: then nobody knows what else is missing.
 */
export function findJsonEnd (text: string, from: number): { end: number } | { lacks: string } | { isInText: true } {
  const open: string[] = []
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || (character === "'" && /[{[,:(]\s*$/.test(text.slice(Math.max(from, at - 8), at)))) {
      const end = endOfText(text, at)
      if (end === undefined) return { isInText: true }
      at = end
    } else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']')
    else if (character === '}' || character === ']') {
      open.pop()
      if (open.length === 0) return { end: at + 1 }
    }
  }
  return { lacks: open.reverse().join('') }
}

/** The most opening braces of a text at which an object is tried. */
const MOST_PLACES = 50

/** Returns the complete objects of JSON, or nearly JSON, in a text, in their order. */
export function objectsIn (text: string): Array<Record<string, unknown>> {
  const objects: Array<Record<string, unknown>> = []
  let at = text.indexOf('{')
  for (let places = 0; at !== -1 && places < MOST_PLACES; places++) {
    const found = findJsonEnd(text, at)
    const whole = 'end' in found ? text.slice(at, found.end) : ''
    const value = readJson(whole) ?? readNearlyJson(whole)?.value
    if (isObject(value)) objects.push(value)
    at = text.indexOf('{', isObject(value) ? at + whole.length : at + 1)
  }
  return objects
}

/** The deepest nesting that is read. */
const MOST_LEVELS = 40
/** The most objects and lists that are read from one text. */
const MOST_VALUES = 20

interface Reader {
  text: string
  at: number
  /** True if the text ended inside of a value, whose last part is left out. */
  isCut: boolean
}

/** The placeholder for a missing value. */
const NONE = Symbol('no value')

/**
 * Returns the objects and lists of JSON in a text, in their order: among prose, in fences, one after the other. They are read as models
 * write them: with single quotes, unquoted names, comments, quotation marks within a string, extra or missing commas. Where the text is cut
 * off, the unfinished part is left out. Valid JSON is read as `JSON.parse` reads it.
 */
export function looseValuesIn (text: string): unknown[] {
  const values: unknown[] = []
  const reader: Reader = { text, at: 0, isCut: false }
  while (values.length < MOST_VALUES) {
    const from = nextOpening(reader)
    if (from === undefined) break
    reader.at = from
    reader.isCut = false
    const value = text[from] === '{' ? readObject(reader, 0) : readList(reader, 0, true)
    if (value === NONE) reader.at = from + 1
    else values.push(value)
  }
  return values
}

function nextOpening ({ text, at }: Reader): number | undefined {
  const places = [text.indexOf('{', at), text.indexOf('[', at)].filter((place) => place !== -1)
  return places.length === 0 ? undefined : Math.min(...places)
}

/** Skips blanks, commas and comments. Returns the next character; undefined at the end. */
function skipTo (reader: Reader): string | undefined {
  const skipped = /(?:[\s,]+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
  skipped.lastIndex = reader.at
  reader.at += skipped.exec(reader.text)![0].length
  return reader.text[reader.at]
}

function readObject (reader: Reader, level: number): unknown {
  reader.at++
  const entries: Array<[string, unknown]> = []
  for (;;) {
    const next = skipTo(reader)
    if (next === undefined) break
    if (next === '}') {
      reader.at++
      return Object.fromEntries(entries)
    }
    const name = QUOTES.has(next) ? readText(reader, next) : readName(reader)
    if (name === undefined) break
    if (skipTo(reader) !== ':') {
      if (reader.at < reader.text.length) return NONE
      break
    }
    reader.at++
    const value = readValue(reader, level + 1)
    if (value === NONE) break
    entries.push([name, value])
    if (reader.isCut) break
  }
  // A brace with nothing readable behind it is part of the prose.
  if (reader.at < reader.text.length || entries.length === 0) return NONE
  reader.isCut = true
  return Object.fromEntries(entries)
}

/**
 * Reads a list. `isTop`: prose has brackets, too, so at the top level a list counts only if its first entry is an object, a list or a
 * quoted string.
 */
function readList (reader: Reader, level: number, isTop = false): unknown {
  reader.at++
  const entries: unknown[] = []
  for (;;) {
    const next = skipTo(reader)
    if (next === undefined) break
    if (next === ']') {
      reader.at++
      return isTop && entries.length === 0 ? NONE : entries
    }
    if (next === '}' || (isTop && entries.length === 0 && !/["{[]/.test(next))) return NONE
    const value = readValue(reader, level + 1)
    if (value === NONE) break
    entries.push(value)
    if (reader.isCut) break
  }
  if (reader.at < reader.text.length || entries.length === 0) return NONE
  reader.isCut = true
  return entries
}

function readValue (reader: Reader, level: number): unknown {
  const next = skipTo(reader)
  if (next === undefined || level > MOST_LEVELS) return NONE
  if (next === '{') return readInner(reader, () => readObject(reader, level), {})
  if (next === '[') return readInner(reader, () => readList(reader, level), [])
  if (QUOTES.has(next)) return readText(reader, next) ?? NONE
  return readBare(reader)
}

/** Reads the inside of an object or list. Returns `empty` if the text was cut off before the first entry. */
function readInner (reader: Reader, read: () => unknown, empty: unknown): unknown {
  const value = read()
  if (value !== NONE || reader.at < reader.text.length) return value
  reader.isCut = true
  return empty
}

const QUOTES = new Set(['"', "'"])
const ESCAPED: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }
/** Matches what can follow the mark that ends a string. */
const AFTER_TEXT = /\s*(?:[,:}\]]|$|["'][^"'\n]{1,60}["']\s*:)|[^\S\n]*\n\s*["'}\]]/y

/**
 * Reads a quoted string; undefined if it has no end, with the reader at the end of the text. A quotation mark that does not end the string
 * belongs to it.
 */
function readText (reader: Reader, quote: string): string | undefined {
  const { text } = reader
  let read = ''
  let from = reader.at + 1
  const ends = new RegExp(`[\\\\${quote}]`, 'g')
  for (;;) {
    ends.lastIndex = from
    const mark = ends.exec(text)
    if (mark === null) {
      reader.at = text.length
      return undefined
    }
    const { index } = mark
    read += text.slice(from, index)
    from = index + 1
    if (mark[0] === quote) {
      AFTER_TEXT.lastIndex = from
      if (AFTER_TEXT.test(text)) {
        reader.at = from
        return read
      }
      read += quote
      continue
    }
    const code = /^u([0-9a-fA-F]{4})/.exec(text.slice(from, from + 5))?.[1]
    const letter = text[from] ?? ''
    read += code === undefined ? ESCAPED[letter] ?? letter : String.fromCharCode(parseInt(code, 16))
    from += code === undefined ? 1 : 5
  }
}

/** Reads an unquoted name. */
function readName (reader: Reader): string | undefined {
  const name = /[\p{L}_$][\p{L}\p{N}_$-]*/uy
  name.lastIndex = reader.at
  const found = name.exec(reader.text)?.[0]
  if (found !== undefined) reader.at += found.length
  return found
}

const WORDS: Record<string, unknown> = { true: true, false: false, null: null, none: null, undefined: null }

/** Reads a number, a word such as true, or an unquoted string up to the end of its line or entry. */
function readBare (reader: Reader): unknown {
  const bare = /[^,}\]\n]+/y
  bare.lastIndex = reader.at
  const found = bare.exec(reader.text)
  if (found === null) return NONE
  reader.at += found[0].length
  const word = found[0].trim()
  // A word or number at the very end of the text can be incomplete.
  if (reader.at === reader.text.length) return NONE
  if (Object.hasOwn(WORDS, word.toLowerCase())) return WORDS[word.toLowerCase()]
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(word) ? Number(word) : word
}
