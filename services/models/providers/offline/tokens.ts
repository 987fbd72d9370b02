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
/** A fenced block, whose first line may name its language, or code between one or two backticks. */
const CODE = /(`{3,})(?:[\w+#.-]*[^\S\n]*\n)?([^]*?)\1|(``?)(?!`)([^]*?[^`])\3(?!`)/y
const isWord = (char = '') => /[\p{L}\p{N}_]/u.test(char)

/**
 * Returns a function that reads the quotation, the code between backticks or the JSON object that begins at a position, if one
 * does. An opening sign whose end was searched in vain opens nothing further on, so that reading a whole message takes linear time.
 */
function createDataReader (message: string): (at: number) => Data | undefined {
  const unclosed = new Set<string>()

  function code (at: number): Data | undefined {
    CODE.lastIndex = at
    const [all, , block, , inline = block] = CODE.exec(message) ?? []
    return all === undefined ? undefined : { text: inline, end: at + all.length }
  }

  /** A quote before a letter closes nothing (it's), and an escaped quote belongs to the text unless the next quote opens another one. */
  function quotation (start: number, open: string): Data | undefined {
    const closers = CLOSERS[open]
    const isStraight = closers === open
    let depth = 0
    for (let at = start; at < message.length; at++) {
      if (isStraight && message[at] === '\\' && message[at + 1] === open && !opens(message.indexOf(open, at + 2))) at++
      else if (!isStraight && message[at] === open) depth++
      else if (closers.includes(message[at]) && !isWord(message[at + 1]) && depth-- === 0) {
        const text = message.slice(start, at)
        return { text: isStraight ? text.replaceAll(`\\${open}`, open) : text, end: at + 1 }
      }
    }
    return undefined
  }

  /** Whether the quote at a position opens a quotation; a message without a further quote (-1) needs this one as its end, too. */
  const opens = (at: number) => at < 0 || (/\s/.test(message[at - 1]) && /\S/.test(message[at + 1] ?? ' '))

  function object (at: number): Data | undefined {
    let depth = 0
    for (const { 0: sign, index } of message.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
      depth += sign === '{' ? 1 : sign === '}' ? -1 : 0
      const text = message.slice(at, at + index + 1)
      if (depth === 0) return parseObject(text) && { text, end: at + text.length }
    }
    return undefined
  }

  return (at) => {
    const open = message[at]
    // An apostrophe inside a word opens no quotation.
    const isOpening = open === '`'
      ? message[at - 1] !== '`'
      : open === '{' ? /\s/.test(message[at - 1] ?? ' ') : Object.hasOwn(CLOSERS, open) && !isWord(message[at - 1])
    if (!isOpening || unclosed.has(open)) return undefined
    const data = open === '`' ? code(at) : open === '{' ? object(at) : quotation(at + 1, open)
    if (data === undefined) unclosed.add(open)
    return data
  }
}

/** Parses a text as a JSON object; undefined when it is not valid JSON or no object. */
export function parseObject (text: string): Record<string, unknown> | undefined {
  const value: unknown = readJson(text)
  return isObject(value) ? value : undefined
}
