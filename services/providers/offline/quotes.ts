import { inputObject } from './tool-input.ts'

/**
 * A message in which marks replace quoted text, inputs of tools and URLs. The rest can be matched word by word, and
 * nothing inside quotes is mistaken for a command or a separator.
 */
export interface Marked {
  /** The message with marks. */
  text: string
  /** Returns the original text of a slice of `text`, quotes included. */
  raw(slice: string): string
  /** Returns a slice that is a single quotation without its quotes, and any other slice in its original form. */
  plain(slice: string): string
  /** Like `plain`, but every quotation loses its quotes: for paths such as 'my folder'/notes.txt. */
  unquoted(slice: string): string
}

/** Source of a pattern that matches one mark: a number between two characters of Unicode's private use area. */
export const MARK = '\\uE000\\d+\\uE001'
const WHOLE = new RegExp(`^\\s*${MARK}\\s*$`)
const EACH = new RegExp(MARK, 'g')

const CLOSING: Record<string, string> = {
  "'": "'",
  '"': '"',
  '\u201C': '\u201D',
  '\u2018': '\u2019',
  '\u00AB': '\u00BB',
  '\u2039': '\u203A',
  '\u201E': '\u201C\u201D',
  '\u201A': '\u2018\u2019',
  '\u201D': '\u201D'
}
const WORD = /[\p{L}\p{N}_]/u
const isWord = (char: string | undefined) => char !== undefined && WORD.test(char)
const isSpace = (char: string | undefined) => char === undefined || /\s/.test(char)

export function markQuotes (message: string): Marked {
  const items: Array<{ raw: string, text: string }> = []
  let text = ''
  for (let at = 0; at < message.length;) {
    const found = quotation(message, at) ?? inputObject(message, at) ?? url(message, at) ?? reserved(message, at)
    if (found) {
      text += `\uE000${items.length}\uE001`
      items.push({ raw: message.slice(at, found.end), text: found.text })
      at = found.end
    } else {
      text += message[at++]
    }
  }
  const replace = (slice: string, key: 'raw' | 'text') => slice.replace(EACH, (mark) => items[Number(mark.slice(1, -1))][key])
  return {
    text,
    raw: (slice) => replace(slice, 'raw'),
    plain: (slice) => WHOLE.test(slice) ? replace(slice.trim(), 'text') : replace(slice, 'raw'),
    unquoted: (slice) => replace(slice, 'text')
  }
}

function quotation (message: string, at: number): { end: number, text: string } | undefined {
  const open = message[at]
  if (open === '`') return code(message, at)
  const closers = CLOSING[open]
  // An apostrophe inside a word opens no quotation.
  if (!closers || isWord(message[at - 1])) return undefined
  const end = closing(message, at + 1, open, closers)
  if (end === undefined) return undefined
  const text = message.slice(at + 1, end)
  return { end: end + 1, text: closers === open && open !== '\u201D' ? unescaped(text, open) : text }
}

/** Reads text between one or two backticks, or a fenced block, whose first line may name its language. */
function code (message: string, at: number): { end: number, text: string } | undefined {
  const fence = /`+/y
  fence.lastIndex = at
  const ticks = fence.exec(message)![0]
  const start = at + ticks.length
  for (let end = message.indexOf(ticks, start); end >= 0; end = message.indexOf(ticks, end + 1)) {
    if (message[end + ticks.length] === '`' && ticks.length < 3) {
      while (message[end + 1] === '`') end++
      continue
    }
    const text = message.slice(start, end)
    return { end: end + ticks.length, text: ticks.length < 3 ? text : text.replace(/^[\w+#.-]*[^\S\n]*\n/, '') }
  }
  return ticks.length === 2 ? { end: start, text: '' } : undefined
}

/**
 * Returns the end of a quotation. A quote before a letter closes nothing (it's), a quote between a blank and a letter
 * opens an inner quotation, and an escaped quote belongs to the text when the quotation ends properly further on.
 */
function closing (message: string, start: number, open: string, closers: string): number | undefined {
  const same = closers === open
  let depth = 0
  let first: number | undefined
  for (let at = start; at < message.length; at++) {
    const char = message[at]
    if (!same && char === open) depth++
    if (!closers.includes(char)) continue
    const closes = !isWord(message[at + 1]) && !(same && message[at + 1] === char && at + 1 < message.length)
    if (same && isEscaped(message, at, start) && (!closes || endsLater(message, at + 1, char))) continue
    if (closes) {
      first ??= at
      if (depth === 0) return at
      depth--
    } else if (same && isSpace(message[at - 1]) && isWord(message[at + 1])) depth++
  }
  return first
}

function isEscaped (message: string, at: number, start: number): boolean {
  let slashes = 0
  while (at - slashes - 1 >= start && message[at - slashes - 1] === '\\') slashes++
  return slashes % 2 === 1
}

/** Whether an unescaped closing quote comes before the next opening one. */
function endsLater (message: string, start: number, quote: string): boolean {
  for (let at = message.indexOf(quote, start); at >= 0; at = message.indexOf(quote, at + 1)) {
    if (isEscaped(message, at, start)) continue
    return !(isSpace(message[at - 1]) && !isSpace(message[at + 1]))
  }
  return false
}

/** Removes the backslash of escaped quotes of the kind that encloses the text. */
const unescaped = (text: string, quote: string) => text.includes(`\\${quote}`) ? text.replaceAll(`\\${quote}`, quote) : text

function url (message: string, at: number): { end: number, text: string } | undefined {
  if ((message[at] !== 'h' && message[at] !== 'H') || isWord(message[at - 1])) return undefined
  const pattern = /https?:\/\/[^\s"`<>\u201D\u00BB]+/iy
  pattern.lastIndex = at
  const found = pattern.exec(message)?.[0]
  if (!found) return undefined
  let text = found.replace(/[.,;:!?'\u2019\]}]+$/, '')
  if (text.endsWith(')') && !text.includes('(')) text = text.replace(/[).,;:!?]+$/, '')
  return { end: at + text.length, text }
}

/** The characters of marks are replaced by marks too, so that a message cannot forge a mark. */
function reserved (message: string, at: number) {
  return message[at] === '\uE000' || message[at] === '\uE001' ? { end: at + 1, text: message[at] } : undefined
}
