import { OPEN, type Reading, type ReadCalls, skipBlanks, TEXT, type TextCall, type OfferedTools } from './dialect.ts'

// Calls in Python syntax: name(key="value", other=[1, 2]), alone or in a list, and possibly inside print(…).

/** A parsed value and the position behind it; undefined if more text is needed, null if the text is not Python. */
type Read<T> = { value: T, end: number } | undefined | null

const NAME = /[A-Za-z_][\w.:/-]*/y
const NUMBER = /[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+)/y
const WORDS: Record<string, unknown> = { True: true, False: false, None: null, true: true, false: false, null: null }
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', 0: '\0', '\n': '' }

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function readText (text: string, at: number): Read<string> {
  const prefix = /[rbuf]{0,2}/iy
  prefix.lastIndex = at
  const isRaw = prefix.exec(text)![0].toLowerCase().includes('r')
  const from = prefix.lastIndex
  const quote = text[from]
  const mark = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  let value = ''
  for (let here = from + mark.length; here < text.length; here++) {
    if (text.startsWith(mark, here)) return { value, end: here + mark.length }
    if (text[here] !== '\\' || isRaw) {
      value += text[here]
      continue
    }
    here++
    const code = /^(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8}))/i.exec(text.slice(here, here + 9))
    if (code !== null) {
      value += String.fromCodePoint(Math.min(parseInt(code[1] ?? code[2] ?? code[3], 16), 0x10ffff))
      here += code[0].length - 1
    } else value += ESCAPES[text[here]] ?? (text[here] === quote || text[here] === '\\' ? text[here] : `\\${text[here] ?? ''}`)
  }
  return undefined
}

function readValue (text: string, at: number, level = 0): Read<unknown> {
  const character = text[at]
  if (character === undefined) return undefined
  if (level > 32) return null
  if (/^[rbuf]{0,2}["']/i.test(text.slice(at, at + 3))) return readText(text, at)
  if (character === '[' || character === '(') return readList(text, at, level)
  if (character === '{') return readDictionary(text, at, level)
  const number = matchAt(NUMBER, text, at)
  if (number !== undefined && at + number.length === text.length) return undefined
  if (number !== undefined) return { value: Number(number.replaceAll('_', '')), end: at + number.length }
  const word = matchAt(NAME, text, at)
  if (word === undefined) return /^[-+.]+$/.test(text.slice(at)) ? undefined : null
  if (at + word.length === text.length) return undefined
  return Object.hasOwn(WORDS, word) ? { value: WORDS[word], end: at + word.length } : null
}

function readList (text: string, at: number, level: number): Read<unknown[]> {
  const close = text[at] === '[' ? ']' : ')'
  const value: unknown[] = []
  let here = skipBlanks(text, at + 1)
  while (text[here] !== close) {
    const each = readValue(text, here, level + 1)
    if (!each) return each
    value.push(each.value)
    here = skipBlanks(text, each.end)
    if (text[here] === ',') here = skipBlanks(text, here + 1)
    else if (text[here] !== close) return here >= text.length ? undefined : null
  }
  return { value, end: here + 1 }
}

function readDictionary (text: string, at: number, level: number): Read<Record<string, unknown>> {
  const value: Array<[string, unknown]> = []
  let here = skipBlanks(text, at + 1)
  while (text[here] !== '}') {
    const key = readValue(text, here, level + 1)
    if (!key) return key
    here = skipBlanks(text, key.end)
    if (text[here] !== ':') return here >= text.length ? undefined : null
    const each = readValue(text, skipBlanks(text, here + 1), level + 1)
    if (!each) return each
    value.push([String(key.value), each.value])
    here = skipBlanks(text, each.end)
    if (text[here] === ',') here = skipBlanks(text, here + 1)
    else if (text[here] !== '}') return here >= text.length ? undefined : null
  }
  return { value: Object.fromEntries(value), end: here + 1 }
}

/**
 * Parses the arguments behind the opening parenthesis at `at`. A positional argument gets the name that `parameters` has at its position.
 */
function readArguments (text: string, at: number, parameters: () => string[]): Read<Record<string, unknown>> {
  const value: Array<[string, unknown]> = []
  let here = skipBlanks(text, at + 1)
  while (text[here] !== ')') {
    if (here >= text.length) return undefined
    const key = matchAt(/[A-Za-z_][\w-]*(?=\s*[=:][^=])/y, text, here)
    if (key === undefined && /^[A-Za-z_][\w-]*\s*[=:]?$/.test(text.slice(here))) return undefined
    const name = key ?? parameters()[value.length]
    if (name === undefined) return null
    const from = key === undefined ? here : here + key.length + /^\s*[=:]\s*/.exec(text.slice(here + key.length))![0].length
    const each = readValue(text, from)
    if (!each) return each
    value.push([name, each.value])
    here = skipBlanks(text, each.end)
    if (text[here] === ',') here = skipBlanks(text, here + 1)
    else if (text[here] !== ')') return here >= text.length ? undefined : null
  }
  return { value: Object.fromEntries(value), end: here + 1 }
}

/** Parses one call. Models also write `print(…)` around a call, or `.call` behind its name. */
export function readPythonCall (text: string, at: number, tools: OfferedTools): Read<TextCall> {
  const written = matchAt(NAME, text, at)
  if (written === undefined) return at >= text.length ? undefined : null
  const open = skipBlanks(text, at + written.length)
  if (text[open] !== '(') return open >= text.length ? undefined : null
  if (written === 'print') {
    const inner = readPythonCall(text, skipBlanks(text, open + 1), tools)
    if (!inner) return inner
    const end = skipBlanks(text, inner.end)
    return text[end] === ')' ? { value: inner.value, end: end + 1 } : end >= text.length ? undefined : null
  }
  const name = written.replace(/\.call$/, '')
  const input = readArguments(text, open, () => tools.parametersOf(name))
  return input && { value: { name, input: JSON.stringify(input.value) }, end: input.end }
}

const OVER: Record<string, RegExp> = { '': /^(?:\s*;)?/, ']': /^\s*\]/ }

/** Parses one or more calls: in a list, if the text at `at` is `[`, otherwise one behind the other. */
export const readPython: ReadCalls = (text, at, tools): Reading => {
  const close = text[at] === '[' ? ']' : ''
  const calls: TextCall[] = []
  let here = skipBlanks(text, close === '' ? at : at + 1)
  for (;;) {
    const read = readPythonCall(text, here, tools)
    if (read === undefined) return OPEN
    if (read === null) return calls.length === 0 || close !== '' ? TEXT : { is: 'calls', calls, end: here }
    calls.push(read.value)
    here = read.end
    const next = here + /^\s*[,;]?\s*/.exec(text.slice(here))![0].length
    if (close === '') {
      const name = matchAt(NAME, text, next)
      if (name === undefined || (next + name.length < text.length && !/^\s*\(/.test(text.slice(next + name.length)))) break
      if (next + name.length >= text.length) return OPEN
      here = next
    } else if (text[next] === ']') {
      here = next
      break
    } else if (next >= text.length) return OPEN
    else if (next === here) return TEXT
    else here = next
  }
  return { is: 'calls', calls, end: here + (OVER[close].exec(text.slice(here))?.[0].length ?? 0) }
}

/** Parses a list of calls without any mark. It counts only if each call names an offered tool. */
export const bareList: ReadCalls = (text, at, tools, isEnd): Reading => {
  const from = skipBlanks(text, at + 1)
  const name = matchAt(NAME, text, from)
  if (name === undefined) return from >= text.length && !isEnd ? OPEN : TEXT
  const open = skipBlanks(text, from + name.length)
  if (open >= text.length) return isEnd || !tools.beginsName(name) ? TEXT : OPEN
  if (text[open] !== '(' || !tools.isTool(name.replace(/\.call$/, ''))) return TEXT
  const read = readPython(text, at, tools, isEnd)
  return read.is === 'calls' && !read.calls.every((call) => tools.isTool(call.name)) ? TEXT : read
}
