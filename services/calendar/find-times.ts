import { WEEKDAYS } from './day-words.ts'
import { kindOfTime, type KindOfTime } from './phrase.ts'
import { type Token, tokensOf, TURNS } from './tokens.ts'

/** A phrase about time in a longer text, from offset `from` to before offset `to`. */
export interface FoundTime {
  from: number
  to: number
  kind: KindOfTime
  /** Set if a word before or after the phrase, such as "until" or "yesterday", changes its meaning to one that is not understood. */
  isTurned: 'before' | 'behind' | undefined
}

/** The most consecutive words about time that are parsed as one phrase. */
const MOST_WORDS = 24
/** How many words at the start of such a sequence can belong to the sentence instead of the time. */
const MOST_LEFT_OUT = 6
/**
 * Kinds of tokens: SAYS name a time, BEGINS can begin a phrase about time (BOTH are in both lists), TURNED
 * change the meaning of a phrase next to them.
 */
const BOTH = ['every', 'twice', 'tonight', 'tomorrow', 'clock', 'date', 'weekset', 'weekdays', 'weekday', 'part', 'parts', 'daily',
  'rhythm']
const SAYS = [...BOTH, 'duration', 'unit', 'minute', 'hour', 'day', 'week', 'month', 'year']
const BEGINS = [...BOTH, 'today', 'once', 'at', 'on', 'in', 'from', 'this', 'next', 'coming', 'the', 'ordinal']
const TURNED = ['at', 'on', 'of', ...TURNS, ...SAYS, 'monthname']

const saysTime = ({ kind, text }: Token) => SAYS.includes(kind) || /\d/.test(text)

/** Whether a text mentions a time, including vague words such as "often" and "later". */
export const mentionsTime = (text: string): boolean =>
  tokensOf(text.toLowerCase()).some(({ kind }) => SAYS.includes(kind)) ||
  /\b(?:sometimes|often|later|soon|regularly|whenever)\b/i.test(text)

/**
 * Finds phrases about time in a lower-case text. In each sequence of such words, yields the first phrase that
 * can be parsed, as long as possible.
 */
export function * findTimes (text: string): Generator<FoundTime> {
  let run: Token[] = []
  for (const token of [...tokensOf(text), undefined]) {
    const isNext = token !== undefined && token.kind !== 'x' && token.kind !== 'stop' && run.length < MOST_WORDS &&
      !text.slice(run.at(-1)?.to ?? token.from, token.from).includes('\n')
    if (isNext) run.push(token)
    if (isNext && token !== undefined) continue
    const found = firstIn(text, run)
    if (found !== undefined) yield found
    run = token === undefined || token.kind === 'x' || token.kind === 'stop' ? [] : [token]
  }
}

function firstIn (text: string, run: Token[]): FoundTime | undefined {
  for (const [start, { from }] of run.slice(0, MOST_LEFT_OUT).entries()) {
    if (!isBegin(run.slice(start))) continue
    for (let end = run.length; end > start; end--) {
      const part = run.slice(start, end)
      const { to } = part.at(-1)!
      const kind = part.at(-1)!.kind !== ',' && part.some(saysTime) ? kindOfTime(text.slice(from, to)) : undefined
      if (kind === undefined) continue
      const isTurnedBefore = start > 0 && TURNED.includes(run[start - 1].kind)
      return { from, to, kind, isTurned: isTurned(run.slice(end)) ? 'behind' : isTurnedBefore ? 'before' : undefined }
    }
  }
  const last = run.at(-1)
  return run.length < MOST_WORDS ? undefined : { from: run[0].from, to: last!.to, kind: 'doubt', isTurned: 'behind' }
}

function isBegin ([first, second, third]: Token[]): boolean {
  if (first.kind === 'duration') return second?.kind === 'from' && third?.kind === 'now'
  if (first.kind === 'number') return second?.kind === 'times'
  // "Sat" and "sun" are also other words, so only full names of weekdays count.
  return BEGINS.includes(first.kind) && (first.kind !== 'weekday' || WEEKDAYS.includes(first.text))
}

function isTurned (behind: Token[]): boolean {
  const [next, then] = behind.filter(({ kind }) => kind !== ',')
  if (next?.kind === 'for') return then !== undefined && /^(?:the|a|an|one|two|three|four|five|six|\d+)\b/.test(then.text)
  return next !== undefined && TURNED.includes(next.kind)
}
