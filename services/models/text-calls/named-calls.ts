import { findJsonEnd } from '../../lib/nearly-json.ts'
import { mayBe, OPEN, type Reading, type ReadCalls, skipBlanks, TEXT, type TextCall } from './dialect.ts'
import { cutBefore, taggedJson, valueOfText } from './json-calls.ts'
import { readPython } from './pythonic.ts'
import { readArgs, readFunction } from './xml-calls.ts'

// Calls between the tags of a dialect: JSON, tags, Python syntax, or the name of a tool followed by its arguments.

const NAME = /[A-Za-z_][\w.:/-]*/y
/** Separators between name and arguments: Mistral's marks, DeepSeek's separator, a code fence. */
const BETWEEN = /\s*(?:\[CALL_ID\][\w-]*)?\s*(?:\[ARGS\])?\s*(?:<[|｜]tool[▁_]sep[|｜]>)?\s*(?:```(?:json)?)?\s*/y

/**
 * Returns the parser of a tool's name followed by JSON, GLM's tags, Python's parentheses or nothing. `close` is the closing tag of the
 * dialect (the way to write calls as text).
 */
function readNamed (close: string | undefined): ReadCalls {
  return (text, at, tools, isEnd): Reading => {
    NAME.lastIndex = at
    const name = NAME.exec(text)?.[0]
    if (name === undefined) return TEXT
    const behind = at + name.length
    if (behind >= text.length && !isEnd) return OPEN
    if (text[skipBlanks(text, behind)] === '(') return readPython(text, at, tools, isEnd)
    if (mayBe('<arg_key>', text, skipBlanks(text, behind)) && skipBlanks(text, behind) < text.length) {
      const { input, end } = readArgs(text, behind)
      const isOver = close !== undefined && text.startsWith(close, end)
      const isWhole = isOver || (end >= text.length && isEnd && Object.keys(input).length > 0)
      if (isWhole) return oneCall({ name, input: JSON.stringify(input) }, end)
      return end >= text.length || mayBe('<arg_key>', text, end) || mayBe(close ?? '<', text, end) ? OPEN : TEXT
    }
    BETWEEN.lastIndex = behind
    const from = behind + BETWEEN.exec(text)![0].length
    if (text[from] === '{') return readNamedJson(text, name, from, close)
    if (from >= text.length) return isEnd && tools.isTool(name) ? oneCall({ name, input: '{}' }, from) : OPEN
    if (close !== undefined && text.startsWith(close, from)) return oneCall({ name, input: '{}' }, from)
    return /^(?:\[|<|`)/.test(text.slice(from)) && text.length - from < 24 && !isEnd ? OPEN : TEXT
  }
}

function readNamedJson (text: string, name: string, from: number, close: string | undefined): Reading {
  const found = findJsonEnd(text, from)
  const read = 'end' in found ? { json: text.slice(from, found.end), end: found.end } : cutBefore(text, from, close)
  if (read === undefined) return OPEN
  if (valueOfText(read.json) === undefined) return { is: 'broken', end: read.end }
  return oneCall({ name, input: read.json }, read.end + (/^\s*```/.exec(text.slice(read.end))?.[0].length ?? 0))
}

const oneCall = (call: TextCall, end: number): Reading => ({ is: 'calls', calls: [call], end })

/** Returns the parser of calls of FunctionGemma and Gemma 4: call:name{key:<escape>value<escape>}, where <|"|> can stand for <escape>. */
function readGemma (close: string | undefined): ReadCalls {
  return (text, at, _tools, isEnd): Reading => {
    const begin = /^call:([\w.:-]+)\{/.exec(text.slice(at, at + 200))
    if (begin === null) return /^call:[\w.:-]*$|^c?a?l?l?$/.test(text.slice(at)) ? OPEN : TEXT
    const closing = close === undefined ? -1 : text.indexOf(close, at)
    if (closing === -1 && !isEnd) return OPEN
    const end = closing === -1 ? text.length : closing
    // Texts become JSON strings, and keys get quotes.
    const json = text.slice(at + begin[0].length - 1, end).trim()
      .replace(/(<escape>|<\|"\|>)([\s\S]*?)\1/g, (_all, _mark, value: string) => JSON.stringify(value))
      .replace(/"(?:[^"\\]|\\.)*"|([{,]\s*)([A-Za-z_][\w-]*)(?=\s*:)/g, (all, before?: string, key?: string) =>
        key === undefined ? all : `${before}"${key}"`)
    if (valueOfText(json) !== undefined) return oneCall({ name: begin[1], input: json }, end)
    return closing === -1 ? OPEN : { is: 'broken', end }
  }
}

/** Returns the parser of a call in any of these forms. `close` is the closing tag behind the call; undefined if the dialect has none. */
export function readBody (close: string | undefined): ReadCalls {
  const json = taggedJson(close)
  const named = readNamed(close)
  const gemma = readGemma(close)
  return (text, at, tools, isEnd) => {
    const character = text[at]
    if (character === '{' || (character === '[' && /^\[\s*(?:\{|\]|$)/.test(text.slice(at, at + 40)))) return json(text, at, tools, isEnd)
    if (character === '[') return readPython(text, at, tools, isEnd)
    if (character === '<') return readFunction(text, at, tools, isEnd)
    if (mayBe('call:', text, at)) return gemma(text, at, tools, isEnd)
    return named(text, at, tools, isEnd)
  }
}
