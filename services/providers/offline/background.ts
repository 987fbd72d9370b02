import { MARK, markQuotes } from './quotes.ts'

/** Work that is to be done beside the conversation: what, and how often when it repeats, as schedules are written. */
export interface Background {
  goal: string
  interval?: string
}

/** Longer messages are no plain commands, nor are those with such gaps, in which the patterns would lose themselves. */
const LONGEST = 4_000
const GAP = /[\s,]{40}/

const POLITE =
  /^(?:(?:please|kindly|hey|hi|hello|ok|okay|from now on|starting (?:today|now|tomorrow)|(?:could|can|would|will) you(?: please)?|i(?:['’]d| would)? (?:want|like|need) you to)[\s,]+)+/i
/** Questions and refusals that only speak of such work. */
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
/** Behind the phrase a clause ends. */
const END = '(?=[.!?,;]+(?:\\s|$)|\\s*$|\\s+(?:and|then|to|until|so|for)\\s)'
/** Before it stands no word that makes it a name, as in "the folder daily". */
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

/** Reads whether a message wants its work done by itself: at times, in the background, or for as long as there is something to watch. */
export function readBackground (message: string): Background | undefined {
  if (message.length > LONGEST || GAP.test(message)) return undefined
  const marked = markQuotes(message.trim())
  const start = marked.text.replace(POLITE, '')
  if (ONLY_TALK.test(start)) return undefined
  const { text: once, interval } = takeInterval(start)
  const { text: left, was: isBehind } = take(once, BACKGROUND)
  const watched = WATCHES.exec(left)
  if (interval === undefined && !isBehind && watched === null) return undefined
  // To watch is to look again and again.
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

/** What was said, as schedules are written. */
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

/** "9" is nine o'clock, in the evening when that was said. */
function timeOf (time: string, part: string | undefined): string {
  const [, hour, minutes = ':00'] = /^(\d{1,2})(:\d\d)?$/.exec(time) ?? []
  if (hour === undefined) return time
  const isLater = part !== undefined && part !== 'morning' && Number(hour) < 12
  return `${isLater ? Number(hour) + 12 : Number(hour)}${minutes}`
}
