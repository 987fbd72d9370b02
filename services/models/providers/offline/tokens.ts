import { createDataReader } from './quotes.ts'

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
