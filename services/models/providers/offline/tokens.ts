import { readJson, isObject } from '../../../lib/json.ts'

/** A word, a quotation, a mark of punctuation or a line break of a message; `start` and `end` are its place there. */
export interface Token {
  kind: 'word' | 'quote' | 'mark' | 'line'
  /** What is meant: a quotation without its quotes. */
  text: string
  /** The text in lower case, to be compared; '' when it holds a quotation, so that data is never taken for a word of a command. */
  word: string
  start: number
  end: number
}

/** Marks behind a word belong to the sentence, but those of paths such as `..` and `C:` to the word. */
const END_MARKS = /[,.;:!?]+$/
const PATH_MARKS = /(?:^|[/\\])\.{1,3}$|^[a-z]:$/i
const URL = /https?:\/\/[^\s"`<>”»]+/iy

/** Splits a message into tokens, in linear time. As in a shell, a word may hold quotations: docs/"my notes.txt". */
export function tokenise (message: string): Token[] {
  const dataAt = createDataReader(message)
  const tokens: Token[] = []

  function read (start: number): Token {
    const char = message[start]
    if (char === '\n') return token('line', start, char)
    if (/[,;]/.test(char) || (/[.:!?)\]}'’]/.test(char) && tokens.at(-1)?.end === start)) return token('mark', start, char)
    URL.lastIndex = start
    const url = URL.exec(message)?.[0].replace(/[.,;:!?'’\]}]+$/, '')
    if (url !== undefined) return token('word', start, url.includes('(') ? url : url.replace(/[).,;:!?]+$/, ''))

    let [text, plain, end] = ['', '', start]
    while (end < message.length && !/[\s;]/.test(message[end])) {
      const data = dataAt(end)
      if (data === undefined) plain += message[end++]
      else [text, plain, end] = [text + plain + data.text, '', data.end]
      if (data !== undefined && message[end] === ',') break
    }
    const hasData = end - start > plain.length
    const marks = !hasData && PATH_MARKS.test(plain) ? '' : END_MARKS.exec(plain)?.[0] ?? ''
    end -= marks.length
    text += plain.slice(0, plain.length - marks.length)
    if (end === start) return token('mark', start, marks)
    return hasData ? { kind: dataAt(start)?.end === end ? 'quote' : 'word', text, word: '', start, end } : token('word', start, text)
  }

  for (let at = 0; at < message.length;) {
    if (message[at] !== '\n' && /\s/.test(message[at])) at++
    else at = tokens[tokens.push(read(at)) - 1].end
  }
  return tokens
}

const token = (kind: Token['kind'], start: number, text: string): Token => ({
  kind,
  text,
  word: text.toLowerCase().replaceAll('’', "'"),
  start,
  end: start + text.length
})

/** Text to be taken literally, and where it ends in the message. */
interface Data {
  text: string
  end: number
}

/** The quotes that close a quotation, by the one that opens it. */
const CLOSERS: Record<string, string> =
  { "'": "'", '"': '"', '“': '”', '‘': '’', '«': '»', '‹': '›', '„': '“”', '‚': '‘’', '”': '”' }
const TICKS = /`+/y
const isWord = (char = '') => /[\p{L}\p{N}_]/u.test(char)
const isBlank = (char = ' ') => /\s/.test(char)

/**
 * Returns a function that reads the quotation, the code between backticks or the JSON object that begins at a position, if one
 * does. What was searched in vain is not searched again, so that reading a whole message takes linear time.
 */
function createDataReader (message: string): (at: number) => Data | undefined {
  /** Signs whose end is missing in the rest of the message, and quotes that are not nested properly in it. */
  const unclosed = new Set<string>()
  const flat = new Set<string>()
  /** By quote, the position of the next one that no backslash escapes. */
  const plain: Record<string, number> = {}

  function ticksAt (at: number): string {
    TICKS.lastIndex = Math.max(at, 0)
    return at < 0 ? '' : TICKS.exec(message)![0]
  }

  function code (at: number): Data | undefined {
    const ticks = ticksAt(at)
    const isFence = ticks.length > 2
    let end = unclosed.has(ticks) ? -1 : message.indexOf(ticks, at + ticks.length)
    // A longer run of backticks does not end code in one or two.
    for (let run = isFence ? '' : ticksAt(end); run.length > ticks.length; run = ticksAt(end)) {
      end = message.indexOf(ticks, end + run.length)
    }
    if (end < 0) {
      unclosed.add(ticks)
      return ticks.length === 2 ? { text: '', end: at + 2 } : undefined
    }
    const text = message.slice(at + ticks.length, end)
    // The first line of a fenced block may name its language.
    return { text: isFence ? text.replace(/^[\w+#.-]*[^\S\n]*\n/, '') : text, end: end + ticks.length }
  }

  /**
   * Reads a quotation. A quote before a letter closes nothing (it's), a quote between a blank and a letter opens an inner
   * quotation, and an escaped quote belongs to the text when the quotation ends properly further on.
   */
  function quotation (start: number, open: string, closers: string): Data | undefined {
    const isStraight = closers === open
    const ending = (at: number) => {
      const text = message.slice(start, at)
      return { text: isStraight ? text.replaceAll(`\\${open}`, open) : text, end: at + 1 }
    }
    let [depth, first] = [0, 0]
    for (let at = start; at < message.length; at++) {
      const char = message[at]
      if (!isStraight && char === open) depth++
      if (!closers.includes(char)) continue
      const isEnd = !isWord(message[at + 1]) && !(isStraight && message[at + 1] === char)
      if (isStraight && isEscaped(at, start) && (!isEnd || nextEnds(char, at + 1))) continue
      if (isStraight && !isEnd && isBlank(message[at - 1]) && isWord(message[at + 1])) depth++
      if (isEnd && (depth-- === 0 || flat.has(open))) return ending(at)
      if (isEnd) first ||= at
    }
    const searched = first === 0 ? unclosed : flat
    searched.add(open)
    return first === 0 ? undefined : ending(first)
  }

  function isEscaped (at: number, start: number): boolean {
    let slashes = 0
    while (at - slashes > start && message[at - slashes - 1] === '\\') slashes++
    return slashes % 2 === 1
  }

  /** Whether the next quote that is not escaped ends a quotation, and does not begin one. */
  function nextEnds (quote: string, from: number): boolean {
    for (plain[quote] ??= -1; plain[quote] < from || isEscaped(plain[quote], from);) {
      const next = message.indexOf(quote, Math.max(from, plain[quote] + 1))
      plain[quote] = next < 0 ? Infinity : next
    }
    const at = plain[quote]
    return at < message.length && !(isBlank(message[at - 1]) && !isBlank(message[at + 1]))
  }

  function object (at: number): Data | undefined {
    let [depth, isText] = [0, false]
    for (let end = at; end < message.length; end++) {
      if (isText && message[end] === '\\') end++
      else if (message[end] === '"') isText = !isText
      else if (!isText && message[end] === '{') depth++
      else if (!isText && message[end] === '}' && --depth === 0) {
        const text = message.slice(at, end + 1)
        if (parseObject(text)) return { text, end: end + 1 }
        break
      }
    }
    unclosed.add('{')
    return undefined
  }

  return (at) => {
    const open = message[at]
    if (open === '`') return message[at - 1] === '`' ? undefined : code(at)
    if (unclosed.has(open)) return undefined
    if (open === '{') return isBlank(message[at - 1]) ? object(at) : undefined
    // An apostrophe inside a word opens no quotation.
    return Object.hasOwn(CLOSERS, open) && !isWord(message[at - 1]) ? quotation(at + 1, open, CLOSERS[open]) : undefined
  }
}

/** Parses a text as a JSON object; undefined when it is not valid JSON or no object. */
export function parseObject (text: string): Record<string, unknown> | undefined {
  const value: unknown = readJson(text)
  return isObject(value) ? value : undefined
}
