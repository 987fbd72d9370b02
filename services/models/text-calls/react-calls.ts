import { findJsonEnd } from '../../lib/nearly-json.ts'
import { OPEN, type Reading, type ReadCalls, skipBlanks, TEXT } from './dialect.ts'
import { bareJson } from './json-calls.ts'
import { bareList, readPythonCall } from './pythonic.ts'

// Calls in the ReAct format: a line "Action: name", and behind it "Action Input:" with JSON or plain text.

const ACTION = /\*{0,2}Action:?\*{0,2}:?[^\S\n]*/y
const NAMED = /`?([A-Za-z_][\w.:/-]*)`?[^\S\n]*(?:\n\s*\*{0,2}Action[ _]Input:?\*{0,2}:?\s*(?:```(?:json)?\s*)?)?/y

/** Parses the call that begins with `Action:`. */
export const readAction: ReadCalls = (text, at, tools, isEnd): Reading => {
  ACTION.lastIndex = at
  const from = skipBlanks(text, at + ACTION.exec(text)![0].length)
  const rest = text.slice(from, from + 40)
  if (rest === '') return isEnd ? TEXT : OPEN
  const fence = /^```(?:json)?\s*(?=[[{])/.exec(rest)?.[0]
  if (fence !== undefined || rest.startsWith('{') || rest.startsWith('[')) {
    const read = readValue(text, from + (fence?.length ?? 0), tools, isEnd)
    return read.is !== 'calls' ? read : { ...read, end: read.end + (/^\s*```/.exec(text.slice(read.end))?.[0].length ?? 0) }
  }
  if (rest.startsWith('`') && !/^`[A-Za-z]/.test(rest)) return isEnd || !/^`{1,3}(?:j?s?o?n?)\s*$/.test(rest) ? TEXT : OPEN
  NAMED.lastIndex = from
  const named = NAMED.exec(text)
  if (named === null) return TEXT
  const [head, name] = named
  const here = from + head.length
  const isKnown = tools.isTool(name)
  if (here >= text.length && !isEnd) return isKnown || tools.beginsName(name) ? OPEN : TEXT
  if (!isKnown) return TEXT
  if (text[here] === '(') {
    const read = readPythonCall(text, from, tools)
    return read === undefined ? OPEN : read === null ? TEXT : { is: 'calls', calls: [read.value], end: read.end }
  }
  if (!/Action[ _]Input/.test(head)) {
    if (here >= text.length) return { is: 'calls', calls: [{ name, input: '{}' }], end: here }
    return isEnd || text.length - here > 40 || !/^\s*(?:\*{0,2}A[\w :]*)?$/.test(text.slice(here)) ? TEXT : OPEN
  }
  return readInput(text, here, { name, parameters: tools.parametersOf(name) }, isEnd)
}

const readValue: ReadCalls = (text, at, tools, isEnd) =>
  text[at] === '[' && !/^\[\s*(?:\{|$)/.test(text.slice(at, at + 40)) ? bareList(text, at, tools, isEnd) : bareJson(text, at, tools, isEnd)

/** Parses the input of a call: a JSON object, or a line of plain text, which becomes the value of the tool's first parameter. */
function readInput (text: string, at: number, { name, parameters }: { name: string, parameters: string[] }, isEnd: boolean): Reading {
  if (text[at] === '{') {
    const found = findJsonEnd(text, at)
    if (!('end' in found)) return OPEN
    const end = found.end + (/^\s*```/.exec(text.slice(found.end))?.[0].length ?? 0)
    return { is: 'calls', calls: [{ name, input: text.slice(at, found.end) }], end }
  }
  const end = text.indexOf('\n', at)
  if (end === -1 && !isEnd) return OPEN
  const line = text.slice(at, end === -1 ? undefined : end).trim().replace(/^(["'])(.*)\1$/, '$2')
  const isNone = line === '' || /^(?:none|null|n\/a)$/i.test(line)
  if (!isNone && parameters.length === 0) return { is: 'broken', end: end === -1 ? text.length : end }
  const input = isNone ? '{}' : JSON.stringify({ [parameters[0]]: line })
  return { is: 'calls', calls: [{ name, input }], end: end === -1 ? text.length : end }
}
