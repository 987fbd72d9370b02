import type { AnswerState } from './answer-state.ts'
import { type Dialect, DIALECTS, HARMONY, WHOLE_ANSWER } from './dialects.ts'
import { mayBe } from './dialect.ts'
import { headerLength, isWord, mayBeWord, tokenAt } from './template-tokens.ts'
import { LONE_ENDS, THOUGHTS } from './thoughts.ts'

/**
 * The mark at the beginning of the held text; `length` is its number of characters. `wait`: more text is needed. `over`: the answer has
 * ended before the mark. `text`: there is no mark. `nothing`: the mark is dropped. `channel`: the mark opens a message to the user.
 */
export type Mark =
  | { is: 'wait' }
  | { is: 'over' }
  | { is: 'text' | 'nothing' | 'was-thought' | 'channel', length: number }
  | { is: 'thought', length: number, ends: readonly string[] }
  | { is: 'call', dialect: Dialect }

const WAIT: Mark = { is: 'wait' }
const text = (length: number): Mark => ({ is: 'text', length })
const OPENINGS = DIALECTS.flatMap((dialect) => dialect.openings.map((opening) => ({ opening, dialect })))
  .sort((a, b) => b.opening.length - a.opening.length)
const LITERALS = [...OPENINGS.map(({ opening }) => opening), ...THOUGHTS.map(({ open }) => open), ...LONE_ENDS]
const WORDS = [...LITERALS.filter((each) => /^[\w*]/.test(each))]
const WORD = /[A-Za-z_][\w.:/-]*/y

/**
 * Returns the first position before `limit` where a line begins with a word that might open a call, or where the answer begins with the
 * name of a tool.
 */
export function lineWordAt ({ held, quoting, tools }: AnswerState, limit: number): number | undefined {
  let from = quoting.isLineStart ? 0 : held.indexOf('\n') + 1
  if (from === 0 && !quoting.isLineStart) return undefined
  const isBegin = !quoting.hasText
  while (from < limit) {
    const at = from + held.slice(from).search(/[^\s]|$/)
    if (at >= limit) return undefined
    if (WORDS.some((word) => mayBe(word, held, at))) return at
    WORD.lastIndex = at
    const name = isBegin && held.slice(0, at).trim() === '' ? WORD.exec(held)?.[0] : undefined
    if (name !== undefined && tools?.beginsName(name)) return at
    from = held.indexOf('\n', at) + 1
    if (from === 0) return undefined
  }
  return undefined
}

/**
 * Returns the dialect (way to write calls as text) whose opening mark stands at the position `at`; `open` if more text is needed to decide.
 */
export function dialectAt (held: string, at: number, isLineStart: boolean): Dialect | 'open' | undefined {
  const length = held.length - at
  const here = isLineStart ? OPENINGS : OPENINGS.filter(({ dialect }) => !dialect.isAtLine)
  if (here.some(({ opening }) => opening.length > length && mayBe(opening, held, at))) return 'open'
  return here.find(({ opening }) => held.startsWith(opening, at))?.dialect
}

/** Returns the mark at the beginning of the held text; the kind `text` means that there is no mark. */
export function findMark (state: AnswerState, isEnd: boolean): Mark {
  const { held, quoting, tools } = state
  if (held.startsWith('`')) return backticks(state, isEnd)
  const token = tokenAt(held)
  if (quoting.isQuoted) {
    if (token === undefined) return text(1)
    if (token === 'open') return isEnd ? text(held.length) : WAIT
    const behind = held.slice(token.text.length)
    // In code, a token counts only at the end of the answer.
    if (/\S/.test(behind)) return text(token.text.length)
    return isEnd ? { is: 'over' } : WAIT
  }
  const harmony = harmonyAt(state, isEnd)
  if (harmony !== undefined) return harmony
  if (!isEnd && LITERALS.some((each) => each.length > held.length && each.startsWith(held))) return WAIT
  const thought = thoughtAt(state, isEnd)
  if (thought !== undefined) return thought
  if (tools !== undefined) {
    const dialect = dialectAt(held, 0, quoting.isLineStart)
    if (typeof dialect === 'object' && (dialect.isMarked || token === undefined)) return { is: 'call', dialect }
    const [name] = quoting.hasText ? [] : /^[A-Za-z_][\w.:/-]*/.exec(held) ?? []
    if (name !== undefined && tools.beginsName(name)) {
      if (name.length === held.length) return isEnd ? text(name.length) : WAIT
      return tools.isTool(name.replace(/\.call$/, '')) ? { is: 'call', dialect: WHOLE_ANSWER } : text(name.length)
    }
  }
  const result = tools === undefined ? undefined : resultAt(state, isEnd)
  if (result !== undefined) return result
  if (token === 'open') return isEnd ? text(held.length) : WAIT
  return token === undefined ? text(1) : tokenMark(state, token, isEnd)
}

/**
 * The tag around the results of tools, for a model that gets tools as text. A weak model continues its answer with results that it invents.
 */
const RESULT = '<tool_response>'
const RESULT_END = '</tool_response>'

/** Returns the mark of a tool result that the model invents, which ends the answer. A closing tag alone is dropped. */
function resultAt ({ held, quoting }: AnswerState, isEnd: boolean): Mark | undefined {
  if (quoting.isLineStart && held.startsWith(RESULT)) return { is: 'over' }
  if (held.startsWith(RESULT_END)) return { is: 'nothing', length: RESULT_END.length }
  const isOpen = [RESULT, RESULT_END].some((tag) => held.length > 1 && tag.startsWith(held))
  return isOpen && !isEnd ? WAIT : undefined
}

function backticks ({ held, quoting, tools }: AnswerState, isEnd: boolean): Mark {
  const { length } = /^`+/.exec(held)![0]
  if (length === held.length && !isEnd) return WAIT
  const isFence = length === 3 && quoting.isLineStart && !quoting.isQuoted && tools !== undefined
  return isFence ? { is: 'call', dialect: DIALECTS.find(({ name }) => name === 'fenced')! } : text(length)
}

const CHANNEL =
  /^(?:<\|start\|>\s*(?:assistant)?)?\s*(?:<\|channel\|>\s*(?:commentary|final)?\s*(?:<\|constrain\|>\s*\w*)?\s*)?<\|message\|>/
const LONGEST_HEAD = 160

/** Returns the mark of a message header in OpenAI's harmony format (gpt-oss), which names a channel and perhaps a recipient. */
function harmonyAt (state: AnswerState, isEnd: boolean): Mark | undefined {
  const { held, tools } = state
  if (state.isHarmony && held.startsWith('<|end|>')) return { is: 'nothing', length: '<|end|>'.length }
  if (held.length < '<|start|>assistant'.length && '<|start|>assistant'.startsWith(held)) return isEnd ? undefined : WAIT
  if (!held.startsWith('<|channel|>') && !held.startsWith('<|start|>assistant')) return undefined
  const head = held.slice(0, LONGEST_HEAD)
  const channel = CHANNEL.exec(head)
  if (channel !== null) return { is: 'channel', length: channel[0].length }
  const analysis = /^(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>/.exec(head)
  const thoughts = THOUGHTS.find(({ open }) => open.startsWith('<|channel|>'))!
  state.isHarmony = true
  if (analysis !== null) return { is: 'thought', length: analysis[0].length, ends: thoughts.ends }
  if (/^[^\n]*\sto=/.test(head)) return tools === undefined ? { is: 'over' } : { is: 'call', dialect: HARMONY }
  if (isEnd) return { is: 'over' }
  return head.length < LONGEST_HEAD && !head.includes('<|message|>') ? WAIT : { is: 'nothing', length: head.indexOf('>') + 1 }
}

function thoughtAt (state: AnswerState, isEnd: boolean): Mark | undefined {
  const { held, quoting } = state
  for (const { open, ends, isAtBegin } of THOUGHTS) {
    if (!held.startsWith(open) || !quoting.isLineStart) continue
    if (!isAtBegin) return { is: 'thought', length: open.length, ends }
    if (quoting.hasText) continue
    if (held.length === open.length) return isEnd ? undefined : WAIT
    if (/^[A-Z]/.test(held.slice(open.length))) return { is: 'thought', length: open.length, ends }
  }
  const end = LONE_ENDS.find((each) => held.startsWith(each))
  if (end === undefined) return undefined
  const behind = held.slice(end.length)
  if (mayBeWord(quoting.before, behind) && !isEnd) return WAIT
  if (isWord(quoting.before, behind)) return text(end.length)
  return state.hasThoughts || !quoting.hasText ? { is: 'nothing', length: end.length } : { is: 'was-thought', length: end.length }
}

function tokenMark (state: AnswerState, token: { text: string, isEnd: boolean }, isEnd: boolean): Mark {
  const { held, quoting } = state
  const { length } = token.text
  const behind = held.slice(length)
  if (token.text === '<s>') {
    if (behind === '' && !isEnd) return WAIT
    if (!quoting.hasText && !/^[^\s[<]/.test(behind)) return { is: 'nothing', length }
    state.isStruck = true
    return text(length)
  }
  if (token.text === '</s>' && state.isStruck) {
    state.isStruck = false
    return text(length)
  }
  if (!quoting.hasText) {
    const header = headerLength(held, token)
    if (header === 'other') return { is: 'over' }
    return header === 'open' ? (isEnd ? { is: 'nothing', length } : WAIT) : { is: 'nothing', length: header }
  }
  if (mayBeWord(quoting.before, behind) && !isEnd) return WAIT
  if (isWord(quoting.before, behind)) return text(length)
  return token.isEnd ? { is: 'over' } : { is: 'nothing', length }
}
