import { dateOf, daysOfMonthOf, isPlainTime, type NamedDate, nthDayOf, PARTS, weekdaysOf } from './day-words.ts'
import { numberOf, type Period, readDuration } from './durations.ts'
import { BadSchedule } from './schedule-errors.ts'

/** A parsed interval text, without the dates and times of other schedule fields. */
export interface Interval {
  /** Whether the text is a word such as "daily", with fixed times (09:00, Mondays, the 1st). Durations count from their start. */
  word: boolean
  period: Period | { unit: 'hour' | 'year' }
  /** The days that the text says itself: weekdays, days of the month, day fields of a cron line, or a date of each year. */
  weekdays?: number[]
  days?: number[]
  nth?: string
  date?: NamedDate
  /** How many times of day there must be. */
  count?: number
  part?: string
  /** The parts "… on monday", "… at 9am", "… between 9 and 17" and "… except sundays" of the text. */
  on?: string
  at?: string
  between?: string
  except?: string
}

export type Head = Omit<Interval, 'on' | 'between' | 'except'>
const WEEK = { word: true, period: { unit: 'week', every: 1 } } as const
const MONTH = { word: true, period: { unit: 'month', every: 1 } } as const
const DAY = { word: true, period: { unit: 'day', every: 1 } } as const
const YEAR = { word: true, period: { unit: 'year' } } as const

const HOUR = { word: true, period: { unit: 'hour' } } as const
const FORTNIGHT = { word: true, period: { unit: 'week', every: 2 } } as const
const QUARTER = { word: true, period: { unit: 'month', every: 3 } } as const

/** Words that say an interval by themselves. */
export const WORDS: Record<string, Head> = {
  hourly: HOUR,
  daily: DAY,
  nightly: { ...DAY, part: 'night' },
  weekly: WEEK,
  biweekly: FORTNIGHT,
  fortnightly: FORTNIGHT,
  monthly: MONTH,
  quarterly: QUARTER,
  yearly: YEAR,
  annually: YEAR
}
/** Behind "every". */
const UNITS: Record<string, Head> = {
  hour: HOUR,
  day: DAY,
  week: WEEK,
  fortnight: FORTNIGHT,
  month: MONTH,
  quarter: QUARTER,
  year: YEAR
}
const PART = new RegExp(`(?:^| )(${Object.keys(PARTS).join('|')})s?$`)

type Keyword = 'on' | 'at' | 'between' | 'except' | 'in'
/** What a text can say behind its interval, by the word that begins it. */
const KEYWORDS: Record<string, Keyword> = {
  on: 'on',
  at: 'at',
  between: 'between',
  from: 'between',
  except: 'except',
  excluding: 'except',
  in: 'in'
}

/** The text with single blanks, and times of day as one word. */
export const tidy = (text: string): string =>
  text.trim().replace(/\s+/g, ' ').replace(/[.!]+$/, '').replace(/\b([ap])\.m\b\.?/gi, '$1m').replace(/(\d) ([ap]m)\b/gi, '$1$2')
    .replace(/\b(?:but not|apart from|but)\b/gi, 'except')

const PLAIN = String.raw`(?:\d{1,2}(?:[:.]\d\d)?[ap]m|noon|midnight)`
const TIME = String.raw`(?:${PLAIN}|\d{1,2}[:.]\d\d(?::\d\d)?)`
const PART_NAME = `(?:${Object.keys(PARTS).join('|')})`
const list = (item: string, least = 0) => String.raw`${item}(?:(?:,? and |, ?)${item}){${least},}`
const ORDINALS = ['', '', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']
const REPEATED = String.raw`every|each|daily|nightly|monthly|weekdays|weekends|on|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*`

const TIME_FIRST = new RegExp(String.raw`^(?:at )?(${list(TIME)}),? (?=every |each |daily$|on )(.+)$`, 'i')
const TIME_LAST = new RegExp(String.raw`^((?:${REPEATED})\b.*?),? (${list(TIME)})$`, 'i')
/** "every day 9"; a number behind anything else may be a date or a count. */
const HOUR_LAST = /^((?:(?:every|each) )?(?:day|daily|weekdays?|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)) (\d{1,2})$/i
/** "every 9:00" may be a duration, "every 9am" is none. */
const ONLY_TIMES = new RegExp(`^(?:every|each) (${list(PLAIN)})$`, 'i')
const SOME_PARTS = new RegExp(`^(?:every|each) (${list(PART_NAME, 1)})(?= on |$)`, 'i')
const EVERY_NTH = new RegExp(
  String.raw`^(every|each) (${ORDINALS.slice(2).join('|')}|\d{1,2}(?:nd|rd|th)) (day|week|month|hour|minute)(?! of)(?=,? |$)`,
  'i'
)

/**
 * A text in the order and with the words that the rest of the grammar reads: people leave out "at", put the time first, and say "every
 * second day". "9am every day" becomes "every day at 9am".
 */
function inOrder (text: string): string {
  const words = tidy(text)
  const ordered = words
    .replace(EVERY_NTH, (_all, every: string, nth: string, unit: string) =>
      `${every} ${ORDINALS.includes(nth.toLowerCase()) ? ORDINALS.indexOf(nth.toLowerCase()) : Number.parseInt(nth)} ${unit}s`)
    .replace(ONLY_TIMES, 'every day at $1')
    .replace(SOME_PARTS, (_all, parts: string) => {
      const hours = parts.toLowerCase().split(/,? and |, ?/).map((part) => PARTS[part] / 3600)
      return `every day at ${hours.map((hour) => `${hour}:00`).join(' and ')}`
    })
  if (/ (?:at|between|from|in) /i.test(ordered)) return ordered
  const first = TIME_FIRST.exec(ordered)
  if (first !== null) return `${first[2]} at ${first[1].replaceAll('.', ':')}`
  const last = TIME_LAST.exec(ordered) ?? HOUR_LAST.exec(ordered)
  return last === null ? ordered : `${last[1]} at ${last[2].replaceAll('.', ':')}`
}

/** Splits a text into its beginning and the parts that its keywords begin; undefined when a part comes twice or is empty. */
export function splitParts (text: string): Partial<Record<'head' | Keyword, string>> | undefined {
  const parts: Record<string, string[]> = { head: [] }
  let part = 'head'
  for (const word of tidy(text).split(' ')) {
    const name = Object.hasOwn(KEYWORDS, word.toLowerCase()) ? KEYWORDS[word.toLowerCase()] : undefined
    if (name === undefined || (part === 'except' && name === 'on' && parts.except.length === 0)) parts[part].push(word)
    else if (Object.hasOwn(parts, name)) return undefined
    else parts[part = name] = []
  }
  const texts = Object.entries(parts).map(([name, words]) => [name, words.join(' ').replace(/,$/, '')])
  return texts.some(([name, words]) => words === '' && name !== 'head') ? undefined : Object.fromEntries(texts)
}

/** Returns a function that takes the part of the day off the end of a text, and the parts that it has taken. */
export function partTaker (): { named: string[], withoutPart: (text: string) => string } {
  const named: string[] = []
  return {
    named,
    withoutPart (text) {
      const [all = '', part] = PART.exec(text.toLowerCase()) ?? []
      if (part === undefined) return text
      named.push(part)
      return text.slice(0, text.length - all.length).replace(/(?:^| )the$/, '').trim()
    }
  }
}

/**
 * Parses every interval except cron lines; undefined for other texts. Throws BadSchedule (400) for durations that are not allowed and for
 * what may mean two things.
 */
export function readInterval (text: string): Interval | undefined {
  const parts = splitParts(inOrder(text))
  if (parts === undefined || parts.between === 'now') return undefined
  const { head = '', in: within = '', except } = parts
  let { on, at, between } = parts
  if (between !== undefined && on === undefined && weekdaysOf(between) !== undefined) [on, between] = [between, undefined]

  const { named, withoutPart } = partTaker()
  const start = withoutPart(head)
  on = on && withoutPart(on)
  at = at && (withoutPart(at) || undefined)
  if (withoutPart(within) !== '' || named.length > 1) return undefined

  const read = start === '' ? readBare(on, at) : readHead(start, named.length > 0)
  if (read === undefined) return undefined
  if (read.at !== undefined && at !== undefined) return undefined
  const part = named[0] ?? read.part
  return {
    ...read,
    ...part !== undefined && { part },
    ...on !== undefined && { on },
    ...at !== undefined && { at },
    ...between !== undefined && { between },
    ...except !== undefined && { except }
  }
}

/** A text that says no interval: "on weekdays at 9", "at 9 and 17". One weekday or one time would be a single time. */
function readBare (on: string | undefined, at: string | undefined): Head | undefined {
  if (on !== undefined) {
    const weekdays = weekdaysOf(on)?.length ?? 0
    if (weekdays === 1 && /days$/i.test(on)) return WEEK
    if (weekdays > 1) return /s$| to |-| through /i.test(on) ? WEEK : undefined
    return saysDaysOfMonth(on, false) && (daysOfMonthOf(on) ?? nthDayOf(on)) !== undefined ? MONTH : undefined
  }
  const times = at?.toLowerCase().split(/,? and |, /) ?? []
  return times.length > 1 && times.every(isPlainTime) ? DAY : undefined
}

function readHead (text: string, hasPart: boolean): Head | undefined {
  const key = text.toLowerCase()
  const many = /^(once|twice|(\w+) times) (?:a|an|per|each|every) ([a-z]+)$/.exec(key)
  if (many !== null) return readMany(text, many)
  const [, every, rest = key] = /^(every|each)(?: single)?(?: (.+))?$/.exec(key) ?? []
  if (every !== undefined && rest === key) return hasPart ? DAY : undefined
  const words = every === undefined ? WORDS : UNITS
  if (Object.hasOwn(words, rest)) return words[rest]
  const times = rest.split(/,? and |, /)
  if (every === undefined && times.length > 1 && times.every(isPlainTime)) return { ...DAY, at: rest }

  const other = /^other (.+)$/.exec(rest)
  const weekdays = weekdaysOf(other?.[1] ?? rest)
  if (weekdays !== undefined) return { word: true, period: { unit: 'week', every: other === null ? 1 : 2 }, weekdays }
  const ofMonth = readDaysOfMonth(rest, text, every !== undefined)
  if (ofMonth !== undefined) return ofMonth
  const period = readDuration(text)
  return period && { word: false, period }
}

/** "once a week", "three times a day". */
function readMany (text: string, [, times, number = '', unit]: RegExpExecArray): Head | undefined {
  const count = times === 'once' ? 1 : times === 'twice' ? 2 : numberOf(number)
  const head = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  if (head === undefined || !Number.isInteger(count) || count < 1) return undefined
  if (count === 1) return head
  if (unit !== 'day') throw doubtful(text, `name the days of the ${unit}, as in "every monday and thursday at 9"`)
  return { ...DAY, count }
}

const OF_MONTH = / (?:day )?of (?:the|each|every) month$/i

/** Whether days are said to be of each month; "the 15th" may be one day, "1st and 15th" and "the last day" are not. */
const saysDaysOfMonth = (text: string, isEvery: boolean) =>
  /\b(?:last|first)\b/i.test(text) ||
  (/\d(?:st|nd|rd|th)\b/i.test(text) && (isEvery || OF_MONTH.test(text) || /,| and /i.test(text)))

/** "first monday of the month", "1st and 15th", "last working day", "december 24". */
function readDaysOfMonth (rest: string, text: string, isEvery: boolean): Head | undefined {
  const nth = nthDayOf(rest)
  if (nth !== undefined && isEvery && !OF_MONTH.test(rest) && /^(?:second|2nd|third|3rd|fourth|4th) /.test(rest)) {
    throw doubtful(text, 'write "every other friday", "every 3 weeks on friday" or "second friday of the month"')
  }
  if (nth !== undefined) return { ...MONTH, nth }
  const days = saysDaysOfMonth(rest, isEvery) ? daysOfMonthOf(rest) : undefined
  if (days !== undefined) return { ...MONTH, days }
  const date = isEvery ? dateOf(rest) : undefined
  return date !== undefined && date.year === undefined ? { ...YEAR, date } : undefined
}

const doubtful = (text: string, advice: string) => new BadSchedule('interval', `"${text}" may mean several things: ${advice}.`)
