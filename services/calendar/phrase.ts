import type { Schedule } from '../../schemas/schedule.ts'
import { resolveClock, timeOfPart } from './clock-words.ts'
import { DAY } from './days.ts'
import { BadSchedule, check, SEVERAL } from './schedule-errors.ts'
import type { Machine } from './schedule-plan.ts'
import { daysOfPeriod, type Meaning, readTimeWords } from './time-rules.ts'
import { tidy } from './tokens.ts'
import { localTime } from './zone.ts'
import { takeZone } from './zone-in-words.ts'

/** Repeated times as parsed from a text, without the other fields of the schedule. */
export interface Interval extends Pick<Meaning, 'nth' | 'date' | 'minute' | 'window' | 'except'> {
  isWord: boolean
  period: NonNullable<Meaning['rhythm']>['period']
  /** How many times of day the text requires, as in "twice a day". */
  count?: number
  weekdays?: number[]
  daysOfMonth?: number[]
  part?: string
  /** Seconds of the day. */
  at?: number[]
}

/** Whether the interval names days, not only how often it repeats. */
export const hasDays = ({ weekdays, daysOfMonth, nth, date }: Interval): boolean => (weekdays ?? daysOfMonth ?? nth ?? date) !== undefined

/**
 * A parsed text about time. `once`: a single time, as fields of a schedule. `interval`: repeated times, which
 * begin on the day that the words `start` name.
 */
export interface Phrase {
  once?: Pick<Schedule, 'once' | 'in'>
  interval?: Interval
  meaning: Meaning
  /** The words that name times of day. */
  hours?: string
  /** The text without the time zone and the first day. */
  text: string
  zone?: string
  start?: string
}

const OFTEN = '(?:every|each|hourly|daily|weekly|monthly|fortnightly|biweekly|weekdays|[a-z]+days)\\b'
const STARTS_LAST = new RegExp(`^(.*\\b${OFTEN}.*?),? (?:starting|beginning|from|as of) (?:on )?(.+)$`)
const STARTS_FIRST = new RegExp(`^(?:starting|beginning|from) (?:on )?(.+?)(?: on| onwards?)?,? (${OFTEN}.*)$`)
/** Matches the joint of a span: "from 9 to 5" names no first day. */
const SPAN = / (?:to|until|till|and|through) |-/
const OVER = /^(?:on )?last (?:[a-z]+day|week|month|year|night)\b(?! of)|^yesterday\b/
const SAME_TIME = /^(?:at )?(?:this|the same|same) time tomorrow$|^tomorrow at (?:this|the same) time$/

/**
 * Parses a text that is wholly about time; undefined if it is not, or says anything else. Throws BadSchedule
 * (400) for a time that is ambiguous, does not exist or is over.
 */
export function readPhrase (written: string, { timezone, now }: Machine): Phrase | undefined {
  const clock = (zone: string) => new Date(localTime(zone, now)).toISOString().slice(11, 16)
  const text = tidy(written).replace(SAME_TIME, `tomorrow at ${clock(timezone)}`)
  check(!OVER.test(text), 'once', `"${written.trim()}" is over: say a time that is still to come, or "the last … of every month".`)
  const { text: zoneless, zone } = takeZone(text)
  const { text: body, start } = takeStart(zoneless)
  const local = localTime(zone ?? timezone, now)
  const { meaning, isWhole, doubt, hours } = readTimeWords(body, Math.floor(local / DAY))
  if (!isWhole) return undefined
  check(doubt === undefined, 'interval', doubt ?? '')
  const interval = intervalOf(meaning, written)
  const once = interval === undefined ? onceOf(meaning, { written, local }) : undefined
  return once === undefined && interval === undefined ? undefined : { once, interval, meaning, hours, text: body, zone, start }
}

/** Splits the day of the first run from a repeated time: "every 3 days at 8am starting tomorrow". */
function takeStart (text: string): { text: string, start?: string } {
  const [, early, rest] = STARTS_FIRST.exec(text) ?? []
  if (early !== undefined && !SPAN.test(early)) return { text: rest, start: early }
  const [, repeated, start] = STARTS_LAST.exec(text) ?? []
  return start === undefined || SPAN.test(start.replace(/\d{4}-\d\d-\d\d/, '')) ? { text } : { text: repeated, start }
}

/**
 * Returns a single time: a wait, or a day with an hour or a part of the day (09:00 by default). Returns
 * undefined if the words do not name a single time.
 */
function onceOf (meaning: Meaning, { written, local }: { written: string, local: number }): Phrase['once'] {
  const { wait, times = [], part, weekdays, daysOfMonth, isTonight, nth, rhythm, window, minute, except } = meaning
  const isOften = (nth ?? rhythm ?? window ?? minute ?? except) !== undefined ||
    [weekdays, daysOfMonth].some((list) => list !== undefined && list.coming === undefined)
  // "Monday mornings" means repeated times.
  if (isOften || part?.isPlural || times.length > 1) return undefined
  const today = Math.floor(local / DAY)
  const [time] = times
  const hasHour = time !== undefined || part !== undefined
  const period = wait?.period
  const ahead = period?.unit === 'day' || period?.unit === 'week' ? [today + daysOfPeriod(period)] : undefined
  const named = [meaning.day, weekdays?.coming, daysOfMonth?.coming, ahead].filter((days) => days !== undefined)
  if (wait !== undefined && named.length === (ahead === undefined ? 0 : 1) && !hasHour) return { in: wait.text }
  if (wait !== undefined && ahead === undefined) return undefined
  if (named.length > 1) return undefined
  // "Today" and "the 15th" alone name no time.
  const isBare = named.length === 0 || meaning.day?.[0] === today || daysOfMonth !== undefined
  if (!hasHour && isBare) return undefined
  if (named.length === 0 && part === undefined && time.form === 'bare') return undefined
  const isMidnight = time?.text === 'midnight'
  check(!isMidnight || isTonight === true, 'interval', `"${written.trim()}" ${SEVERAL}: write the date and "00:00" or "23:59".`)
  const name = part?.names[0]
  const ofDay = time === undefined ? timeOfPart(name ?? 'morning') : resolveClock(time, isMidnight ? undefined : name)
  const second = isMidnight ? DAY / 1000 : ofDay
  const [days = [today]] = named
  const first = isTonight && second > 6 * 3600 ? days.slice(0, 1) : days
  const coming = first.map((each) => each * DAY + second * 1_000).find((each) => each > local)
  check(coming !== undefined, 'once', `"${written.trim()}" is over: say a time that is still to come, with its date.`)
  return { once: new Date(coming).toISOString().slice(0, second % 60 === 0 ? 16 : 19) }
}

/** Returns repeated times; undefined if the words name none, or name things that do not fit together. */
function intervalOf (meaning: Meaning, written: string): Interval | undefined {
  const { weekdays, daysOfMonth, nth, date, times, window, minute, part, except } = meaning
  const rhythm = meaning.rhythm ?? impliedRhythm(meaning)
  if (rhythm === undefined || meaning.wait !== undefined || meaning.isOnce) return undefined
  if (meaning.day !== undefined && date === undefined) return undefined
  const { period, isWord, count } = rhythm
  const lists = Object.entries({ weekdays, daysOfMonth, nth, date }).filter(([, list]) => list !== undefined).map(([name]) => name)
  const ofPeriod = weekdays?.days.length ?? daysOfMonth?.days.length ?? 1
  if (lists.length > 1) return undefined
  check(count === undefined || period.unit === 'day' || count === ofPeriod, 'interval',
    `"${written.trim()}" ${SEVERAL}: name the days of the ${period.unit}, as in "every monday and thursday at 9".`)
  const allowed = { month: ['nth', 'daysOfMonth'], year: ['date'] }[period.unit as 'month' | 'year'] ?? ['weekdays']
  const isOneDay = period.unit === 'day' && weekdays?.days.length === 1
  const isNthOfMany = nth !== undefined && period.unit === 'month' && period.every > 1
  if (!lists.every((name) => allowed.includes(name)) || isOneDay || isNthOfMany) return undefined
  const names = part?.names ?? []
  if (names.length > 1 && times !== undefined) return undefined
  const name = names.length === 1 ? names[0] : undefined
  const at = times?.map((time) => resolveClock(time, name)) ?? (names.length > 1 ? names.map(timeOfPart) : undefined)
  const ofDay = { count: period.unit === 'day' ? count : undefined, part: name, at: at && [...new Set(at)].toSorted((a, b) => a - b) }
  return { isWord, period, weekdays: weekdays?.days, daysOfMonth: daysOfMonth?.days, nth, date, minute, window, except, ...ofDay }
}

/**
 * Returns the rhythm that days of the week or month, or several times of day, imply without a word such as "weekly"; undefined for none.
 */
function impliedRhythm ({ weekdays, nth, daysOfMonth, times = [], part, day }: Meaning): Meaning['rhythm'] {
  const often = (unit: 'day' | 'week' | 'month') => ({ isWord: true, period: { unit, every: 1 } })
  if (weekdays !== undefined) return weekdays.isEvery || part?.isPlural ? often('week') : undefined
  if (nth !== undefined || (daysOfMonth !== undefined && daysOfMonth.coming === undefined)) return often('month')
  return day === undefined && times.length > 1 && times.every(({ form }) => form !== 'bare') ? often('day') : undefined
}

/** What kind of time a text names: one time, repeated times, or a time that is ambiguous or does not exist (`doubt`). */
export type KindOfTime = 'once' | 'repeated' | 'doubt'

/** Returns the kind of time that a text names, even if that time is over; undefined if the text is not wholly about time. */
export function kindOfTime (text: string): KindOfTime | undefined {
  try {
    // At the Unix epoch, every time is still ahead.
    const { once, start, interval } = readPhrase(text, { timezone: 'UTC', now: 0 }) ?? {}
    return start !== undefined ? 'doubt' : once !== undefined ? 'once' : interval && 'repeated'
  } catch (error) {
    if (error instanceof BadSchedule) return 'doubt'
    throw error
  }
}
