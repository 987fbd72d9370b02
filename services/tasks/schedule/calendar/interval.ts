import { duration, type Period } from './durations.ts'
import { weekdaysOf } from './schedule-words.ts'

/** A parsed interval text, without the dates and times of other schedule fields. */
export type Interval = {
  /** Whether the text is a word such as "daily", with fixed times (09:00, Mondays, the 1st). Durations count from their start. */
  word: boolean,
  period: Period | { unit: 'hour' | 'year' },
  weekdays?: number[],
  /** The parts "… on monday" and "… at 9am" of the text. */
  on?: string,
  at?: string
}

type Word = Pick<Interval, 'period' | 'weekdays'>
const DAILY: Word = { period: { unit: 'day', every: 1 } }
const WEEKLY: Word = { period: { unit: 'week', every: 1 } }
const WEEKDAYS: Word = { ...WEEKLY, weekdays: [0, 1, 2, 3, 4] }
const WEEKENDS: Word = { ...WEEKLY, weekdays: [5, 6] }
const MONTHLY: Word = { period: { unit: 'month', every: 1 } }
const HOURLY: Word = { period: { unit: 'hour' } }
const YEARLY: Word = { period: { unit: 'year' } }

const WORDS: Record<string, Word> = {
  hourly: HOURLY,
  'every hour': HOURLY,
  daily: DAILY,
  'every day': DAILY,
  weekdays: WEEKDAYS,
  'every weekday': WEEKDAYS,
  weekends: WEEKENDS,
  'every weekend': WEEKENDS,
  weekly: WEEKLY,
  'every week': WEEKLY,
  monthly: MONTHLY,
  'every month': MONTHLY,
  yearly: YEARLY,
  annually: YEARLY,
  'every year': YEARLY
}

/** Parses every interval except cron lines; undefined for other texts. Throws BadSchedule (400) for durations that are not allowed. */
export function readInterval (text: string): Interval | undefined {
  const trimmed = text.trim().replace(/\s+/g, ' ')
  const [, before, at] = /^(.+?) at (.+)$/i.exec(trimmed) ?? [undefined, trimmed]
  const [, period, on] = /^(.+?) on (.+)$/i.exec(before) ?? [undefined, before]
  const parsed = parsePeriod(period)
  return parsed && { ...parsed, on, at }
}

function parsePeriod (text: string): Interval | undefined {
  const key = text.toLowerCase()
  if (Object.hasOwn(WORDS, key)) return { word: true, ...WORDS[key] }
  const weekdays = weekdaysOf(key.replace(/^every /, ''))
  if (weekdays) return { word: true, ...WEEKLY, weekdays }
  const period = duration(text)
  return period && { word: false, period }
}
