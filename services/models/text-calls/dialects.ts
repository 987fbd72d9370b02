import { OPEN, type Reading, type ReadCalls, skipBlanks, TEXT, type TextCall } from './dialect.ts'
import { readFence } from './fenced-calls.ts'
import { readHarmony } from './harmony-calls.ts'
import { bareJson } from './json-calls.ts'
import { readBody } from './named-calls.ts'
import { bareList } from './pythonic.ts'
import { readAction } from './react-calls.ts'
import { readSection } from './section-calls.ts'
import { readFunction } from './xml-calls.ts'

/** A dialect: one way in which models write tool calls as text within their answer. */
export interface Dialect {
  name: string
  openings: readonly string[]
  /** The opening mark counts only at the beginning of a line. */
  isAtLine?: true
  /**
   * The opening mark is used for calls only: text that begins with the mark and cannot be parsed is a broken call, not a part of the
   * answer.
   */
  isMarked?: true
  read: ReadCalls
}

/** Returns the parser of calls between a pair of tags. Without `close`, the opening tag has no closing tag. */
function between (open: string, close?: string): ReadCalls {
  const body = readBody(close)
  return (text, at, tools, isEnd): Reading => {
    const calls: TextCall[] = []
    for (let here = skipBlanks(text, at + open.length); ;) {
      if (here >= text.length) return isEnd && calls.length > 0 ? { is: 'calls', calls, end: here } : OPEN
      if (close?.startsWith(text.slice(here, here + close.length))) {
        if (text.length - here < close.length && !isEnd) return OPEN
        return calls.length === 0 ? TEXT : { is: 'calls', calls, end: Math.min(here + close.length, text.length) }
      }
      const read = body(text, here, tools, isEnd)
      if (read.is === 'broken') return { is: 'broken', end: behindTag(text, read.end, close) }
      if (read.is === 'text' && calls.length > 0) return { is: 'calls', calls, end: here }
      if (read.is === 'text' && text[at + open.length] === '\n') return garbled(text, here, close)
      if (read.is !== 'calls') return read
      calls.push(...read.calls)
      here = read.end + /^[\s,;]*/.exec(text.slice(read.end, read.end + 40))![0].length
    }
  }
}

/** The most characters, from the content of an unreadable call on, in which its closing tag is awaited. */
const LONGEST_GARBLED = 4_000

/**
 * Returns what content at `at` is that cannot be a call, although its opening tag stands in a line of its own: a broken call up to the
 * closing tag, or text if there is no closing tag.
 */
function garbled (text: string, at: number, close: string | undefined): Reading {
  const closing = close === undefined ? -1 : text.indexOf(close, at)
  if (closing !== -1) return { is: 'broken', end: closing + close!.length }
  return close !== undefined && text.length - at < LONGEST_GARBLED ? OPEN : TEXT
}

function behindTag (text: string, at: number, close = ''): number {
  const closing = text.indexOf(close, at)
  return closing === -1 ? text.length : closing + close.length
}

const tagged = (name: string, open: string, close?: string): Dialect =>
  ({ name, openings: [open], isMarked: true, read: between(open, close) })

/** All dialects. Their order has no effect: find-mark.ts tries longer opening marks first. */
export const DIALECTS: readonly Dialect[] = [
  // Hermes and Qwen; Qwen3-Coder and GLM, which write more tags between these.
  tagged('hermes', '<tool_call>', '</tool_call>'),
  tagged('hermes', '<toolcall>', '</toolcall>'),
  tagged('hermes', '<tools>', '</tools>'),
  tagged('hunyuan', '<tool_calls>', '</tool_calls>'),
  tagged('nemotron', '<TOOLCALL>', '</TOOLCALL>'),
  tagged('granite', '<|tool_call|>', '<|/tool_call|>'),
  tagged('granite', '<function_call>', '</function_call>'),
  tagged('functions', '<functioncall>', '</functioncall>'),
  tagged('functions', '<function_calls>', '</function_calls>'),
  tagged('functions', '<tool_use>', '</tool_use>'),
  tagged('minimax', '<minimax:tool_call>', '</minimax:tool_call>'),
  tagged('seed', '<seed:tool_call>', '</seed:tool_call>'),
  tagged('deepseek', '<｜DSML｜function_calls>', '</｜DSML｜function_calls>'),
  tagged('deepseek', '<｜DSML｜tool_calls>', '</｜DSML｜tool_calls>'),
  tagged('lfm', '<|tool_call_start|>', '<|tool_call_end|>'),
  tagged('gemma', '<start_function_call>', '<end_function_call>'),
  tagged('gemma', '<|tool_call>', '<tool_call|>'),
  tagged('command', '<|START_ACTION|>', '<|END_ACTION|>'),
  tagged('apertus', '<|tools_prefix|>', '<|tools_suffix|>'),
  tagged('internlm', '<|action_start|><|plugin|>', '<|action_end|>'),
  tagged('internlm', '<|action_start|>', '<|action_end|>'),
  tagged('mistral', '[TOOL_CALLS]', '[/TOOL_CALLS]'),
  tagged('mistral', '[TOOL_CALL]', '[/TOOL_CALL]'),
  tagged('llama', '<|python_tag|>'),
  { ...tagged('phi', 'functools'), isAtLine: true },
  {
    name: 'sections',
    openings: ['calls_section', 'calls', 'call'].flatMap((words) =>
      ['<|tool_', '<｜tool▁', '<|tool▁', '<｜tool_'].map((begin) => {
        const joint = begin.includes('▁') ? '▁' : '_'
        return `${begin}${words.replace('_', joint)}${joint}begin${begin[1]}>`
      })),
    isMarked: true,
    read: readSection
  },
  { name: 'xml', openings: ['<function=', '<function name=', '<invoke name=', '<｜DSML｜invoke name='], isMarked: true, read: readFunction },
  {
    name: 'harmony',
    openings: ['assistantcommentary to=', 'commentary to=', 'analysis to=', 'to=functions.'],
    isAtLine: true,
    isMarked: true,
    read: readHarmony
  },
  { name: 'react', openings: ['Action:', '**Action:'], isAtLine: true, read: readAction },
  { name: 'fenced', openings: ['```'], isAtLine: true, read: readFence },
  { name: 'json', openings: ['{'], read: bareJson },
  // A list of JSON objects, or a list of calls in Python syntax.
  {
    name: 'list',
    openings: ['['],
    read: (text, at, tools, isEnd) => {
      const inner = text[skipBlanks(text, at + 1)]
      if (inner === undefined) return isEnd ? TEXT : OPEN
      return inner === '{' ? bareJson(text, at, tools, isEnd) : bareList(text, at, tools, isEnd)
    }
  }
]

/** A call in Python syntax, or a name with JSON behind it, without any mark. It counts only if it is the whole answer. */
export const WHOLE_ANSWER: Dialect = {
  name: 'bare',
  openings: [],
  read (text, at, tools, isEnd) {
    const [name] = /^[A-Za-z_][\w.:/-]*/.exec(text.slice(at, at + 200)) ?? []
    if (name !== undefined && at + name.length === text.length && !isEnd && tools.beginsName(name)) return OPEN
    if (name === undefined || !tools.isTool(name.replace(/\.call$/, ''))) return TEXT
    const behind = text.slice(at + name.length, at + name.length + 40)
    if (!/^(?:\(|\s*\n\s*\{)/.test(behind)) return isEnd || !/^\s*$/.test(behind) || /^[^\S\n]+$/.test(behind) ? TEXT : OPEN
    return body(text, at, tools, isEnd)
  }
}
const body = readBody(undefined)
/** A message in OpenAI's harmony format (gpt-oss), with its tokens. */
export const HARMONY: Dialect = { name: 'harmony', openings: [], isMarked: true, read: readHarmony }
