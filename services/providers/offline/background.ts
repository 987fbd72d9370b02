import { Clause } from './clause.ts'
import { tokenise, type Token } from './tokens.ts'

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
const UNIT = `(?:seconds?|minutes?|hours?|days?|weeks?|weekdays?|weekends?|months?|years?|${PART})`
const TIME = '(?:\\d{1,2}(?::\\d\\d)?(?: ?[ap]m)?|noon|midnight)(?= |$)'
/** "every 2 hours", "each monday and thursday", "daily", "once a week"; "at 9" before or after it. */
const OFTEN = `(?:every|each) (?:single )?(?:(?:other |\\d+ )?${UNIT}|${DAY}(?:(?: ,| and| , and) ${DAY})*)|hourly|daily|nightly|weekly|monthly|` +
  'once (?:a|an|per|every) (?:hour|day|week|month)'
const OFTEN_AT = `(?:at (?<before>${TIME}) )?(?<often>${OFTEN})(?: (?:at|from) (?<after>${TIME})| (?:in the )?(?:${PART}))*(?= |$)(?: ,)?`
const BEHIND = 'in the background(?! (?:of|color|colour|image|picture) )'
/** A phrase within or at the end of a sentence, but not a name, as in "the folder daily". */
const inside = (phrase: string) =>
  new RegExp(`(?<!\\b(?:in|of|from|to|into|named|called|folder|directory|file|the|a|an))(?: ,)? ${phrase}(?=$| (?:[.!?,;]|and|then|to|until|so|for) )`)
const REPEATED = [new RegExp(`^${OFTEN_AT}`), inside(OFTEN_AT)]
const BACKGROUND = [new RegExp(`^${BEHIND}(?: ,)?`), inside(BEHIND)]
const NEWS = [/ for (?:any )?(?:changes|updates|news)(?= |$)/]

/** Reads background work from a message: repeated work, work "in the background", or watching something. Undefined when there is none. */
export function readBackground (message: string): Background | undefined {
  if (message.length > MAX_LENGTH) return undefined
  const asked = new Clause(message, tokenise(message)).rest()
  if (ONLY_TALK.test(wordsOf(tokenise(asked)))) return undefined
  const { rest: once, found } = without(asked, REPEATED)
  const { rest, found: isBehind } = without(once, BACKGROUND)
  const clause = new Clause(rest, tokenise(rest))
  const isWatch = clause.take('keep watching|checking|monitoring') || clause.take('keep an eye on') || clause.take('monitor') ||
    (clause.take('watch') && clause.tokens.some(({ word }) => word === 'for'))
  if (!found && !isBehind && !isWatch) return undefined
  // Watching something means to look at it repeatedly.
  const goal = isWatch ? `look at ${without(clause.rest(), NEWS).rest}` : rest
  const interval = found ? intervalOf(found) : isWatch ? 'hourly' : undefined
  return { goal: goal || message.trim(), ...(interval !== undefined && { interval }) }
}

/** The words in lower case with a blank between them; a quotation is a quote. */
const wordsOf = (tokens: Token[]) => tokens.map(({ word }) => word || '"').join(' ')

/** Cuts the first phrase that a pattern finds in the words of a text. */
function without (text: string, patterns: RegExp[]) {
  const tokens = tokenise(text)
  const words = wordsOf(tokens)
  for (const pattern of patterns) {
    const found = pattern.exec(words)
    if (!found) continue
    const blanks = (end: number) => words.slice(0, end).split(' ').length - 1
    const before = tokens[blanks(found.index) - (found.index === 0 ? 1 : 0)]
    const behind = tokens[blanks(found.index + found[0].length) + 1]
    return { found, rest: `${before ? text.slice(0, before.end) : ''} ${behind ? text.slice(behind.start) : ''}`.trim() }
  }
  return { rest: text }
}

const TIMES: Record<string, string> = { morning: '9:00', afternoon: '14:00', evening: '18:00', night: '21:00', nightly: '21:00' }

/** Returns the interval in the notation of schedules. */
function intervalOf ({ 0: phrase, groups }: RegExpExecArray): string {
  const { often = '', before, after = before } = groups ?? {}
  const part = new RegExp(`\\b(?:${PART}|nightly)\\b`).exec(phrase)?.[0]
  const words = often.replace(/^once \w+/, 'every').replace(/^(?:every|each) (?:single )?/, 'every ').replace(/^every (?:morning|afternoon|evening|night)$|^nightly$/, 'daily')
  const at = after === undefined ? part && TIMES[part] : timeOf(after, part)
  return at === undefined ? words : `${words} at ${at}`
}

/** Returns the time of day: "9" is nine o'clock, or 21:00 when the phrase names a later part of the day. */
function timeOf (time: string, part: string | undefined): string {
  const [, hour, minutes = ':00'] = /^(\d{1,2})(:\d\d)?$/.exec(time) ?? []
  if (hour === undefined) return time
  const isLater = part !== undefined && part !== 'morning' && Number(hour) < 12
  return `${isLater ? Number(hour) + 12 : Number(hour)}${minutes}`
}
