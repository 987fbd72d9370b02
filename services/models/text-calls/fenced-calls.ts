import { OPEN, type Reading, type ReadCalls, skipBlanks, TEXT, type TextCall } from './dialect.ts'
import { bareJson } from './json-calls.ts'
import { bareList, readPython } from './pythonic.ts'

// Calls in Markdown code fences of three backticks: Python syntax as in Gemma's tool_code, or JSON.

const FENCE = /(`{3,})([^\n`]*)(\n|$)/y
const WITH_JSON = new Set(['', 'json', 'jsonc', 'json5', 'tool_call', 'tool_calls', 'tool', 'tool_use', 'function_call', 'function'])
const WITH_PYTHON = new Set(['tool_code', 'tool_call', 'tool_calls', 'tool'])
const KINDS = [...WITH_JSON, ...WITH_PYTHON]

/** Parses a code fence that holds calls and nothing else. */
export const readFence: ReadCalls = (text, at, tools, isEnd): Reading => {
  FENCE.lastIndex = at
  const fence = FENCE.exec(text)
  if (fence === null || fence[1].length !== 3) return TEXT
  const kind = fence[2].trim().toLowerCase()
  if (fence[3] === '') return isEnd || !KINDS.some((each) => each.startsWith(kind)) ? TEXT : OPEN
  const from = skipBlanks(text, at + fence[0].length)
  if (from >= text.length) return isEnd || !KINDS.includes(kind) ? TEXT : OPEN
  const read = readContent(kind, text, from, tools, isEnd)
  if (read.is !== 'calls') return read
  if (!read.calls.every(({ name }) => tools.isTool(name))) return TEXT
  const end = skipBlanks(text, read.end)
  if (text.startsWith('```', end)) return text[end + 3] === '`' ? TEXT : { ...read, end: end + 3 }
  if (end >= text.length) return isEnd ? read : OPEN
  return text.length - end < 3 && text.slice(end).replaceAll('`', '') === '' && !isEnd ? OPEN : TEXT
}

/** Parses the content of a code fence. `kind` is the word behind the opening backticks. */
function readContent (kind: string, ...[text, from, tools, isEnd]: Parameters<ReadCalls>): Reading {
  const character = text[from]
  if (character === '{' || (character === '[' && /^\[\s*(?:\{|$)/.test(text.slice(from, from + 40)))) {
    return WITH_JSON.has(kind) || WITH_PYTHON.has(kind) ? readObjects(text, from, tools, isEnd) : TEXT
  }
  if (!WITH_PYTHON.has(kind)) return TEXT
  return character === '[' ? bareList(text, from, tools, isEnd) : readPython(text, from, tools, isEnd)
}

/** Parses JSON objects that follow each other. */
const readObjects: ReadCalls = (text, from, tools, isEnd) => {
  const calls: TextCall[] = []
  let end = from
  for (let at = from; at === from || text[at] === '{'; at = skipBlanks(text, end)) {
    const read = bareJson(text, at, tools, isEnd)
    if (read.is !== 'calls') return read
    calls.push(...read.calls)
    end = read.end
  }
  return { is: 'calls', calls, end }
}
