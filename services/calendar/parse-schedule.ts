import { BadSchedule } from './schedule-errors.ts'
import type { CalendarPlan, Dates, Exceptions, Plan, Times } from './schedule-plan.ts'
import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { nextSlot } from './calendar.ts'
import { looksLikeCron, readCron } from './cron-line.ts'
import { PARTS, readClock, resolveClock, timesOfDay } from './clock-words.ts'
import { dateOf, daysOfMonthOf, exceptionsOf, nthDatesOf, weekdaysOf } from './day-words.ts'
import { parseOnce } from './parse-once.ts'
import { type Interval, readPhrase } from './phrase.ts'
import { isTimezone, localTime } from './zone.ts'
import { DAY, dayOfMonth, monthOf, weekdayOf } from './days.ts'
import { nextLocal } from './local-time.ts'

/** A `startAt` that the client meant as now has passed on arrival. A start that is at most this old still counts; milliseconds. */
const JUST_NOW_MS = 60_000

/**
 * Makes the plan of a schedule that begins now. The plan is stored and passed to `due`, `nextSlot` and `upcoming`. Durations
 * are counted from `startAt` or `now`, so a schedule is parsed when it starts, not only when it is written. `timezone` is the
 * machine's time zone. Throws BadSchedule (400), also when nothing is ahead. The function is asynchronous only because cron lines
 * import croner.
 */
export async function parseSchedule (schedule: Schedule, { timezone, now }: { timezone: string, now: number }): Promise<Plan> {
  checkBounds(schedule, now)
  const plan = schedule.interval === undefined
    ? parseOnce(schedule, { timezone: schedule.timezone ?? timezone, now })
    : await parseInterval(schedule, schedule.interval, { timezone: schedule.timezone ?? timezone, now })
  if (nextSlot(plan, plan.since) !== undefined) return plan
  if (schedule.once !== undefined) {
    throw new BadSchedule('once', `schedule.once ${JSON.stringify(schedule.once)} is in the past: give a time that is still to come.`)
  }
  throw new BadSchedule('interval', `schedule.interval ${JSON.stringify(schedule.interval)} names a date that never comes.`)
}

async function parseInterval (schedule: Schedule, interval: string, { timezone, now }: { timezone: string, now: number }): Promise<Plan> {
  const { startAt } = schedule
  const common = {
    since: startAt !== undefined && startAt <= now && startAt > now - JUST_NOW_MS ? startAt - 1 : now,
    missed: schedule.missed ?? 'run_once',
    ...(schedule.graceMs !== undefined && { graceMs: schedule.graceMs }),
    ...(startAt !== undefined && { startAt }),
    ...(schedule.maxRuns !== undefined && { maxRuns: schedule.maxRuns })
  }
  const calendar = { kind: 'calendar', timezone, follows: schedule.timezone === undefined, ...common } as const

  const isCron = looksLikeCron(interval)
  const read = isCron ? undefined : readPhrase(interval, { timezone, now })?.interval
  const except = exceptionsIn(onlyOne<string | string[]>('except', read?.except, schedule.except))
  if (read === undefined) {
    if (!isCron) throw unreadable(interval)
    for (const [field, says, word] of [['at', 'the time of day', 'daily'], ['on', 'its days', 'weekly']] as const) {
      if (schedule[field] !== undefined) {
        throw new BadSchedule(field, `A cron line says ${says} itself: leave schedule.${field} out, or write a word such as "${word}".`)
      }
    }
    return { ...calendar, ...except, ...await readCron(interval) }
  }
  const at = onlyOne<number[] | string>('at', read.at, schedule.at)
  const days = daysIn(read)
  if (days !== undefined && schedule.on !== undefined) {
    throw new BadSchedule('on', `"${interval}" says the days itself: leave schedule.on out, or write "weekly".`)
  }
  if (read.period.unit === 'exact' && read.window === undefined) {
    const odd = at !== undefined || read.part !== undefined ? 'at' : days ?? schedule.on !== undefined ? 'on' : except.except && 'except'
    if (odd !== undefined) throw notOfExact(interval, odd)
    return { kind: 'exact', everyMs: read.period.everyMs, anchor: startAt ?? now, ...common }
  }
  // Calendar times are whole seconds, so startAt is rounded up and now is rounded down.
  const start = startAt !== undefined ? Math.ceil(startAt / 1_000) * 1_000 : Math.floor(now / 1_000) * 1_000
  const begin = localTime(timezone, start)
  const anchor = startAt === undefined && read.isWord ? undefined : begin
  const fields: Interval = {
    ...read,
    ...schedule.on !== undefined && readDays(schedule.on, read),
    at: typeof at === 'string' ? timesOfDay(at, read.part) : at
  }
  const hasDays = (days ?? schedule.on) !== undefined
  return { ...calendar, ...except, ...ruleOf({ interval, fields, hasDays, ...except, anchor, begin, isFirst: startAt !== undefined }) }
}

const daysIn = ({ weekdays, daysOfMonth, nth, date }: Interval) => weekdays ?? daysOfMonth ?? nth ?? date

function notOfExact (interval: string, field: 'at' | 'on' | 'except') {
  const advice = field === 'at'
    ? 'at a time of day: give schedule.startAt, or whole days ("every 2 days")'
    : 'on certain days: add hours ("every 30 minutes between 9 and 17 on weekdays"), or write a cron line such as "*/30 9-17 * * 1-5"'
  return new BadSchedule(field, `"${interval}" is counted in hours or less, so it cannot also be ${advice}.`)
}

/** The dates that are left out, as a field of a plan. */
function exceptionsIn (except: string | string[] | undefined): Pick<CalendarPlan, 'except'> {
  return except === undefined ? {} : { except: exceptionsOf(typeof except === 'string' ? [except] : except) }
}

/** Takes a value from the interval text or from its own field. Throws BadSchedule when both give it, because they may contradict. */
function onlyOne<T> (field: 'at' | 'on' | 'except', inText: T | undefined, stated: T | undefined): T | undefined {
  if (inText !== undefined && stated !== undefined) {
    throw new BadSchedule(field, `schedule.interval says "${field}" and there is schedule.${field} as well: leave one of them out.`)
  }
  return inText ?? stated
}

function checkBounds ({ interval, once, in: within, timezone, startAt, maxRuns, graceMs }: Schedule, now: number) {
  if ([interval, once, within].filter((time) => time !== undefined).length !== 1) {
    throw new BadSchedule(
      'interval',
      'A schedule has either schedule.interval ("daily at 9"), schedule.once ("2026-12-24T09:00") or schedule.in ("2 hours").'
    )
  }
  if (interval !== undefined && interval.length > SCHEDULE_LIMITS.text) throw unreadable(`${interval.slice(0, 40)}…`)
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw new BadSchedule(
      'timezone',
      `schedule.timezone ${JSON.stringify(timezone)} is not known: give an IANA name such as "Europe/Berlin", "America/New_York" or "UTC".`
    )
  }
  if (startAt !== undefined && !(Number.isInteger(startAt) && startAt >= 0 && startAt <= now + SCHEDULE_LIMITS.periodMs.max)) {
    throw new BadSchedule('startAt', 'schedule.startAt is in milliseconds since 1970 and at most ten years ahead.')
  }
  if (maxRuns !== undefined && !(Number.isInteger(maxRuns) && maxRuns >= 1 && maxRuns <= SCHEDULE_LIMITS.maxRuns)) {
    throw new BadSchedule('maxRuns', `schedule.maxRuns is a whole number from 1 to ${SCHEDULE_LIMITS.maxRuns}.`)
  }
  if (graceMs !== undefined && !(Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= SCHEDULE_LIMITS.graceMs.max)) {
    throw new BadSchedule('graceMs', 'schedule.graceMs is in milliseconds, from 0 to 366 days.')
  }
}

const unreadable = (interval: string) =>
  new BadSchedule(
    'interval',
    `schedule.interval ${JSON.stringify(interval)} cannot be read. ` +
      'Write a word (hourly, daily, weekdays, weekends, weekly, biweekly, monthly, quarterly, yearly), days ("every monday and ' +
      'thursday", "monday to friday", "every other friday", "first monday", "1st and 15th"), a duration ("30m", "2 days", ' +
      '"every 6 hours", "P1D", "every 10 minutes between 9 and 17") or a cron line ("0 9 * * 1-5", "@daily"); ' +
      '"at 9am" and "except sundays" may follow.'
  )

/** Time of day for intervals that name none: the start of a working day; seconds. */
const DEFAULT_TIME = 9 * 3600
const LAST_SECOND = 86_399
const WINDOW = 'every 10 minutes between 9 and 17'

interface RuleParts {
  interval: string
  fields: Interval
  hasDays: boolean
  except?: Exceptions
  /** The local time that supplies missing parts of the schedule. */
  anchor?: number
  /** The local time from which every other week and the like are counted. */
  begin: number
  /** Whether `begin` itself may be the first planned time. */
  isFirst: boolean
}

/**
 * Returns the dates and times of words, of durations in whole days, weeks and months, and of shorter ones within hours of the day. Throws
 * BadSchedule (400) when what is said contradicts itself.
 */
function ruleOf (all: RuleParts): Pick<CalendarPlan, 'dates' | 'times' | 'repeats'> {
  const { interval, fields, anchor } = all
  const { period, part, count, at, minute, window } = fields
  const day = anchor === undefined ? undefined : Math.floor(anchor / DAY)
  const anchorSecond = anchor === undefined ? undefined : (anchor - day! * DAY) / 1_000

  if (window !== undefined) {
    const times = readWindow(interval, fields, window)
    const dates: Dates = fields.weekdays === undefined
      ? datesOf({ ...all, fields: { ...fields, period: { unit: 'day', every: 1 } } }, day)
      : { unit: 'week', every: 1, from: mondayOf(0), weekdays: fields.weekdays }
    return { dates: dates.unit === 'day' ? { ...dates, from: 0 } : dates, times, repeats: true }
  }
  if (period.unit === 'hour') {
    const odd = at !== undefined || part !== undefined ? 'at' : all.hasDays ? 'on' : undefined
    const advice = odd === 'at'
      ? 'no time of day: give its minute, as in "hourly at :30", or schedule.startAt'
      : 'no days: write "hourly between 9 and 17 on weekdays", or a cron line such as "0 * * * 1-5"'
    if (odd !== undefined) throw new BadSchedule(odd, `Hourly has ${advice}.`)
    const second = minute === undefined ? (anchorSecond ?? 0) % 3600 : minute * 60
    return {
      dates: { unit: 'day', every: 1, from: 0 },
      times: { hours: Array.from({ length: 24 }, (_, hour) => hour), minutes: [Math.floor(second / 60)], seconds: [second % 60] },
      repeats: true
    }
  }
  if (minute !== undefined) throw unreadable(interval)
  const seconds = at ?? [part === undefined ? anchorSecond ?? DEFAULT_TIME : PARTS[part]]
  if (count !== undefined && count !== seconds.length) {
    throw new BadSchedule('at', `"${interval}" needs ${count} times of day: write them, as in "twice a day at 9 and 17".`)
  }
  const times: Times = { at: seconds }
  return { dates: inPhase(datesOf(all, day), times, all), times, repeats: false }
}

/** The times of "every 10 minutes between 9 and 17", the end included. */
function readWindow (interval: string, { period, part, at, minute }: Interval, [start, end]: [string, string]): Times {
  const every = period.unit === 'hour' ? 3_600 : period.unit === 'exact' ? period.everyMs / 1_000 : undefined
  if (every === undefined || at !== undefined || minute !== undefined) {
    throw new BadSchedule('interval', `"${interval}" cannot be read. Hours belong to minutes, as in "${WINDOW}".`)
  }
  const from = resolveClock(readClock(start)!, start, part, 'interval')
  const to = /^(?:midnight|24|24:00)$/.test(end) ? LAST_SECOND : resolveClock(readClock(end)!, end, part, 'interval')
  if (!Number.isInteger(every) || to <= from || every > to - from) {
    throw new BadSchedule(
      'interval',
      `"${interval}": the hours must be on one day, the earlier first, and hold the time more than once, as in "${WINDOW}".`
    )
  }
  return { from, to, every }
}

function datesOf ({ interval, fields }: RuleParts, day?: number): Dates {
  const { period, weekdays, daysOfMonth, nth, date, isWord } = fields
  switch (period.unit) {
    case 'week': {
      const from = day === undefined ? mondayOf(0) : mondayOf(day)
      return { unit: 'week', every: period.every, from, weekdays: weekdays ?? [day === undefined ? 0 : weekdayOf(day)] }
    }
    case 'month': {
      if (nth !== undefined) return nth
      if (isWord && period.every > 1 && daysOfMonth?.includes(31)) {
        throw new BadSchedule(
          'on',
          `"${interval}" may mean the last day of the first or of the last month: write a cron line, such as "0 9 L 3,6,9,12 *".`
        )
      }
      const from = day === undefined ? 0 : monthOf(day)
      return { unit: 'month', every: period.every, from, days: daysOfMonth ?? [day === undefined ? 1 : dayOfMonth(day)] }
    }
    case 'year': {
      if (date !== undefined) return { unit: 'month', every: 12, from: date.month - 1, days: [date.day] }
      return { unit: 'month', every: 12, from: day === undefined ? 0 : monthOf(day), days: [day === undefined ? 1 : dayOfMonth(day)] }
    }
    case 'day': {
      if (weekdays === undefined) return { unit: 'day', every: period.every, from: day ?? 0 }
      if (period.every === 1 && weekdays.length > 1) return { unit: 'week', every: 1, from: mondayOf(0), weekdays }
      throw new BadSchedule(
        'on',
        `"${interval}" is counted in days, so it cannot also be on certain ones: write "weekly" or "monthly" with schedule.on.`
      )
    }
    default:
      throw new TypeError('not of the calendar')
  }
}

/**
 * Counts the period from the first date that is possible: "every 2 days at 9:00", created at ten, begins tomorrow, and
 * "every other friday" next Friday.
 */
function inPhase (dates: Dates, times: Times, { fields: { isWord, period, at }, hasDays, begin, isFirst, except }: RuleParts): Dates {
  if (dates.unit === 'cron' || dates.unit === 'date' || period.unit === 'year' || dates.every === 1) return dates
  // Quarters begin in January.
  if (isWord ? dates.unit === 'month' : dates.unit === 'day' ? at === undefined : !hasDays) return dates
  const local = nextLocal({ dates: { ...dates, every: 1 }, times, except }, isFirst ? begin : begin + 1)
  // Every date is left out: the schedule never runs, however it is counted.
  if (local === undefined) return dates
  const first = Math.floor(local / DAY)
  return { ...dates, from: dates.unit === 'day' ? first : dates.unit === 'week' ? mondayOf(first) : monthOf(first) }
}

const mondayOf = (day: number) => day - weekdayOf(day)

/** The days of schedule.on: weekdays, days of the month, or a date, as the period has them. Throws BadSchedule (400). */
function readDays (on: NonNullable<Schedule['on']>, { period, window }: Interval): Partial<Interval> {
  const text = Array.isArray(on) ? on.join(',') : String(on)
  const isNumber = typeof on === 'number'
  const shown = JSON.stringify(on)
  if (period.unit === 'month') {
    const daysOfMonth = daysOfMonthOf(text)
    const nth = daysOfMonth === undefined && period.every === 1 ? nthDatesOf(text) : undefined
    if ((daysOfMonth ?? nth) !== undefined) return { daysOfMonth, nth }
    const forms = 'write 1 to 31, "last", "1st and 15th" or, for months one by one, "first monday"'
    throw new BadSchedule('on', `schedule.on ${shown} is not a day of the month: ${forms}.`)
  }
  if (period.unit === 'year') {
    const date = isNumber ? undefined : dateOf(text, 'on')
    if (date !== undefined && date.year === undefined) return { date }
    throw new BadSchedule('on', 'Yearly takes its date from schedule.startAt, or is "every 24 december".')
  }
  const weekdays = isNumber ? undefined : weekdaysOf(text)
  if (weekdays !== undefined || (period.unit === 'hour' && window === undefined)) return { weekdays }
  throw new BadSchedule('on', `schedule.on ${shown} is not a weekday: write "monday", "mon and thu" or ["mon", "thu"].`)
}
