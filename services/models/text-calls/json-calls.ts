import { isObject, readJson } from '../../lib/json.ts'
import { findJsonEnd, readNearlyJson } from '../../lib/nearly-json.ts'
import { OPEN, type Reading, type ReadCalls, TEXT, type TextCall } from './dialect.ts'

// Calls as JSON: an object with a name and arguments, or a list of them.

const NAMES = ['name', 'function_name', 'tool_name', 'toolName', 'tool', 'function', 'action', 'recipient_name', 'func']
const INPUTS = ['arguments', 'parameters', 'args', 'input', 'params', 'action_input', 'tool_input', 'kwargs', 'inputs']
/** Properties whose value is a call or a list of calls. */
const HOLDERS = ['function', 'tool_calls', 'tool_call', 'function_call', 'calls', 'tool_uses']
/** Properties that can stand beside a call's name and arguments, and do not belong to the arguments. */
const OTHERS = ['id', 'type', 'tool_call_id', 'call_id', 'index', 'thought', ...HOLDERS.slice(1)]
const KEYS = new Set([...NAMES, ...INPUTS, ...OTHERS])

const FIRST_KEY = /^\s*(?:\[\s*)?\{\s*(?:["']?([\w-]*)(["']?)\s*(:?)\s*(?:["']([^"']*)(["'])?)?)?/

/**
 * Returns the calls in a JSON value; undefined if the value is not a call. `isTagged` means that the value stands between the tags of a
 * dialect (a way to write calls as text). Then the arguments can be absent, stand beside the name, or be the value of a property with the
 * tool's name.
 */
function callsOf (value: unknown, isTagged: boolean): TextCall[] | undefined {
  if (Array.isArray(value)) {
    const each = value.map((one) => callsOf(one, isTagged))
    return each.length > 0 && each.every((calls) => calls !== undefined) ? each.flat() : undefined
  }
  if (!isObject(value)) return undefined
  const nameKey = NAMES.find((key) => typeof value[key] === 'string' && value[key] !== '')
  const inputKey = INPUTS.find((key) => key in value && key !== nameKey)
  if (nameKey === undefined) {
    const holder = HOLDERS.find((key) => typeof value[key] === 'object')
    if (holder !== undefined) return callsOf(value[holder], isTagged)
    const [only, ...more] = Object.entries(value)
    const isNamed = isTagged && only !== undefined && more.length === 0 && isObject(only[1])
    return isNamed ? [{ name: only[0], input: JSON.stringify(only[1]) }] : undefined
  }
  if (inputKey === undefined && !isTagged) return undefined
  const { [nameKey]: name, ...beside } = value
  for (const key of OTHERS) delete beside[key]
  return [{ name: name as string, input: inputText(inputKey === undefined ? beside : value[inputKey]) }]
}

const inputText = (input: unknown): string => typeof input === 'string' && input.trim() !== '' ? input : JSON.stringify(input || {})

/** Parses JSON, or text that is nearly JSON. Returns undefined for other text. */
export const valueOfText = (text: string): unknown => readJson(text) ?? readNearlyJson(text)?.value

/**
 * Finds JSON at index `at` that ends at the closing tag `close` without all of its closing brackets, as models sometimes write it. Returns
 * that JSON with the missing brackets added (`json`), and the index of the tag (`end`). `json` is '' if more than brackets is missing.
 * Returns undefined without `close`, or if the tag does not occur outside of the strings of the JSON.
 */
export function cutBefore (text: string, at: number, close: string | undefined): { json: string, end: number } | undefined {
  if (close === undefined) return undefined
  for (let end = text.indexOf(close, at); end !== -1; end = text.indexOf(close, end + 1)) {
    const found = findJsonEnd(text.slice(0, end), at)
    const json = text.slice(at, end).trimEnd()
    // Behind a colon or a comma, more than brackets is missing.
    if ('lacks' in found) return { json: /[:,]$/.test(json) ? '' : json + found.lacks, end }
  }
  return undefined
}

/**
 * Returns the parser of calls as JSON between the tags of a dialect. `close` is the closing tag, if the dialect has one; closing brackets
 * of the JSON might be missing before the closing tag.
 */
export function taggedJson (close: string | undefined): ReadCalls {
  return (text, at) => {
    const found = findJsonEnd(text, at)
    if ('end' in found) {
      const calls = callsOf(valueOfText(text.slice(at, found.end)), true)
      if (calls === undefined) return { is: 'broken', end: found.end }
      // Models write brackets too many behind the JSON: they belong to the call.
      return { is: 'calls', calls, end: found.end + (/^\s*[}\]]+(?=\s*(?:<|$))/.exec(text.slice(found.end))?.[0].length ?? 0) }
    }
    const cut = cutBefore(text, at, close)
    if (cut === undefined) return OPEN
    const calls = callsOf(valueOfText(cut.json), true)
    return calls === undefined ? { is: 'broken', end: cut.end } : { is: 'calls', calls, end: cut.end }
  }
}

/** Parses JSON without any mark. It counts as calls only if each object names an offered tool and has arguments. */
export const bareJson: ReadCalls = (text, at, tools, isEnd): Reading => {
  const first = FIRST_KEY.exec(text.slice(at, at + 400))
  if (first === null) return isEnd || !/^\s*\[?\s*$/.test(text.slice(at, at + 400)) ? TEXT : OPEN
  const [, key, isWhole, , value, isValueWhole] = first
  if (isWhole && !KEYS.has(key)) return TEXT
  if (NAMES.includes(key) && isValueWhole && !tools.isTool(value)) return TEXT
  const found = findJsonEnd(text, at)
  if (!('end' in found)) return isEnd && !(NAMES.includes(key) && isValueWhole) ? TEXT : OPEN
  const calls = callsOf(valueOfText(text.slice(at, found.end)), false)
  return calls?.every(({ name }) => tools.isTool(name)) ? { is: 'calls', calls, end: found.end } : TEXT
}
