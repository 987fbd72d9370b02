import type { Schedule } from '../../schemas/schedule.ts'
import { PARTS, resolveClock, timesOfDay } from './clock-words.ts'
import type { NamedDate } from './day-words.ts'
import { DAY } from './days.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { CronDates } from './schedule-plan.ts'
import { readTimeWords } from './time-rules.ts'
import { type RhythmPeriod, tidy, type TimeWords } from './time-words.ts'
import { localTime } from './zone.ts'
import { takeZone } from './zone-in-words.ts'

/** What a text says of repeated times, without the fields of a schedule that stand beside it. */
export interface Interval {
  /** Whether it is a word such as "daily", with fixed times (09:00, Mondays, the 1st). Durations count from their start. */
  isWord: boolean
  period: RhythmPeriod
  weekdays?: number[]
  daysOfMonth?: number[]
  nth?: CronDates
  date?: NamedDate
  /** How many times of day there must be. */
  count?: number
  part?: string
  /** Seconds of the day. */
  at?: number[]
  /** The minute of every hour. */
  minute?: number
  window?: [from: string, to: string]
  except?: string[]
}

/** A text about a time: one, as the field of a schedule has it, or repeated ones, which begin on the day that `start` says. */
export interface Phrase {
  once?: Pick<Schedule, 'once' | 'in'>
  interval?: Interval
  /** The text without its zone and its first day. */
  text: string
  zone?: string
  start?: string
}

/** Words that may stand between those that say a time. */
const JOINTS = /^,? *;(?:(?:[,:\s]|\b(?:at|on|the|and|then)\b)*;)*,? *$/
const OFTEN = '(?:every|each|daily|weekly|monthly|fortnightly|biweekly|weekdays|[a-z]+days)\\b'
const STARTS_LAST = new RegExp(`^(.*\\b${OFTEN}.*?),? (?:starting|beginning|from|as of) (?:on )?(.+)$`)
const STARTS_FIRST = new RegExp(`^(?:starting|beginning|from) (?:on )?(.+?)(?: on| onwards?)?,? (${OFTEN}.*)$`)
/** "From 9 to 5" is a span and no first day. */
const SPAN = / (?:to|until|till|and|through) |-/
const OVER = /^(?:on )?last (?:[a-z]+day|week|month|year|night)\b(?! of)|^yesterday\b/
const SAME_TIME = /^(?:at )?(?:this|the same|same) time tomorrow$|^tomorrow at (?:this|the same) time$/

/**
 * Reads a whole text about a time. Undefined when it is none, or says more than that. Throws BadSchedule (400) for what may mean several
 * times, does not exist or is over.
 */
export function readPhrase (written: string, { timezone, now }: { timezone: string, now: number }): Phrase | undefined {
  const clock = (zone: string) => new Date(localTime(zone, now)).toISOString().slice(11, 16)
  const text = tidy(written).replace(SAME_TIME, `tomorrow at ${clock(timezone)}`)
  if (OVER.test(text)) {
    throw new BadSchedule('once', `"${written.trim()}" is over: say a time that is still to come, or "the last … of every month".`)
  }
  const { text: zoneless, zone } = takeZone(text)
  const { text: body, start } = takeStart(zoneless)
  const local = localTime(zone ?? timezone, now)
  const found = readTimeWords(body, Math.floor(local / DAY))
  if (!JOINTS.test(found.rest)) return undefined
  const [doubt] = found.doubts
  if (doubt !== undefined) throw new BadSchedule('interval', doubt)
  const once = found.repeated.length === 0 ? onceOf(found, { written, local }) : undefined
  const interval = once === undefined ? intervalOf(found, written) : undefined
  if (once === undefined && interval === undefined) return undefined
  return { once, interval, text: body, zone, start }
}

/** Takes the day of the first run off a repeated time: "every 3 days at 8am starting tomorrow". */
function takeStart (text: string): { text: string, start?: string } {
  const [, early, rest] = STARTS_FIRST.exec(text) ?? []
  if (early !== undefined && !SPAN.test(early)) return { text: rest, start: early }
  const [, repeated, start] = STARTS_LAST.exec(text) ?? []
  return start === undefined || SPAN.test(start.replace(/\d{4}-\d\d-\d\d/, '')) ? { text } : { text: repeated, start }
}

/** One time: a wait, or a day with an hour or a part of the day; 09:00 without. Undefined when it is none. */
function onceOf (found: TimeWords, { written, local }: { written: string, local: number }): Phrase['once'] {
  const { waits: [wait], days: [day], times: [time], parts: [part], ...others } = found
  if ([found.waits, found.times, found.parts].some((list) => list.length > 1) || hasRepeated(others)) return undefined
  // "Monday mornings" are many.
  if (part !== undefined && (part.parts.length > 1 || /s$/.test(part.words))) return undefined
  // "Tomorrow night" and "this evening" name a day and its part; "tonight" both at once.
  const days = found.days.filter(({ words }) => !/^this /.test(words) || found.days.length === 1)
  if (days.length > 1 || (time !== undefined && time.texts.length > 1)) return undefined
  if (wait !== undefined && time === undefined && part === undefined) return { in: wait.text }
  if (wait !== undefined && (wait.period.unit === 'exact' || wait.period.unit === 'month')) return undefined
  // "Today" and "the 15th" alone say no time.
  const isBare = day === undefined || /today$/.test(day.words) || found.daysOfMonth.length > 0
  if (time === undefined && part === undefined && isBare) return undefined
  const text = time?.texts[0] ?? ''
  if (day === undefined && part === undefined && time?.clocks[0].form === 'bare') return undefined
  const isMidnight = text === 'midnight'
  if (isMidnight && !/tonight/.test(day?.words ?? '')) throw doubtful(written, 'write the date and "00:00" or "23:59"')
  const name = part?.parts[0]
  const ofDay = time === undefined ? PARTS[name ?? 'morning'] : resolveClock(time.clocks[0], text, isMidnight ? undefined : name, 'once')
  const second = isMidnight ? DAY / 1000 : ofDay
  const candidates = day?.days ?? [Math.floor(local / DAY)]
  const first = /tonight/.test(day?.words ?? '') && second > 6 * 3600 ? candidates.slice(0, 1) : candidates
  const ahead = first.map((each) => each * DAY + second * 1_000).find((each) => each > local)
  if (ahead === undefined) throw new BadSchedule('once', `"${written.trim()}" is over: say a time that is still to come, with its date.`)
  return { once: new Date(ahead).toISOString().slice(0, second % 60 === 0 ? 16 : 19) }
}

const hasRepeated = ({ nths, rhythms, daysOfMonth, windows, minutes, except, months, weekdays }: Pick<TimeWords,
  'nths' | 'rhythms' | 'daysOfMonth' | 'windows' | 'minutes' | 'except' | 'months' | 'weekdays'>) =>
  daysOfMonth.some(({ isEach }) => isEach) || [nths, rhythms, windows, minutes, except, months].some((list) => list.length > 0) ||
  weekdays.length > 1 || weekdays.some(({ isSingle }) => !isSingle)

const doubtful = (text: string, advice: string) => new BadSchedule('interval', `"${text.trim()}" may mean several things: ${advice}.`)

/** Repeated times; undefined when the words say none, or too much. */
function intervalOf (found: TimeWords, written: string): Interval | undefined {
  const { weekdays: days, nths, daysOfMonth, times, windows, minutes, parts, except, days: dates } = found
  if ([days, nths, daysOfMonth, times, windows, minutes, except, found.waits].some((list) => list.length > 1)) return undefined
  if (found.waits.length > 0 || found.once.length > dates.length || parts.length > 1) return undefined
  const named = dates.filter(({ isRepeatable }) => isRepeatable !== true)
  if (named.length > 1 || (named.length === 1 && named[0].date === undefined)) return undefined
  const rhythm = rhythmOf(found)
  const [list, ...others] = [days, nths, daysOfMonth, named].filter((each) => each.length > 0)
  if (rhythm === undefined || others.length > 0) return undefined
  const { period, isWord, count } = rhythm
  const ofPeriod = days[0]?.days.length ?? daysOfMonth[0]?.days.length ?? 1
  if (count !== undefined && period.unit !== 'day' && count !== ofPeriod) {
    throw doubtful(written, `name the days of the ${period.unit}, as in "every monday and thursday at 9"`)
  }
  const ofDays = { exact: [days], hour: [days], day: [days], week: [days], month: [nths, daysOfMonth], year: [named] }[period.unit]
  const isOneDay = period.unit === 'day' && days[0]?.days.length === 1
  const isNthOfMany = nths.length > 0 && period.unit === 'month' && period.every > 1
  if (list !== undefined && (!ofDays.some((each) => each === list) || isOneDay || isNthOfMany)) return undefined
  const many = parts[0]?.parts ?? []
  if (many.length > 1 && times.length > 0) return undefined
  const part = many.length === 1 ? many[0] : undefined
  const ofParts = many.length > 1 ? many.map((each) => PARTS[each]) : undefined
  const at = times[0] === undefined ? ofParts : timesOfDay(times[0].texts.join(' and '), part)
  return {
    isWord,
    period,
    weekdays: days[0]?.days,
    daysOfMonth: daysOfMonth[0]?.days,
    nth: nths[0]?.dates,
    date: named[0]?.date,
    count: period.unit === 'day' ? count : undefined,
    part,
    at,
    minute: minutes[0],
    window: windows[0]?.ends,
    except: except.length === 0 ? undefined : except
  }
}

type Rhythm = Pick<Interval, 'isWord' | 'period' | 'count'>
const often = (unit: 'day' | 'week' | 'month'): Rhythm => ({ isWord: true, period: { unit, every: 1 } })

/** How often words say; without a word for it they do by days of the week or the month, or by several times of day. */
function rhythmOf ({ rhythms, weekdays, nths, daysOfMonth, times, parts }: TimeWords): Rhythm | undefined {
  const [{ words = '', period, isWord = true, count } = {}, ...more] = rhythms
  // "Every month on the 1st of each month" says the same twice; "daily daily" says nothing.
  const isSame = more.every((each) => JSON.stringify([each.period, each.count]) === JSON.stringify([period, count]))
  if (more.length > 1 || !isSame || (more.length > 0 && /day|daily/.test(words))) return undefined
  if (period !== undefined) return { isWord, period, count }
  if (rhythms.length > 0) return undefined
  if (weekdays.length > 0) {
    const isLoose = !weekdays[0].isEvery && (weekdays[0].isSingle || /^on /.test(weekdays[0].words))
    return isLoose && !/s$/.test(parts[0]?.words ?? '') ? undefined : often('week')
  }
  if (nths.length > 0 || daysOfMonth.some(({ isEach }) => isEach)) return often('month')
  const isList = (times[0]?.texts.length ?? 0) > 1 && times[0].clocks.every(({ form }) => form !== 'bare')
  return isList ? often('day') : undefined
}
