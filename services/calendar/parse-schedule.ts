import { BadSchedule } from './schedule-errors.ts'
import type { CalendarPlan, Dates, Exceptions, Plan, Times } from './schedule-plan.ts'
import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { nextSlot } from './calendar.ts'
import { looksLikeCron, readCron } from './cron-line.ts'
import {
  checkDate,
  dateOf,
  daysOfMonthOf,
  exceptionsOf,
  type NamedDate,
  nthDayOf,
  PARTS,
  timeOfDay,
  timesOfDay,
  weekdaysOf
} from './day-words.ts'
import { type Interval, readInterval } from './interval.ts'
import { parseOnce } from './once.ts'
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

  const read = readInterval(interval)
  const except = exceptionsIn(onlyOne('except', read?.except, schedule.except))
  if (read === undefined) {
    if (!looksLikeCron(interval)) throw unreadable(interval)
    if (schedule.at !== undefined) {
      throw new BadSchedule('at', 'A cron line says the time of day itself: leave schedule.at out, or write a word such as "daily".')
    }
    if (schedule.on !== undefined) {
      throw new BadSchedule('on', 'A cron line says its days itself: leave schedule.on out, or write a word such as "weekly".')
    }
    return { ...calendar, ...except, ...await readCron(interval) }
  }
  const at = onlyOne('at', read.at, schedule.at)
  const on = onlyOne('on', read.on, schedule.on)
  if (read.period.unit === 'exact' && read.between === undefined) {
    if (at !== undefined || read.part !== undefined) {
      throw new BadSchedule(
        'at',
        `"${interval}" is counted in hours or less, so it cannot also be at a time of day: give schedule.startAt, or whole days ("every ` +
        '2 days").'
      )
    }
    if (on !== undefined || except.except !== undefined) {
      throw new BadSchedule(
        on === undefined ? 'except' : 'on',
        `"${interval}" is counted in hours or less, so it cannot also be on certain days: add hours ("every 30 minutes between 9 and ` +
        '17 on weekdays"), or write a cron line for that, such as "*/30 9-17 * * 1-5".'
      )
    }
    return { kind: 'exact', everyMs: read.period.everyMs, anchor: startAt ?? now, ...common }
  }
  // Calendar times are whole seconds, so startAt is rounded up and now is rounded down.
  const start = startAt !== undefined ? Math.ceil(startAt / 1_000) * 1_000 : Math.floor(now / 1_000) * 1_000
  const begin = localTime(timezone, start)
  const anchor = startAt === undefined && read.word ? undefined : begin
  const rule = await readCalendar({ interval, read, at, on, ...except, anchor, begin, isFirst: startAt !== undefined })
  return { ...calendar, ...except, ...rule }
}

/** The dates that are left out, as a field of a plan. */
function exceptionsIn (except: Schedule['except']): Pick<CalendarPlan, 'except'> {
  return except === undefined ? {} : { except: exceptionsOf(typeof except === 'string' ? [except] : except) }
}

/** Takes a value from the interval text or from its own field. Throws BadSchedule when both give it, because they may contradict. */
function onlyOne<T> (field: 'at' | 'on' | 'except', inText: string | undefined, given: T | undefined): T | string | undefined {
  if (inText !== undefined && given !== undefined) {
    throw new BadSchedule(
      field,
      `schedule.interval says "${field} ${inText}" and there is schedule.${field} as well: leave one of them out.`
    )
  }
  return inText ?? given
}

function checkBounds ({ interval, once, in: within, timezone, startAt, maxRuns, graceMs }: Schedule, now: number) {
  if ([interval, once, within].filter((given) => given !== undefined).length !== 1) {
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

interface Given {
  interval: string
  read: Interval
  at?: string
  on?: Schedule['on']
  except?: Exceptions
  /** The local time that supplies missing parts of the schedule. */
  anchor?: number
  /** The local time from which every other week and the like are counted. */
  begin: number
  /** Whether `begin` itself may be the first planned time. */
  isFirst: boolean
}

/**
 * Reads the dates and times of words, of durations in whole days, weeks and months, and of shorter ones within hours of the day. Throws
 * BadSchedule (400) when the fields contradict each other.
 */
async function readCalendar (given: Given): Promise<Pick<CalendarPlan, 'dates' | 'times' | 'repeats'>> {
  const { read: { period, between, part, count }, at, anchor } = given
  const day = anchor === undefined ? undefined : Math.floor(anchor / DAY)
  const anchorSecond = anchor === undefined ? undefined : (anchor - day! * DAY) / 1_000

  if (between !== undefined) {
    const times = readWindow(given, between)
    const daily = { ...given.read, word: true, period: { unit: 'day', every: 1 } } as const
    return { dates: await datesOf({ ...given, read: daily }), times, repeats: true }
  }
  if (period.unit === 'hour') {
    refuse(given, 'at', 'hourly has no time of day: give schedule.startAt for its minute, or a cron line such as "30 * * * *"')
    refuse(given, 'on', 'hourly has no days: write a cron line such as "0 * * * 1-5", or "hourly between 9 and 17 on weekdays"')
    const second = (anchorSecond ?? 0) % 3600
    return {
      dates: { unit: 'day', every: 1, from: 0 },
      times: { hours: Array.from({ length: 24 }, (_, hour) => hour), minutes: [Math.floor(second / 60)], seconds: [second % 60] },
      repeats: true
    }
  }
  const seconds = at !== undefined
    ? timesOfDay(at, part)
    : [part === undefined ? anchorSecond ?? DEFAULT_TIME : PARTS[part]]
  if (count !== undefined && count !== seconds.length) {
    throw new BadSchedule('at', `"${given.interval}" needs ${count} times of day: write them, as in "twice a day at 9 and 17".`)
  }
  const times: Times = { at: seconds }
  return { dates: inPhase(await datesOf(given, day), times, given), times, repeats: false }
}

/** The times of "every 10 minutes between 9 and 17", the end included. */
function readWindow ({ interval, at, read: { period, part } }: Given, between: string): Times {
  const every = period.unit === 'hour' ? 3_600 : period.unit === 'exact' ? period.everyMs / 1_000 : undefined
  const [, start, end] = /^(.+?) (?:and|to|until|till|-) (.+)$/i.exec(between) ?? []
  if (every === undefined || start === undefined || at !== undefined) {
    throw new BadSchedule('interval', `"${interval}" cannot be read. Hours belong to minutes, as in "${WINDOW}".`)
  }
  const from = timeOfDay(start, part, 'interval')
  const to = /^(?:midnight|24|24:00)$/i.test(end) ? LAST_SECOND : timeOfDay(end, part, 'interval')
  if (!Number.isInteger(every) || to <= from || every > to - from) {
    throw new BadSchedule(
      'interval',
      `"${interval}": the hours must be on one day, the earlier first, and hold the time more than once, as in "${WINDOW}".`
    )
  }
  return { from, to, every }
}

async function datesOf (given: Given, day?: number): Promise<Dates> {
  const { read: { period, weekdays, days, nth, date }, on, interval } = given
  if ((weekdays ?? days ?? nth ?? date) !== undefined) {
    refuse(given, 'on', `"${interval}" says the days itself: leave schedule.on out, or write "weekly"`)
  }
  switch (period.unit) {
    case 'week': {
      return {
        unit: 'week',
        every: period.every,
        from: day === undefined ? mondayOf(0) : mondayOf(day),
        weekdays: weekdays ?? givenWeekdays(on) ?? [day === undefined ? 0 : weekdayOf(day)]
      }
    }
    case 'month': {
      const said = days ?? nth ?? givenDays(on, period.every === 1)
      if (typeof said === 'string') return (await readCron(`0 0 ${said}`)).dates
      if (given.read.word && period.every > 1 && said?.includes(31)) {
        throw new BadSchedule(
          'on',
          `"${interval}" may mean the last day of the first or of the last month: write a cron line, such as "0 9 L 3,6,9,12 *".`
        )
      }
      const from = day === undefined ? 0 : monthOf(day)
      return { unit: 'month', every: period.every, from, days: said ?? [day === undefined ? 1 : dayOfMonth(day)] }
    }
    case 'year':
      return yearly(given, date, day)
    case 'day': {
      if (weekdays !== undefined) return { unit: 'week', every: 1, from: mondayOf(0), weekdays }
      const few = typeof on === 'string' ? weekdaysOf(on) : undefined
      if (period.every === 1 && few !== undefined && few.length > 1) return { unit: 'week', every: 1, from: mondayOf(0), weekdays: few }
      refuse(
        given,
        'on',
        `"${interval}" is counted in days, so it cannot also be on certain ones: write "weekly" or "monthly" with schedule.on`
      )
      return { unit: 'day', every: period.every, from: day ?? 0 }
    }
    default:
      throw new TypeError('not of the calendar')
  }
}

function yearly (given: Given, said: NamedDate | undefined, day: number | undefined): Dates {
  const { on } = given
  const date = said ?? (typeof on === 'string' ? dateOf(on, 'on') : undefined)
  if (date === undefined || date.year !== undefined) {
    refuse(given, 'on', 'yearly takes its date from schedule.startAt, or is "every 24 december"')
    return { unit: 'month', every: 12, from: day === undefined ? 0 : monthOf(day), days: [day === undefined ? 1 : dayOfMonth(day)] }
  }
  checkDate(date, `${date.day}.${date.month}.`, 'on')
  return { unit: 'month', every: 12, from: date.month - 1, days: [date.day] }
}

/**
 * Counts the period from the first date that is possible: "every 2 days at 9:00", created at ten, begins tomorrow, and
 * "every other friday" next Friday.
 */
function inPhase (dates: Dates, times: Times, { read: { word, period }, at, on, begin, isFirst, except }: Given): Dates {
  if (dates.unit === 'cron' || dates.unit === 'date' || period.unit === 'year' || dates.every === 1) return dates
  // Quarters begin in January.
  if (word ? dates.unit === 'month' : (dates.unit === 'day' ? at : on) === undefined) return dates
  const local = nextLocal({ dates: { ...dates, every: 1 }, times, except }, isFirst ? begin : begin + 1)
  // Every date is left out: the schedule never runs, however it is counted.
  if (local === undefined) return dates
  const first = Math.floor(local / DAY)
  return { ...dates, from: dates.unit === 'day' ? first : dates.unit === 'week' ? mondayOf(first) : monthOf(first) }
}

const mondayOf = (day: number) => day - weekdayOf(day)

function refuse (given: Given, field: 'at' | 'on', message: string) {
  if (given[field] !== undefined) throw new BadSchedule(field, `${message.charAt(0).toUpperCase()}${message.slice(1)}.`)
}

function givenWeekdays (on: Schedule['on']): number[] | undefined {
  if (on === undefined) return undefined
  const days = typeof on === 'number' ? undefined : weekdaysOf(Array.isArray(on) ? on.join(',') : on)
  if (days === undefined) {
    throw new BadSchedule('on', `schedule.on ${JSON.stringify(on)} is not a weekday: write "monday", "mon and thu" or ["mon", "thu"].`)
  }
  return days
}

/** The days of the month, or the day fields of a cron line. */
function givenDays (on: Schedule['on'], mayBeNth: boolean): number[] | string | undefined {
  if (on === undefined) return undefined
  const text = Array.isArray(on) ? on.join(',') : String(on)
  const days = daysOfMonthOf(text) ?? (mayBeNth ? nthDayOf(text) : undefined)
  if (days === undefined) {
    throw new BadSchedule(
      'on',
      `schedule.on ${JSON.stringify(on)} is not a day of the month: write 1 to 31, "last", "1st and 15th" or, for months one by one, ` +
        '"first monday".'
    )
  }
  return days
}
