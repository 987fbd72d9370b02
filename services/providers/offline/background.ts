import { MARK, markQuotes } from './quotes.ts'

/** Work for a background task: its goal, and for repeated work an interval in the notation of schedules. */
export interface Background {
  goal: string
  interval?: string
}

/** Characters. Longer messages are not plain commands. Messages with long gaps are not read either: the patterns backtrack in them. */
const LONGEST = 4_000
const GAP = /[\s,]{40}/

const POLITE =
  /^(?:(?:please|kindly|hey|hi|hello|ok|okay|from now on|starting (?:today|now|tomorrow)|(?:could|can|would|will) you(?: please)?|i(?:['’]d| would)? (?:want|like|need) you to)[\s,]+)+/i
/** Questions and prohibitions, which mention such work but do not ask for it. */
const ONLY_TALK =
  /^(?:what|why|how|when|where|who|which|is|are|was|were|does|did|do (?:i|we|you)|should|have|has)\b|\b(?:do not|don['’]t|never|stop|no longer)\b/i

const DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
const PART = 'morning|afternoon|evening|night'
const UNIT = `(?:seconds?|minutes?|hours?|days?|weeks?|weekdays?|weekends?|months?|years?|${PART})`
const TIME = '(?:\\d{1,2}(?::\\d\\d)?(?: ?[ap]m\\b)?|noon|midnight)'
/** "every 2 hours", "each monday and thursday", "daily", "once a week"; "at 9" before or after it. */
const OFTEN =
  `(?:(?:every|each) (?:single )?(?:(?:other |\\d+ )?${UNIT}|${DAY}(?:(?:,| and|, and) ${DAY})*)|hourly|daily|nightly|weekly|monthly|once (?:a|an|per|every) (?:hour|day|week|month)|around the clock|continuously|regularly)`
const OFTEN_AT = `(?:(?:at (?<before>${TIME}) )?(?<often>${OFTEN})(?: (?:at|from) (?<after>${TIME})| (?:in the )?(?:${PART}))*)`
const BEHIND = 'in the background(?! (?:of|color|colour|image|picture)\\b)'
/** Requires the end of a clause after the phrase. */
const END = '(?=[.!?,;]+(?:\\s|$)|\\s*$|\\s+(?:and|then|to|until|so|for)\\s)'
/** Excludes a word before the phrase that makes it a name, as in "the folder daily". */
const NO_NAME = '(?<!\\b(?:in|of|from|to|into|named|called|folder|directory|file|the|a|an))'

const PHRASES = [
  new RegExp(`^${OFTEN_AT}(?![\\w./-])[\\s,:]*`, 'i'),
  new RegExp(`${NO_NAME}[\\s,]+${OFTEN_AT}${END}`, 'i')
]
const BACKGROUND = [new RegExp(`^${BEHIND}[\\s,:]+`, 'i'), new RegExp(`[\\s,]+${BEHIND}${END}`, 'i')]
const WATCHES = new RegExp(
  `^(?:keep (?:watching|checking|monitoring|an eye on|watch (?:on|over))|monitor|watch(?=[^]*\\bfor\\b))\\s+(?<what>${MARK}|[^]+?)(?: for (?:any )?(?:changes|updates|news|anything new))?(?<rest>(?:,| and| for)\\s[^]*)?(?:(?<!\\s)[.!?]+)?$`,
  'i'
)

/** Reads background work from a message: repeated work, work "in the background", or watching something. Undefined when there is none. */
export function readBackground (message: string): Background | undefined {
  if (message.length > LONGEST || GAP.test(message)) return undefined
  const marked = markQuotes(message.trim())
  const start = marked.text.replace(POLITE, '')
  if (ONLY_TALK.test(start)) return undefined
  const { text: once, interval } = takeInterval(start)
  const { text: left, was: isBehind } = take(once, BACKGROUND)
  const watched = WATCHES.exec(left)
  if (interval === undefined && !isBehind && watched === null) return undefined
  // Watching something means to look at it repeatedly.
  const goal = watched === null ? left : `look at ${watched.groups!.what}${watched.groups!.rest ?? ''}`
  const often = interval ?? (watched === null ? undefined : 'hourly')
  return { goal: marked.raw(goal).trim() || message.trim(), ...(often !== undefined && { interval: often }) }
}

function take (
  text: string,
  patterns: RegExp[]
): { text: string, was: boolean, groups?: Record<string, string | undefined>, all?: string } {
  for (const pattern of patterns) {
    const found = pattern.exec(text)
    if (found) return { text: text.replace(pattern, ''), was: true, groups: found.groups, all: found[0] }
  }
  return { text, was: false }
}

function takeInterval (text: string): { text: string, interval?: string } {
  const { text: rest, groups, all } = take(text, PHRASES)
  return groups === undefined
    ? { text }
    : { text: rest, interval: intervalOf(groups.often!.toLowerCase(), groups.before ?? groups.after, all!.toLowerCase()) }
}

const WORDS: Record<string, string> = { nightly: 'daily', regularly: 'daily', continuously: 'hourly', 'around the clock': 'hourly' }
const TIMES: Record<string, string> = { morning: '9:00', afternoon: '14:00', evening: '18:00', night: '21:00', nightly: '21:00' }

/** Returns the interval in the notation of schedules. */
function intervalOf (often: string, time: string | undefined, phrase: string): string {
  const part = new RegExp(`\\b(?:${PART}|nightly)\\b`).exec(phrase)?.[0]
  const once = /^once (?:a|an|per|every) (\w+)$/.exec(often)?.[1]
  const words = once !== undefined
    ? `every ${once}`
    : WORDS[often] ??
      often.replace(/^each /, 'every ').replace('every single ', 'every ').replace(new RegExp(`^every (?:${PART})$`), 'daily')
  const at = time === undefined ? part && TIMES[part] : timeOf(time.toLowerCase(), part)
  return at === undefined ? words : `${words} at ${at}`
}

/** Returns the time of day: "9" is nine o'clock, or 21:00 when the phrase names a later part of the day. */
function timeOf (time: string, part: string | undefined): string {
  const [, hour, minutes = ':00'] = /^(\d{1,2})(:\d\d)?$/.exec(time) ?? []
  if (hour === undefined) return time
  const isLater = part !== undefined && part !== 'morning' && Number(hour) < 12
  return `${isLater ? Number(hour) + 12 : Number(hour)}${minutes}`
}
