import { duration, type Period } from './durations.ts'
import { weekdaysOf } from './schedule-words.ts'

/** What an interval says apart from dates and times given elsewhere. */
export type Interval = {
  /** Words come at set times (09:00, Mondays, the 1st); durations are counted from their start. */
  word: boolean,
  period: Period | { unit: 'hour' | 'year' },
  weekdays?: number[],
  /** "… on monday", "… at 9am", when they are part of the text. */
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

/** Reads everything but cron lines; undefined when it is none of that. Throws BadSchedule for durations that cannot be. */
export function readInterval (text: string): Interval | undefined {
  const trimmed = text.trim().replace(/\s+/g, ' ')
  const [, before, at] = /^(.+?) at (.+)$/i.exec(trimmed) ?? [undefined, trimmed]
  const [, what, on] = /^(.+?) on (.+)$/i.exec(before) ?? [undefined, before]
  const found = read(what)
  return found && { ...found, on, at }
}

function read (text: string): Interval | undefined {
  const key = text.toLowerCase()
  if (Object.hasOwn(WORDS, key)) return { word: true, ...WORDS[key] }
  const weekdays = weekdaysOf(key.replace(/^every /, ''))
  if (weekdays) return { word: true, ...WEEKLY, weekdays }
  const period = duration(text)
  return period && { word: false, period }
}
