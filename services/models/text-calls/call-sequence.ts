import type { AnswerState } from './answer-state.ts'
import { mayBe, type OfferedTools, type TextCall } from './dialect.ts'
import { dialectAt } from './find-mark.ts'
import { type Dialect, HARMONY, WHOLE_ANSWER } from './dialects.ts'
import { tokenAt } from './template-tokens.ts'

/**
 * The meaning of the held text as a whole. `text`: this number of its characters is not a call, or (`isQuoted`) a call with text behind it.
 */
type Sequence = { is: 'wait' } | { is: 'text', length: number, isQuoted: boolean } | { is: 'broken' } | { is: 'calls', calls: TextCall[] }

/** Closing marks of dialects, which models also write where nothing was opened. */
const CLOSING = [
  '</tool_call>', '</tool_calls>', '</tools>', '</function_call>', '</function_calls>', '</minimax:tool_call>', '</seed:tool_call>'
]
/** Marks with which a model invents the result of its own call and continues with it. */
const INVENTED = [
  'Observation:', '**Observation', '<tool_response>', '<tool_result>', '<tool_results>', '<function_results>', '<function_response>'
]

/** Reads the held text, which begins with a possible call, to its end: either only calls, or text behind them. */
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

/** Returns what follows a call: nothing, another call, or text. */
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

/** Returns what a message of harmony behind a call is: another call, a thought (its length), or the answer to an invented result. */
function harmonyMessage (text: string, isEnd: boolean): 'call' | 'wait' | 'over' | number | undefined {
  const head = /^<\|start\|>assistant[^<\n]*(?:<\|channel\|>[^<\n]*)?|^<\|channel\|>[^<\n]*/.exec(text)?.[0]
  if (head === undefined) return !isEnd && text.length < 18 && '<|start|>assistant'.startsWith(text) ? 'wait' : undefined
  if (head.includes(' to=')) return 'call'
  if (head.length === text.length || /^<[|\w]*$/.test(text.slice(head.length))) return isEnd ? 'over' : 'wait'
  if (!/analysis\s*$/.test(head)) return 'over'
  const end = text.indexOf('<|end|>')
  return end === -1 ? (isEnd ? 'over' : 'wait') : end + '<|end|>'.length
}

/** True if only thoughts stand before the call. */
const isAlone = ({ quoting }: AnswerState): boolean => !quoting.hasText || quoting.isTranscript

/** Removes repetitions: the same call written twice is one. */
function withoutTwice (calls: readonly TextCall[]): TextCall[] {
  const seen = new Set<string>()
  return calls.filter((call) => {
    const key = JSON.stringify([call.name, call.input.replace(/\s+/g, ' ')])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** Whether all calls are of tools that are offered. */
export const isKnown = (calls: readonly TextCall[], { isTool }: OfferedTools): boolean =>
  calls.every(({ name, input }) => isTool(name, input))
