import { BadSchedule, hintOf } from './schedule-errors.ts'
import type { CalendarPlan, Dates, Plan, Times } from './schedule-plan.ts'
import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { nextSlot } from './calendar.ts'
import { looksLikeCron, readCron } from './cron-line.ts'
import { resolveClock, timeOfPart } from './clock-words.ts'
import { weekdayNamed, WEEKDAYS } from './day-words.ts'
import { parseOnce } from './parse-once.ts'
import { type Interval, type Phrase, readPhrase } from './phrase.ts'
import { readField } from './time-rules.ts'
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
    : await parseInterval(schedule, schedule.interval, { timezone, now })
  if (nextSlot(plan, plan.since) !== undefined) return plan
  if (schedule.once !== undefined) {
    throw new BadSchedule('once', `schedule.once ${JSON.stringify(schedule.once)} is in the past: give a time that is still to come.`)
  }
  throw new BadSchedule('interval', `schedule.interval ${JSON.stringify(schedule.interval)} names a date that never comes.`)
}

async function parseInterval (schedule: Schedule, interval: string, machine: { timezone: string, now: number }): Promise<Plan> {
  const { startAt, graceMs, maxRuns } = schedule
  const { now } = machine
  const isCron = looksLikeCron(interval)
  const phrase = isCron ? undefined : readPhrase(interval, { timezone: schedule.timezone ?? machine.timezone, now })
  const zone = zoneOf(schedule, phrase)
  const timezone = zone ?? machine.timezone
  const common = {
    since: startAt !== undefined && startAt <= now && startAt > now - JUST_NOW_MS ? startAt - 1 : now,
    missed: schedule.missed ?? 'run_once',
    ...(graceMs !== undefined && { graceMs }),
    ...(startAt !== undefined && { startAt }),
    ...(maxRuns !== undefined && { maxRuns })
  }
  const calendar = { kind: 'calendar', timezone, follows: zone === undefined, ...common } as const
  if (isCron) {
    for (const [field, says, word] of [['at', 'the time of day', 'daily'], ['on', 'its days', 'weekly']] as const) {
      if (schedule[field] !== undefined) {
        throw new BadSchedule(field, `A cron line says ${says} itself: leave schedule.${field} out, or write a word such as "${word}".`)
      }
    }
    const { except } = readFields(schedule)
    return { ...calendar, ...except && { except }, ...await readCron(interval) }
  }
  const read = phrase?.interval
  if (read === undefined) throw unreadable(interval)
  const fields = readFields(schedule, read)
  const { period, window, except } = fields
  if (period.unit === 'exact' && window === undefined) {
    const odd = (fields.at ?? fields.part) !== undefined ? 'at' : hasDays(fields) ? 'on' : except && 'except'
    if (odd !== undefined) throw notOfExact(interval, odd)
    return { kind: 'exact', everyMs: period.everyMs, anchor: startAt ?? now, ...common }
  }
  // Calendar times are whole seconds, so startAt is rounded up and now is rounded down.
  const start = startAt !== undefined ? Math.ceil(startAt / 1_000) * 1_000 : Math.floor(now / 1_000) * 1_000
  const begin = localTime(timezone, start)
  const anchor = startAt === undefined && read.isWord ? undefined : begin
  return { ...calendar, ...except && { except }, ...ruleOf({ interval, fields, anchor, begin, isFirst: startAt !== undefined }) }
}

/** The zone of a schedule, which its words may say. Throws BadSchedule (400) for two zones, and for a first day: it has its own field. */
function zoneOf ({ interval, timezone }: Schedule, phrase: Phrase | undefined): string | undefined {
  const { zone = timezone, start } = phrase ?? {}
  if (start !== undefined) {
    throw new BadSchedule('startAt', `"${interval}" says when it begins: leave "${start}" out, and give that time as schedule.startAt.`)
  }
  if (timezone === undefined || zone === timezone) return zone
  throw new BadSchedule('timezone', `"${interval}" says ${zone}, and schedule.timezone ${timezone}: leave one of them out.`)
}

const hasDays = ({ weekdays, daysOfMonth, nth, date }: Interval) => (weekdays ?? daysOfMonth ?? nth ?? date) !== undefined

function notOfExact (interval: string, field: 'at' | 'on' | 'except') {
  const advice = field === 'at'
    ? 'at a time of day: give schedule.startAt, or whole days ("every 2 days")'
    : 'on certain days: add hours ("every 30 minutes between 9 and 17 on weekdays"), or write a cron line such as "*/30 9-17 * * 1-5"'
  return new BadSchedule(field, `"${interval}" is counted in hours or less, so it cannot also be ${advice}.`)
}

/** What is said in fields of their own, as words behind an interval say it; the interval is read as `read`. Throws BadSchedule (400). */
function readFields ({ at, on, except }: Schedule, read: Interval = { isWord: true, period: { unit: 'day', every: 1 } }): Interval {
  for (const [field, isTwice] of [['at', at !== undefined && read.at], ['except', except !== undefined && read.except]] as const) {
    if (!isTwice) continue
    throw new BadSchedule(field, `schedule.interval says "${field}" and there is schedule.${field} as well: leave one of them out.`)
  }
  if (on !== undefined && hasDays(read)) {
    throw new BadSchedule('on', 'schedule.interval says the days itself: leave schedule.on out, or write "weekly".')
  }
  return {
    ...read,
    ...at !== undefined && { at: timesOfDay(at, read.part) },
    ...on !== undefined && daysOn(on, read),
    ...except !== undefined && { except: exceptions([except].flat().join(', ')) }
  }
}

/** Parses times of day ("9:15 and 17:30"), ascending, without repetitions. */
function timesOfDay (list: string, part?: string): number[] {
  const times = readField('at', `at ${list.replace(/\b([ap])\.m\b\.?/gi, '$1m')}`)?.times
  if (times !== undefined) return [...new Set(times.map((time) => resolveClock(time, part)))].toSorted((a, b) => a - b)
  const forms = 'Write it as "09:00", "17:30:15", "9am", "noon" or "midnight"'
  throw new BadSchedule('at', `schedule.at ${JSON.stringify(list)} is not a time of day. ${forms}.`)
}

function exceptions (list: string): Interval['except'] {
  const except = readField('except', `except ${list}`)?.except
  if (except !== undefined) return except
  const forms = 'name weekdays ("sundays") or dates ("2026-12-24", "24 december"); holidays are not known'
  throw new BadSchedule('except', `"except ${list}" cannot be read: ${forms}.`)
}

/** The days of schedule.on: weekdays, days of the month, or a date, as the period has them. Throws BadSchedule (400). */
function daysOn (on: NonNullable<Schedule['on']>, { period, window }: Interval): Partial<Interval> {
  // In this field a weekday may be shorter than in a text.
  const text = [on].flat().join(', ').toLowerCase().replace(/\b[a-z]{2,5}\b/g, (word) => WEEKDAYS[weekdayNamed(word)] ?? word)
  const frame = period.unit === 'month' ? 'monthly' : period.unit === 'year' ? 'yearly' : 'weekly'
  const found = typeof on === 'number' && frame !== 'monthly' ? undefined : readField('on', `${frame} on ${text.replace(/^on /, '')}`)
  const { weekdays, daysOfMonth, nth, date } = found ?? {}
  const quoted = `schedule.on ${JSON.stringify(on)}`
  if (frame === 'monthly') {
    if (daysOfMonth ?? (period.unit === 'month' && period.every === 1 && nth)) return { daysOfMonth: daysOfMonth?.days, nth }
    const forms = 'write 1 to 31, "last", "1st and 15th" or, for months one by one, "first monday"'
    throw new BadSchedule('on', `${quoted} is not a day of the month: ${forms}.`)
  }
  if (frame === 'yearly') {
    if (date !== undefined) return { date }
    throw new BadSchedule('on', 'Yearly takes its date from schedule.startAt, or is "every 24 december".')
  }
  if (weekdays !== undefined || (period.unit === 'hour' && window === undefined)) return { weekdays: weekdays?.days ?? [] }
  throw new BadSchedule('on', `${quoted} is not a weekday: write "monday", "mon and thu" or ["mon", "thu"].`)
}

function checkBounds ({ interval, once, in: within, timezone, startAt, maxRuns, graceMs }: Schedule, now: number) {
  const check = (isFine: boolean, field: string, sentence: string) => {
    if (!isFine) throw new BadSchedule(field, sentence)
  }
  check([interval, once, within].filter((time) => time !== undefined).length === 1, 'interval',
    'A schedule has either schedule.interval ("daily at 9"), schedule.once ("2026-12-24T09:00") or schedule.in ("2 hours").')
  if (interval !== undefined && interval.length > SCHEDULE_LIMITS.text) throw unreadable(`${interval.slice(0, 40)}…`)
  check(timezone === undefined || isTimezone(timezone), 'timezone',
    `schedule.timezone ${JSON.stringify(timezone)} is not known: give an IANA name such as "Europe/Berlin", "America/New_York" or "UTC".`)
  const isWithin = (value: number | undefined, least: number, most: number) =>
    value === undefined || (Number.isInteger(value) && value >= least && value <= most)
  check(isWithin(startAt, 0, now + SCHEDULE_LIMITS.periodMs.max), 'startAt',
    'schedule.startAt is in milliseconds since 1970 and at most ten years ahead.')
  check(isWithin(maxRuns, 1, SCHEDULE_LIMITS.maxRuns), 'maxRuns',
    `schedule.maxRuns is a whole number from 1 to ${SCHEDULE_LIMITS.maxRuns}.`)
  check(isWithin(graceMs, 0, SCHEDULE_LIMITS.graceMs.max), 'graceMs', 'schedule.graceMs is in milliseconds, from 0 to 366 days.')
}

const unreadable = (interval: string) =>
  new BadSchedule(
    'interval',
    `schedule.interval ${JSON.stringify(interval)} cannot be read. ${hintOf(interval)}` +
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
  const { period, part, count, at, minute, window, weekdays } = fields
  const day = anchor === undefined ? undefined : Math.floor(anchor / DAY)
  const anchorSecond = anchor === undefined ? undefined : (anchor - day! * DAY) / 1_000
  const daily: Dates = { unit: 'day', every: 1, from: 0 }

  if (window !== undefined) {
    const dates: Dates = weekdays === undefined ? daily : { unit: 'week', every: 1, from: mondayOf(0), weekdays }
    return { dates, times: readWindow(interval, fields, window), repeats: true }
  }
  if (period.unit === 'hour') {
    if ((at ?? part) !== undefined) {
      throw new BadSchedule('at', 'Hourly has no time of day: give its minute, as in "hourly at :30", or schedule.startAt.')
    }
    if (hasDays(fields)) {
      const forms = 'write "hourly between 9 and 17 on weekdays", or a cron line such as "0 * * * 1-5"'
      throw new BadSchedule('on', `Hourly has no days: ${forms}.`)
    }
    const second = minute === undefined ? (anchorSecond ?? 0) % 3600 : minute * 60
    const hours = Array.from({ length: 24 }, (_, hour) => hour)
    return { dates: daily, times: { hours, minutes: [Math.floor(second / 60)], seconds: [second % 60] }, repeats: true }
  }
  if (minute !== undefined) throw unreadable(interval)
  const seconds = at ?? [part === undefined ? anchorSecond ?? DEFAULT_TIME : timeOfPart(part)]
  if (count !== undefined && count !== seconds.length) {
    throw new BadSchedule('at', `"${interval}" needs ${count} times of day: write them, as in "twice a day at 9 and 17".`)
  }
  const times: Times = { at: seconds }
  return { dates: inPhase(datesOf(all, day), times, all), times, repeats: false }
}

/** The times of "every 10 minutes between 9 and 17", the end included. */
function readWindow (interval: string, { period, part, at, minute }: Interval, [start, end]: NonNullable<Interval['window']>): Times {
  const every = period.unit === 'hour' ? 3_600 : period.unit === 'exact' ? period.everyMs / 1_000 : undefined
  if (every === undefined || at !== undefined || minute !== undefined) {
    throw new BadSchedule('interval', `"${interval}" cannot be read. Hours belong to minutes, as in "${WINDOW}".`)
  }
  const from = resolveClock(start, part)
  const to = end.text === 'midnight' || end.second === 86_400 ? LAST_SECOND : resolveClock(end, part)
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
      const from = mondayOf(day ?? 0)
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
    case 'year':
      if (date !== undefined) return { unit: 'month', every: 12, from: date.month - 1, days: [date.day] }
      return { unit: 'month', every: 12, from: day === undefined ? 0 : monthOf(day), days: [day === undefined ? 1 : dayOfMonth(day)] }
    case 'day':
      if (weekdays === undefined) return { unit: 'day', every: period.every, from: day ?? 0 }
      if (period.every === 1 && weekdays.length > 1) return { unit: 'week', every: 1, from: mondayOf(0), weekdays }
      throw new BadSchedule(
        'on',
        `"${interval}" is counted in days, so it cannot also be on certain ones: write "weekly" or "monthly" with schedule.on.`
      )
    default:
      throw new TypeError('not of the calendar')
  }
}

/**
 * Counts the period from the first date that is possible: "every 2 days at 9:00", created at ten, begins tomorrow, and
 * "every other friday" next Friday.
 */
function inPhase (dates: Dates, times: Times, { fields, begin, isFirst }: RuleParts): Dates {
  const { isWord, period, at, except } = fields
  if (dates.unit === 'cron' || dates.unit === 'date' || period.unit === 'year' || dates.every === 1) return dates
  // Quarters begin in January.
  if (isWord ? dates.unit === 'month' : dates.unit === 'day' ? at === undefined : !hasDays(fields)) return dates
  const local = nextLocal({ dates: { ...dates, every: 1 }, times, except }, isFirst ? begin : begin + 1)
  // Every date is left out: the schedule never runs, however it is counted.
  if (local === undefined) return dates
  const first = Math.floor(local / DAY)
  return { ...dates, from: dates.unit === 'day' ? first : dates.unit === 'week' ? mondayOf(first) : monthOf(first) }
}

const mondayOf = (day: number) => day - weekdayOf(day)
