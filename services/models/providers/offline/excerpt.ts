import { readJson, isObject } from '../../../lib/json.ts'

/**
 * The characters that stand for quotations, certain paths and URLs (the literals) in a mask. A mask is the message in lower case and of the
 * same length, with every character of a literal replaced. Rules are matched against the mask, so that data is never taken for a command.
 * Values are cut from the message.
 */
export const [QUOTE, PATH, URL] = ['\uE000', '\uE001', '\uE002']

/** Returns the source of a regular expression for one of several words (`a|b`), with optional punctuation around them. */
export const wordOf = (choices: string): string => `(?<![^\\s,.;:!?])(?:${choices})(?=[,.:!?]*(?:[\\s;]|$))`

/** Text to be taken literally, and its place in the message. */
interface Literal {
  sign: string
  text: string
  start: number
  end: number
}

/** A part of a message. */
export class Excerpt {
  readonly source: { message: string, mask: string, literals: Literal[] }
  readonly start: number
  readonly end: number

  constructor (source: Excerpt['source'], start = 0, end = source.message.length) {
    this.source = source
    this.start = start
    this.end = end
  }

  get mask (): string {
    return this.source.mask.slice(this.start, this.end)
  }

  /** The text as the user wrote it. */
  get written (): string {
    return this.source.message.slice(this.start, this.end)
  }

  get isQuote (): boolean {
    return /^\uE000+$/.test(this.mask)
  }

  /** The text that the user means: a single word loses the quotes in it, as in a shell. Several words stay as they were written. */
  get text (): string {
    if (/\s/.test(this.mask)) return this.written
    let [text, at] = ['', this.start]
    for (const { start, end, text: inner } of this.source.literals.filter(({ start, end }) => start >= this.start && end <= this.end)) {
      text += this.source.message.slice(at, start) + inner
      at = end
    }
    return text + this.source.message.slice(at, this.end)
  }

  /** Returns a part of this excerpt without the blanks around it. */
  part (from: number, to = this.end - this.start): Excerpt {
    const mask = this.mask.slice(from, to)
    const start = this.start + from + mask.length - mask.trimStart().length
    return new Excerpt(this.source, start, Math.max(start, this.start + from + mask.trimEnd().length))
  }

  /** Matches an expression, and returns its groups as excerpts. A group that did not match is left out. */
  match (expression: RegExp): Record<string, Excerpt> | undefined {
    const found = expression.exec(this.mask)
    const groups = Object.entries(found?.indices?.groups ?? {})
    return found === null ? undefined : Object.fromEntries(groups.flatMap(([name, at]) => at ? [[name, this.part(...at)]] : []))
  }

  /** Returns the parts between the matches of an expression. */
  split (expression: RegExp): Excerpt[] {
    const places = [...this.mask.matchAll(expression)].map(({ 0: { length }, index }) => [index, index + length])
    return places.map(([to], nth) => this.part(places[nth - 1]?.[1] ?? 0, to)).concat(this.part(places.at(-1)?.[1] ?? 0))
  }
}

/** Reads a whole message, in linear time. */
export function readMessage (message: string): Excerpt {
  const literals = literalsIn(message)
  const masked = literals.map(({ sign, start, end }, nth) =>
    plain(message.slice(literals[nth - 1]?.end ?? 0, start)) + sign.repeat(end - start))
  const mask = (masked.join('') + plain(message.slice(literals.at(-1)?.end ?? 0))).replace(WORD, maskPath)
  return new Excerpt({ message, mask, literals })
}

const plain = (text: string) =>
  text.replace(/[\uE000-\uE002]/g, 'x').replaceAll('’', "'").replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Matches a word: the characters between blanks and semicolons. A comma behind a quotation ends a word, too. */
const WORD = /(?:[^\s;,]|(?<!\uE000),)+/g
/** Punctuation behind a word belongs to the sentence, except for that of paths such as `..` and `C:`. */
const MARKS = /(?<![,.:!?])[,.:!?]+$/
const MARKS_OF_PATH = /(?:^|[/\\])\.{1,3}$|^[a-z]:$/

/** Masks a word that holds a dot, a slash or a quotation. */
function maskPath (word: string): string {
  const end = MARKS_OF_PATH.test(word) ? word.length : word.length - (MARKS.exec(word)?.[0].length ?? 0)
  const name = word.slice(0, end)
  const isPath = /[./\\]/.test(name) ? !name.includes(URL) : /\uE000[^\uE000]|[^\uE000]\uE000/.test(name)
  return isPath ? PATH.repeat(end) + word.slice(end) : word
}

/** The quotes that close a quotation, by the one that opens it. */
const CLOSERS: Record<string, string> =
  { "'": "'", '"': '"', '“': '”', '‘': '’', '«': '»', '‹': '›', '„': '“”', '‚': '‘’', '”': '”' }
/** Where a literal can begin; an apostrophe inside a word opens no quotation. */
const OPENING = /(?<![\p{L}\p{N}_])['"“‘«‹„‚”]|(?<!`)`|(?<!\S)\{|(?<![^\s,;])https?:(?=\/\/)/giu
/** A fenced block, whose first line can name its language, or code between one or two backticks. */
const CODE = /(`{3,})(?:[\w+#.-]*[^\S\n]*\n)?([^]*?)\1|(``?)(?!`)([^]*?[^`])\3(?!`)/y
const ADDRESS = /https?:\/\/[^\s"`<>”»]+/iy

/**
 * Finds quotations, code, JSON objects and URLs. If the end of a literal is not found, its opening sign is ignored from then on, to save
 * time.
 */
function literalsIn (message: string): Literal[] {
  const literals: Literal[] = []
  const unclosed = new Set<string>()
  const openings = new RegExp(OPENING)
  for (let found = openings.exec(message); found !== null; found = openings.exec(message)) {
    const { 0: opening, index: start } = found
    if (unclosed.has(opening)) continue
    const literal = opening === '`'
      ? code(message, start)
      : opening === '{'
        ? jsonObject(message, start)
        : opening.length > 1 ? address(message, start) : quotation(message, start)
    if (literal === undefined) unclosed.add(opening)
    else {
      literals.push({ sign: QUOTE, start, ...literal })
      openings.lastIndex = literal.end
    }
  }
  return literals
}

function code (message: string, start: number) {
  CODE.lastIndex = start
  const [all, , block, , inline = block] = CODE.exec(message) ?? []
  return all === undefined ? undefined : { text: inline, end: start + all.length }
}

function address (message: string, start: number) {
  ADDRESS.lastIndex = start
  const url = ADDRESS.exec(message)?.[0].replace(/(?<![.,;:!?'’\]}])[.,;:!?'’\]}]+$/, '') ?? ''
  const text = url.includes('(') ? url : url.replace(/(?<![).,;:!?])[).,;:!?]+$/, '')
  return text === '' ? undefined : { sign: URL, text, end: start + text.length }
}

/**
 * Reads a quotation. A quote before a letter does not close it (it's), and an escaped quote belongs to the text unless the next quote opens
 * another quotation.
 */
function quotation (message: string, start: number) {
  const open = message[start]
  const closers = CLOSERS[open]
  const isStraight = closers === open
  let depth = 0
  for (let at = start + 1; at < message.length; at++) {
    if (isStraight && message[at] === '\\' && message[at + 1] === open && !opens(message, message.indexOf(open, at + 2))) at++
    else if (!isStraight && message[at] === open) depth++
    else if (closers.includes(message[at]) && !/[\p{L}\p{N}_]/u.test(message[at + 1] ?? '') && depth-- === 0) {
      const text = message.slice(start + 1, at)
      return { text: isStraight ? text.replaceAll(`\\${open}`, open) : text, end: at + 1 }
    }
  }
  return undefined
}

/**
 * True if the quote at a position opens another quotation, or if there is no further quote (-1). In both cases, the escaped quote before it
 * closes the current quotation.
 */
const opens = (message: string, at: number) => at < 0 || (/\s/.test(message[at - 1]) && /\S/.test(message[at + 1] ?? ' '))

function jsonObject (message: string, start: number) {
  let depth = 0
  for (const { 0: sign, index } of message.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    depth += sign === '{' ? 1 : sign === '}' ? -1 : 0
    const text = message.slice(start, start + index + 1)
    if (depth === 0) return parseObject(text) && { text, end: start + text.length }
  }
  return undefined
}

/** Parses a text as a JSON object; undefined when it is not valid JSON or no object. */
export function parseObject (text: string): Record<string, unknown> | undefined {
  const value: unknown = readJson(text)
  return isObject(value) ? value : undefined
}
