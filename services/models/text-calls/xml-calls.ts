import { findJsonEnd } from '../../lib/nearly-json.ts'
import { OPEN, type Reading, type ReadCalls, skipBlanks, TEXT, type TextCall } from './dialect.ts'

// Calls as XML-like tags: <function=name><parameter=key>value</parameter></function>, <invoke name="name"><parameter name="key">value
// </parameter></invoke>, each tag perhaps with a prefix, and GLM's <arg_key>key</arg_key><arg_value>value</arg_value>.

const FUNCTION = /<((?:[\w|｜:]+[|｜:])?)(function|invoke|tool)(?:=|\s+name\s*=\s*)["']?([\w.:/-]+)["']?\s*>/y
const PARAMETER = /<(?:[\w|｜:]+[|｜:])?(?:parameter|param)(?:=|\s+name\s*=\s*)["']?([\w.$-]+)["']?(?:\s+string="(true|false)")?[^>]*>/y
const PARAMETER_END = /<\/(?:[\w|｜:]+[|｜:])?(?:parameter|param)>/g
/** Marks that end a parameter whose own closing tag is missing. */
const NEXT = /<(?:(?:[\w|｜:]+[|｜:])?(?:parameter|param)[=\s]|\/(?:[\w|｜:]+[|｜:])?(?:function|invoke|tool)>)/g
const FUNCTION_END = /<\/(?:[\w|｜:]+[|｜:])?(?:function|invoke|tool)(?:=[\w.-]*)?>/y
const ARG = /<arg_key>\s*([\s\S]*?)\s*<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/y

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Removes one line break at each end of a value: these line breaks belong to the tags. */
const withoutBreaks = (value: string): string => value.replace(/^\r?\n/, '').replace(/\r?\n[ \t]*$/, '')

/** Parses one function tag with its parameters. */
export const readFunction: ReadCalls = (text, at, _tools, isEnd): Reading => {
  const begin = matchAt(FUNCTION, text, at)
  if (begin === null) return text.indexOf('>', at) === -1 ? OPEN : TEXT
  const name = begin[3]
  const input: Record<string, unknown> = {}
  let here = skipBlanks(text, at + begin[0].length)
  // Llama's form: the arguments as JSON between the tags.
  if (text[here] === '{') {
    const found = findJsonEnd(text, here)
    if (!('end' in found)) return OPEN
    const end = skipBlanks(text, found.end)
    if (!isEnd && /^(?:<[^>]*)?$/.test(text.slice(end))) return OPEN
    return { is: 'calls', calls: [{ name, input: text.slice(here, found.end) }], end: functionEnd(text, end) }
  }
  for (;;) {
    const parameter = matchAt(PARAMETER, text, here)
    if (parameter === null) break
    const from = here + parameter[0].length
    const end = matchAt(PARAMETER_END, text, from) ?? matchAt(NEXT, text, from)
    if (end === null) return OPEN
    const value = withoutBreaks(text.slice(from, end.index))
    input[parameter[1]] = parameter[2] === 'false' ? jsonOr(value) : value
    here = skipBlanks(text, /^<[^>]*param[a-z]*>$/.test(end[0]) ? end.index + end[0].length : end.index)
  }
  const end = matchAt(FUNCTION_END, text, here)
  const call: TextCall = { name, input: JSON.stringify(input) }
  if (end !== null) return { is: 'calls', calls: [call], end: here + end[0].length }
  const rest = text.slice(here)
  // The closing tag is missing, so the function might have been cut off before another parameter.
  if (/^(?:<[^>]*)?$/.test(rest)) return OPEN
  // The closing tag of the function is missing, but the closing tag of its dialect follows.
  return /^<\//.test(rest) || /^<(?:[|｜]|[\w:]*tool)/.test(rest) ? { is: 'calls', calls: [call], end: here } : TEXT
}

function functionEnd (text: string, at: number): number {
  const end = matchAt(FUNCTION_END, text, at)
  return end === null ? at : at + end[0].length
}

function jsonOr (value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Parses GLM's pairs of `<arg_key>` and `<arg_value>`. `end` is the position behind the last pair. */
export function readArgs (text: string, at: number): { input: Record<string, unknown>, end: number } {
  const input: Record<string, unknown> = {}
  let here = skipBlanks(text, at)
  for (let arg = matchAt(ARG, text, here); arg !== null; arg = matchAt(ARG, text, here)) {
    input[arg[1]] = arg[2]
    here = skipBlanks(text, here + arg[0].length)
  }
  return { input, end: here }
}
