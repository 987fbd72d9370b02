import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { nextLocal, nextSlot } from './calendar.ts'
import { CLOCK_FORMS, resolveClock, timeOfPart } from './clock-words.ts'
import { looksLikeCron, readCron } from './cron-line.ts'
import { weekdayNamed, WEEKDAYS } from './day-words.ts'
import { DAY, dayOfMonth, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import { hasDays, type Interval, type Phrase, readPhrase } from './phrase.ts'
import { BadSchedule, check, hintOf } from './schedule-errors.ts'
import type { CalendarPlan, Dates, Machine, MomentPlan, Plan, Times } from './schedule-plan.ts'
import { daysOfPeriod, readField } from './time-rules.ts'
import { isTimezone, localTime } from './zone.ts'

/** A `startAt` that is at most this many milliseconds old still counts, because a client that meant "now" arrives a little later. */
const JUST_NOW_MS = 60_000
/** The time of day of intervals that name none, in seconds: the start of a working day. */
const DEFAULT_TIME = 9 * 3600
const LAST_SECOND = 86_399
const WINDOW = 'every 10 minutes between 9 and 17'

/**
 * Parses a schedule to the plan that begins now. The plan is stored and passed to `due`, `nextSlot` and `upcoming`.
 * Durations are counted from `startAt` or `now`, so a schedule is parsed when it starts, not only when it is written. Throws
 * BadSchedule (400), also if no planned time is ahead. The function is asynchronous only because cron lines import croner.
 */
export async function parseSchedule (schedule: Schedule, machine: Machine): Promise<Plan> {
  checkBounds(schedule, machine.now)
  const { interval, once, timezone = machine.timezone } = schedule
  const plan = interval === undefined
    ? parseOnce(schedule, { ...machine, timezone })
    : await parseInterval(schedule, interval, machine)
  const isAhead = nextSlot(plan, plan.since) !== undefined
  check(isAhead || once === undefined, 'once',
    `schedule.once ${JSON.stringify(once)} is in the past: give a time that is still to come.`)
  check(isAhead, 'interval', `schedule.interval ${JSON.stringify(interval)} names a date that never comes.`)
  return plan
}

function checkBounds ({ interval, once, in: within, timezone, startAt, maxRuns, graceMs }: Schedule, now: number) {
  const isWithin = (value = 1, least: number, most: number) => Number.isInteger(value) && value >= least && value <= most
  check([interval, once, within].filter((time) => time !== undefined).length === 1, 'interval',
    'A schedule has either schedule.interval ("daily at 9"), schedule.once ("2026-12-24T09:00") or schedule.in ("2 hours").')
  if (interval !== undefined && interval.length > SCHEDULE_LIMITS.text) throw unreadable(`${interval.slice(0, 40)}…`)
  check(timezone === undefined || isTimezone(timezone), 'timezone',
    `schedule.timezone ${JSON.stringify(timezone)} is not known: give an IANA name such as "Europe/Berlin", "America/New_York" or "UTC".`)
  check(isWithin(startAt, 0, now + SCHEDULE_LIMITS.periodMs.max), 'startAt',
    'schedule.startAt must be in milliseconds since 1970 and at most ten years ahead.')
  check(isWithin(maxRuns, 1, SCHEDULE_LIMITS.maxRuns), 'maxRuns',
    `schedule.maxRuns must be a whole number from 1 to ${SCHEDULE_LIMITS.maxRuns}.`)
  check(isWithin(graceMs, 0, SCHEDULE_LIMITS.graceMs.max), 'graceMs', 'schedule.graceMs must be in milliseconds, from 0 to 366 days.')
}

/** Parses `schedule.once`, or `schedule.in`, which is counted from now. */
function parseOnce (schedule: Schedule, { timezone, now }: Machine): MomentPlan | CalendarPlan {
  const { once, in: wait = '', graceMs } = schedule
  const name = once === undefined ? 'in' : 'once'
  const ofIntervals = (['at', 'on', 'except', 'startAt', 'maxRuns'] as const).find((field) => schedule[field] !== undefined)
  const odd = ofIntervals ?? (schedule.missed === 'skip' ? 'missed' : undefined)
  check(odd === undefined, odd!, `schedule.${odd} belongs to schedule.interval, not to schedule.${name}: leave it out.`)
  const time = once === undefined ? afterNow(wait, timezone, now) : typeof once === 'number' ? { at: once } : localOf(once)
  const { at, local = 0 }: Time = time
  check((at ?? local) <= now + SCHEDULE_LIMITS.periodMs.max, name, `schedule.${name} is more than ten years ahead.`)
  const common = { since: now, maxRuns: 1, missed: 'run_once', graceMs } as const
  if (at !== undefined) return { kind: 'moment', at, ...common }
  const day = Math.floor(local / DAY)
  const times = { at: [Math.floor((local - day * DAY) / 1_000)] }
  const follows = schedule.timezone === undefined
  return { kind: 'calendar', timezone, follows, dates: { unit: 'date', day }, times, repeats: false, ...common }
}

/** A point in time, or a local time in milliseconds since 1970-01-01 00:00 local. */
interface Time { at?: number, local?: number }

function localOf (once: string): Time {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)$/.exec(once.trim()) ?? []
  check(date !== undefined, 'once', `schedule.once ${JSON.stringify(once)} is not a time: write a local time such as "2026-12-24T09:00", ` +
    'which is read in schedule.timezone, or milliseconds since 1970.')
  const local = Date.parse(`${date}T${time}Z`)
  check(new Date(local || 0).toISOString().startsWith(date), 'once', `The date "${date}" does not exist.`)
  return { local }
}

/** Returns the time after a duration from now: exact for hours and shorter units, at the same local time for days and longer units. */
function afterNow (text: string, timezone: string, now: number): Time {
  const period = readField('in', `in ${text}`)?.wait?.period
  check(period !== undefined, 'in',
    `schedule.in ${JSON.stringify(text)} is not a duration: write "30 minutes", "2h", "3 days" or "PT2H".`)
  if (period.unit === 'exact') return { at: now + period.everyMs }
  const local = Math.floor(localTime(timezone, now) / 1_000) * 1_000
  const day = Math.floor(local / DAY)
  const month = monthOf(day) + period.every
  const then = period.unit === 'month' ? firstOf(month) + Math.min(dayOfMonth(day), daysIn(month)) - 1 : day + daysOfPeriod(period)
  return { local: local + (then - day) * DAY }
}

async function parseInterval (schedule: Schedule, interval: string, machine: Machine): Promise<Plan> {
  const { startAt, graceMs, maxRuns, missed = 'run_once' } = schedule
  const { now } = machine
  const isCron = looksLikeCron(interval)
  const phrase = isCron ? undefined : readPhrase(interval, { timezone: schedule.timezone ?? machine.timezone, now })
  const zone = zoneOf(schedule, phrase)
  const timezone = zone ?? machine.timezone
  const since = startAt !== undefined && startAt <= now && startAt > now - JUST_NOW_MS ? startAt - 1 : now
  const common = { since, missed, graceMs, startAt, maxRuns }
  const calendar = { kind: 'calendar', timezone, follows: zone === undefined, ...common } as const
  if (isCron) {
    for (const [field, says, word] of [['at', 'the time of day', 'daily'], ['on', 'its days', 'weekly']] as const) {
      check(schedule[field] === undefined, field,
        `A cron line says ${says} itself: leave schedule.${field} out, or write a word such as "${word}".`)
    }
    return { ...calendar, except: readFields(schedule).except, ...await readCron(interval) }
  }
  const read = phrase?.interval
  if (read === undefined) throw unreadable(interval)
  const fields = readFields(schedule, read)
  if (fields.period.unit === 'exact' && fields.window === undefined) {
    checkExact(interval, fields)
    return { kind: 'exact', everyMs: fields.period.everyMs, anchor: startAt ?? now, ...common }
  }
  // Calendar times are whole seconds, so `startAt` is rounded up and `now` is rounded down.
  const start = startAt !== undefined ? Math.ceil(startAt / 1_000) * 1_000 : Math.floor(now / 1_000) * 1_000
  const begin = localTime(timezone, start)
  return { ...calendar, except: fields.except, ...ruleOf({ interval, fields, begin, isFirst: startAt !== undefined }) }
}

/**
 * Returns the time zone of a schedule, from its field or its words. Throws BadSchedule (400) if the two differ,
 * or if the words name a first day, for which there is the field `startAt`.
 */
function zoneOf ({ interval, timezone }: Schedule, { zone = timezone, start }: Partial<Phrase> = {}): string | undefined {
  check(start === undefined, 'startAt',
    `"${interval}" says when it begins: leave "${start}" out, and give that time as schedule.startAt.`)
  check(timezone === undefined || zone === timezone, 'timezone',
    `"${interval}" says ${zone}, and schedule.timezone ${timezone}: leave one of them out.`)
  return zone
}

function checkExact (interval: string, fields: Interval) {
  const odd = (fields.at ?? fields.part) !== undefined ? 'at' : hasDays(fields) ? 'on' : 'except'
  const advice = odd === 'at'
    ? 'at a time of day: give schedule.startAt, or whole days ("every 2 days")'
    : 'on certain days: add hours ("every 30 minutes between 9 and 17 on weekdays"), or write a cron line such as "*/30 9-17 * * 1-5"'
  check(odd === 'except' && fields.except === undefined, odd, `"${interval}" is counted in hours or less, so it cannot also be ${advice}.`)
}

/** Parses the fields `at`, `on` and `except` and adds them to `read`, the parsed interval. Throws BadSchedule (400). */
function readFields (schedule: Schedule, read: Interval = { isWord: true, period: { unit: 'day', every: 1 } }): Interval {
  const { at, on, except } = schedule
  for (const field of ['at', 'except'] as const) {
    check(schedule[field] === undefined || read[field] === undefined, field,
      `schedule.interval says "${field}" and there is schedule.${field} as well: leave one of them out.`)
  }
  check(on === undefined || !hasDays(read), 'on',
    'schedule.interval says the days itself: leave schedule.on out, or write "weekly".')
  return {
    ...read,
    at: at === undefined ? read.at : timesOfDay(at, read.part),
    ...on !== undefined && daysOn(on, read),
    except: except === undefined ? read.except : exceptions([except].flat().join(', '))
  }
}

/**
 * Parses times of day ("9:15 and 17:30"). Returns seconds of the day, ascending, without duplicates. `part`: the
 * part of the day that was named.
 */
function timesOfDay (list: string, part?: string): number[] {
  const times = readField('at', `at ${list.replace(/\b([ap])\.m\b\.?/gi, '$1m')}`)?.times
  check(times !== undefined, 'at', `schedule.at ${JSON.stringify(list)} is not a time of day. ${CLOCK_FORMS}`)
  return [...new Set(times.map((time) => resolveClock(time, part)))].toSorted((a, b) => a - b)
}

function exceptions (list: string): Interval['except'] {
  const except = readField('except', `except ${list}`)?.except
  check(except !== undefined, 'except', `"except ${list}" cannot be read: ` +
    'name weekdays ("sundays") or dates ("2026-12-24", "24 december"); holidays are not known.')
  return except
}

/** Parses schedule.on: weekdays, days of the month, or a date, depending on the period. Throws BadSchedule (400). */
function daysOn (on: NonNullable<Schedule['on']>, { period, window }: Interval): Partial<Interval> {
  // In this field the name of a weekday can be shorter than in a text.
  const text = [on].flat().join(', ').toLowerCase().replace(/\b[a-z]{2,5}\b/g, (word) => WEEKDAYS[weekdayNamed(word)] ?? word)
  const frame = period.unit === 'month' ? 'monthly' : period.unit === 'year' ? 'yearly' : 'weekly'
  const found = typeof on === 'number' && frame !== 'monthly' ? undefined : readField('on', `${frame} on ${text.replace(/^on /, '')}`)
  const { weekdays, daysOfMonth, nth, date } = found ?? {}
  const quoted = `schedule.on ${JSON.stringify(on)}`
  if (frame === 'monthly') {
    check(daysOfMonth !== undefined || (nth !== undefined && period.unit === 'month' && period.every === 1), 'on',
      `${quoted} is not a day of the month: write 1 to 31, "last", "1st and 15th" or, for months one by one, "first monday".`)
    return { daysOfMonth: daysOfMonth?.days, nth }
  }
  check(frame === 'weekly' || date !== undefined, 'on',
    `${quoted} is not a day of the year: write "24 december", or leave schedule.on out and give schedule.startAt.`)
  if (frame === 'yearly') return { date }
  check(weekdays !== undefined || (period.unit === 'hour' && window === undefined), 'on',
    `${quoted} is not a weekday: write "monday", "mon and thu" or ["mon", "thu"].`)
  return { weekdays: weekdays?.days ?? [] }
}

const unreadable = (interval: string) => new BadSchedule('interval',
  `schedule.interval ${JSON.stringify(interval)} cannot be read. ${hintOf(interval)}` +
    'Write a word (hourly, daily, weekdays, weekends, weekly, biweekly, monthly, quarterly, yearly), days ("every monday and ' +
    'thursday", "monday to friday", "every other friday", "first monday", "1st and 15th"), a duration ("30m", "2 days", ' +
    '"every 6 hours", "P1D", "every 10 minutes between 9 and 17") or a cron line ("0 9 * * 1-5", "@daily"); ' +
    '"at 9am" and "except sundays" may follow.')

interface RuleParts {
  interval: string
  fields: Interval
  /** The local time from which periods such as "every other week" are counted. */
  begin: number
  /**
   * Whether the schedule itself gives `begin` (as `startAt`). `begin` can then be the first planned time, and
   * supplies a day or time that the words leave open.
   */
  isFirst: boolean
}

/**
 * Returns the dates and times of an interval of the calendar: a word such as "daily", a duration in whole days, weeks
 * or months, or a shorter one within hours of the day. Throws BadSchedule (400) if the interval contradicts itself.
 */
function ruleOf (all: RuleParts): Pick<CalendarPlan, 'dates' | 'times' | 'repeats'> {
  const { interval, fields, begin, isFirst } = all
  const { isWord, period, part, count, at, minute, window, weekdays } = fields
  const isOpen = isWord && !isFirst
  // A duration keeps the time of its start unless it names days: "every 3 weeks on friday" is at 09:00, as "every other friday" is.
  const second = isOpen || (hasDays(fields) && !isFirst) ? undefined : mod(begin, DAY) / 1_000
  const daily: Dates = { unit: 'day', every: 1, from: 0 }

  if (window !== undefined) {
    const dates: Dates = weekdays === undefined ? daily : { unit: 'week', every: 1, from: mondayOf(0), weekdays }
    return { dates, times: readWindow(interval, fields, window), repeats: true }
  }
  if (period.unit === 'hour') {
    check((at ?? part) === undefined, 'at',
      'Hourly has no time of day: give its minute, as in "hourly at :30", or schedule.startAt.')
    check(!hasDays(fields), 'on',
      'Hourly has no days: write "hourly between 9 and 17 on weekdays", or a cron line such as "0 * * * 1-5".')
    const ofHour = minute === undefined ? (second ?? 0) % 3600 : minute * 60
    const hours = Array.from({ length: 24 }, (_, hour) => hour)
    return { dates: daily, times: { hours, minutes: [Math.floor(ofHour / 60)], seconds: [ofHour % 60] }, repeats: true }
  }
  if (minute !== undefined) throw unreadable(interval)
  const times = { at: at ?? [part === undefined ? second ?? DEFAULT_TIME : timeOfPart(part)] }
  check(count === undefined || count === times.at.length, 'at',
    `"${interval}" needs ${count} times of day: write them, as in "twice a day at 9 and 17".`)
  return { dates: inPhase(datesOf(all, isOpen ? undefined : Math.floor(begin / DAY)), times, all), times, repeats: false }
}

/** Returns the times of an interval such as "every 10 minutes between 9 and 17", including the end. */
function readWindow (interval: string, { period, part, at, minute }: Interval, [start, end]: NonNullable<Interval['window']>): Times {
  const every = period.unit === 'hour' ? 3_600 : period.unit === 'exact' ? period.everyMs / 1_000 : undefined
  check(every !== undefined && (at ?? minute) === undefined, 'interval',
    `"${interval}" cannot be read. Hours belong to minutes, as in "${WINDOW}".`)
  const from = resolveClock(start, part)
  const to = end.text === 'midnight' || end.second === 86_400 ? LAST_SECOND : resolveClock(end, part)
  check(Number.isInteger(every) && to > from && every <= to - from, 'interval',
    `"${interval}": the two hours must be on one day, the earlier first, and far enough apart for two runs, as in "${WINDOW}".`)
  return { from, to, every }
}

function datesOf ({ interval, fields }: RuleParts, day?: number): Dates {
  const { period, weekdays, daysOfMonth, nth, date, isWord } = fields
  const [month, ofMonth] = day === undefined ? [0, 1] : [monthOf(day), dayOfMonth(day)]
  switch (period.unit) {
    case 'week': {
      const from = mondayOf(day ?? 0)
      return { unit: 'week', every: period.every, from, weekdays: weekdays ?? [day === undefined ? 0 : weekdayOf(day)] }
    }
    case 'month':
      if (nth !== undefined) return nth
      check(!isWord || period.every === 1 || !daysOfMonth?.includes(31), 'on',
        `"${interval}" may mean the last day of the first or of the last month: write a cron line, such as "0 9 L 3,6,9,12 *".`)
      return { unit: 'month', every: period.every, from: month, days: daysOfMonth ?? [ofMonth] }
    case 'year':
      return { unit: 'month', every: 12, from: date === undefined ? month : date.month - 1, days: [date?.day ?? ofMonth] }
    case 'day':
      if (weekdays === undefined) return { unit: 'day', every: period.every, from: day ?? 0 }
      check(period.every === 1 && weekdays.length > 1, 'on',
        `"${interval}" is counted in days, so it cannot also be on certain ones: write "weekly" or "monthly" with schedule.on.`)
      return { unit: 'week', every: 1, from: mondayOf(0), weekdays }
    default:
      throw new TypeError('not of the calendar')
  }
}

/**
 * Moves the start of a period to the first possible date: "every 2 days at 9:00", created at ten, begins
 * tomorrow, and "every other friday" begins next Friday.
 */
function inPhase (dates: Dates, times: Times, { fields, begin, isFirst }: RuleParts): Dates {
  const { isWord, period, at, except } = fields
  if (dates.unit === 'cron' || dates.unit === 'date' || period.unit === 'year' || dates.every === 1) return dates
  // Words such as "quarterly" keep their fixed months: quarters begin in January.
  if (isWord ? dates.unit === 'month' : dates.unit === 'day' ? at === undefined : !hasDays(fields)) return dates
  const local = nextLocal({ dates: { ...dates, every: 1 }, times, except }, isFirst ? begin : begin + 1)
  // All dates are excluded, so the schedule never runs, whatever its start is.
  if (local === undefined) return dates
  const first = Math.floor(local / DAY)
  return { ...dates, from: dates.unit === 'day' ? first : dates.unit === 'week' ? mondayOf(first) : monthOf(first) }
}

const mondayOf = (day: number) => day - weekdayOf(day)
