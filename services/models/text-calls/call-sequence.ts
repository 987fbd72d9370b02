import type { AnswerState } from './answer-state.ts'
import { mayBe, type OfferedTools, type TextCall } from './dialect.ts'
import { dialectAt } from './find-mark.ts'
import { type Dialect, HARMONY, WHOLE_ANSWER } from './dialects.ts'
import { tokenAt } from './template-tokens.ts'

/**
 * The result of parsing the whole held text. `text`: the first `length` characters are text. They are no call, or, if `isQuoted` is true,
 * they are a call that counts as text because other text follows.
 */
type Sequence = { is: 'wait' } | { is: 'text', length: number, isQuoted: boolean } | { is: 'broken' } | { is: 'calls', calls: TextCall[] }

/**
 * Closing tags of dialects, the ways in which models write calls as text. Models also write them without an opening tag, so they are
 * skipped behind a call.
 */
const CLOSING = [
  '</tool_call>', '</tool_calls>', '</tools>', '</function_call>', '</function_calls>', '</minimax:tool_call>', '</seed:tool_call>'
]
/** Marks that begin a tool result. A model that writes such a mark behind its own call invents the result and goes on with it. */
const INVENTED = [
  'Observation:', '**Observation', '<tool_response>', '<tool_result>', '<tool_results>', '<function_results>', '<function_response>'
]

/** Parses the held text, which begins with a possible call, to its end: either calls alone, or calls with other text behind them. */
export function readSequence (state: AnswerState, isEnd: boolean): Sequence {
  const { held, dialect: first } = state
  const tools = state.tools!
  const calls: TextCall[] = []
  let dialect = first!
  let isBroken = false
  let at = 0
  for (;;) {
    const reading = dialect.read(held, at, tools, isEnd)
    if (reading.is === 'open') return isEnd ? { is: 'broken' } : { is: 'wait' }
    if (reading.is === 'text') {
      const length = at || (dialect.openings.find((each) => held.startsWith(each))?.length ?? 1)
      return { is: 'text', length, isQuoted: at > 0 }
    }
    if (reading.is === 'calls') calls.push(...reading.calls)
    else isBroken = true
    const next = behind(state, reading.end, isEnd)
    if (next === 'wait') return { is: 'wait' }
    if (next === 'over') return isBroken ? { is: 'broken' } : { is: 'calls', calls: withoutTwice(calls) }
    if ('text' in next) return { is: 'text', length: next.text, isQuoted: true }
    at = next.at
    dialect = next.dialect
  }
}

/**
 * Returns what follows the call that ends at `from`: nothing (`over`), another call, or text at a position. `wait`: more text is needed.
 */
function behind (state: AnswerState, from: number, isEnd: boolean): 'wait' | 'over' | { at: number, dialect: Dialect } | { text: number } {
  const { held } = state
  for (let at = from; ;) {
    at += /^[\s,;]*/.exec(held.slice(at))![0].length
    if (at >= held.length) return isEnd ? 'over' : 'wait'
    const message = harmonyMessage(held.slice(at), isEnd)
    if (message === 'wait' || message === 'over') return message
    if (message === 'call') return { at, dialect: HARMONY }
    if (message !== undefined) {
      at += message
      continue
    }
    const dialect = dialectAt(held, at, true)
    if (dialect === 'open' && !isEnd) return 'wait'
    if (typeof dialect === 'object') return { at, dialect }
    const token = tokenAt(held.slice(at, at + 64))
    if (token === 'open' && !isEnd) return 'wait'
    if (typeof token === 'object') {
      if (token.isEnd) return 'over'
      at += token.text.length
      continue
    }
    const tag = CLOSING.find((each) => mayBe(each, held, at))
    if (tag !== undefined && (isEnd || held.startsWith(tag, at))) {
      at = Math.min(at + tag.length, held.length)
      continue
    }
    if (tag !== undefined) return 'wait'
    if (isAlone(state) && INVENTED.some((each) => mayBe(each, held, at))) {
      if (INVENTED.some((each) => held.startsWith(each, at))) return 'over'
      if (!isEnd) return 'wait'
    }
    return state.dialect === WHOLE_ANSWER && at > from && /\w/.test(held[at]) ? { at, dialect: WHOLE_ANSWER } : { text: at }
  }
}

/**
 * Classifies a message in OpenAI's harmony format (gpt-oss) that follows a call: another call, a thought (returned as its length), or an
 * answer that relies on an invented result (`over`). Undefined if `text` does not begin with such a message.
 */
function harmonyMessage (text: string, isEnd: boolean): 'call' | 'wait' | 'over' | number | undefined {
  const head = /^<\|start\|>assistant[^<\n]*(?:<\|channel\|>[^<\n]*)?|^<\|channel\|>[^<\n]*/.exec(text)?.[0]
  if (head === undefined) return !isEnd && text.length < 18 && '<|start|>assistant'.startsWith(text) ? 'wait' : undefined
  if (head.includes(' to=')) return 'call'
  if (head.length === text.length || /^<[|\w]*$/.test(text.slice(head.length))) return isEnd ? 'over' : 'wait'
  if (!/analysis\s*$/.test(head)) return 'over'
  const end = text.indexOf('<|end|>')
  return end === -1 ? (isEnd ? 'over' : 'wait') : end + '<|end|>'.length
}

/** True if nothing but thoughts stands before the call. */
const isAlone = ({ quoting }: AnswerState): boolean => !quoting.hasText || quoting.isTranscript

/** Returns the calls without repetitions: two calls with the same name and input are one call. */
function withoutTwice (calls: readonly TextCall[]): TextCall[] {
  const seen = new Set<string>()
  return calls.filter((call) => {
    const key = JSON.stringify([call.name, call.input.replace(/\s+/g, ' ')])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** True if each call is of an offered tool. */
export const isKnown = (calls: readonly TextCall[], { isTool }: OfferedTools): boolean =>
  calls.every(({ name, input }) => isTool(name, input))
