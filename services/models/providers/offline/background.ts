import { Clause } from './clause.ts'
import { tokenise } from './tokens.ts'

/** Work for a background task: its goal, and for repeated work an interval in the notation of schedules. */
export interface Background {
  goal: string
  interval?: string
}

/** Characters. A longer message is no wish for background work. */
const MAX_LENGTH = 4_000
/** Questions and prohibitions, which mention such work but do not ask for it. */
const ONLY_TALK =
  /^(?:what|why|how|when|where|who|which|is|are|was|were|does|did|do (?:i|we|you)|should|have|has)\b|\b(?:not|don't|never|stop|no longer)\b/
const DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
const PART = 'morning|afternoon|evening|night'
const TIMES: Record<string, string> = { morning: '9:00', afternoon: '14:00', evening: '18:00', night: '21:00' }
const UNIT = `(?:second|minute|hour|day|week|weekday|weekend|month|year|${PART})s?`
const TIME = '(?:\\d{1,2}(?::\\d\\d)?(?: ?[ap]m)?|noon|midnight)(?= |$)'
/** "every 2 hours", "each monday and thursday", "daily", "once a week"; "at 9" before or after it. The text has single blanks. */
const OFTEN = `(?:every|each) (?:single )?(?:(?:other |\\d+ )?${UNIT}|${DAY}(?:(?: ,| and| , and) ${DAY})*)|hourly|daily|weekly|monthly|` +
  'once (?:a|an|per|every) (?:hour|day|week|month)'
const REPEATED = `(?:at (?<before>${TIME}) )?(?<often>${OFTEN})(?: (?:at|from) (?<after>${TIME})| (?:in the )?(?<part>${PART}))*(?= |$)`
const BEHIND = 'in the background(?! (?:of|color|colour|image|picture) )'
const NO_NAME = '(?<!\\b(?:in|of|from|to|into|named|called|folder|directory|file|the|a|an))'
/** At the start, or within or at the end of a sentence, but not as a name ("the folder daily"). */
const phrase = (words: string) => [
  new RegExp(`^${words}(?: ,)?`),
  new RegExp(`${NO_NAME}(?: ,)? ${words}(?=$| (?:[.!?,;]|and|then|to|until|so|for)( |$))`)
]
const [EVERY, IN_BACKGROUND, FOR_NEWS] = [phrase(REPEATED), phrase(BEHIND), phrase('for (?:any )?(?:changes|updates|news)')]

/** Reads background work from a message: repeated work, work "in the background", or watching something. Undefined when there is none. */
export function readBackground (message: string): Background | undefined {
  if (message.length > MAX_LENGTH) return undefined
  const asked = clauseOf(message).written
  if (ONLY_TALK.test(wordsOf(asked))) return undefined
  const { rest: once, found } = without(asked, EVERY)
  const { rest, found: isBehind } = without(once, IN_BACKGROUND)
  const clause = clauseOf(rest)
  const isWatch = clause.take('keep watching|checking|monitoring') || clause.take('keep an eye on') || clause.take('monitor')
  if (!found && !isBehind && !isWatch) return undefined
  // Watching something means to look at it repeatedly.
  const goal = isWatch ? `look at ${without(clause.written, FOR_NEWS).rest}` : rest
  const interval = found ? intervalOf(found.groups!) : isWatch ? 'hourly' : undefined
  return { goal: goal || message.trim(), ...interval !== undefined && { interval } }
}

const clauseOf = (text: string) => new Clause(text, tokenise(text))
/** The words in lower case with a blank between them; a quotation is a quote. */
const wordsOf = (text: string) => tokenise(text).map(({ word }) => word || '"').join(' ')

/** Cuts the first phrase that one of the patterns finds in the words of a text. */
function without (text: string, patterns: RegExp[]) {
  const words = wordsOf(text)
  const found = patterns.map((pattern) => pattern.exec(words)).find((each) => each !== null)
  if (!found) return { rest: text }
  const tokens = tokenise(text)
  const first = words.slice(0, found.index + 1).trim().split(' ').length - (found.index === 0 ? 1 : 0)
  const behind = tokens.slice(first + found[0].trim().split(' ').length)
  const [before, [next]] = [tokens[first - 1], behind.some(({ kind }) => kind !== 'mark') ? behind : []]
  return { found, rest: `${before ? text.slice(0, before.end) : ''} ${next ? text.slice(next.start) : ''}`.trim() }
}

/** Returns the interval in the notation of schedules. "9" is nine o'clock, or 21:00 when the phrase names a later part of the day. */
function intervalOf ({ often, before, after = before, part = new RegExp(PART).exec(often)?.[0] ?? '' }: Record<string, string>): string {
  const words = often.replace(/^(?:once \w+|every|each)( single)?/, 'every').replace(new RegExp(`^every (?:${PART})$`), 'daily')
  const [time = after ?? TIMES[part], hour, minutes = ':00'] = /^(\d{1,2})(:\d\d)?$/.exec(after ?? '') ?? []
  const isLater = part !== '' && part !== 'morning' && Number(hour) < 12
  return time === undefined ? words : `${words} at ${hour === undefined ? time : `${Number(hour) + (isLater ? 12 : 0)}${minutes}`}`
}
