import { BadSchedule } from './schedule-errors.ts'
import type { CronDates, Times, Plan } from './schedule-plan.ts'
import { nearestDate } from './dates.ts'
import { SCHEDULE_LIMITS, type Schedule } from '../../../../schemas/schedule.ts'
import { readCalendar } from './calendar-plan.ts'
import { DAY } from './days.ts'
import { readInterval } from './interval.ts'
import { isTimezone, localTime } from './zone.ts'

/** Whether a text looks like a cron line. */
const looksLikeCron = (text: string) => /^\s*@|\*|^\s*[\d?]\S*(\s+\S+){4}/.test(text)

/** Parses a cron line with croner, which is imported on demand, into the parts of a plan. Throws BadSchedule (400). */
async function readCron (line: string, today: number): Promise<{ dates: CronDates, times: Times, repeats: boolean }> {
  const { CronPattern } = await import('croner')
  let pattern: InstanceType<typeof CronPattern>
  try {
    pattern = new CronPattern(line.trim(), 'UTC', { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
  } catch (error) {
    const fields = line.trim().split(/\s+/)
    const cause = fields[0].startsWith('@')
      ? `"${fields[0]}" is not known`
      : fields.length === 5 || fields.length === 6
        ? (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '')
        : `it has ${fields.length} fields`
    throw new BadSchedule(
      'interval',
      `schedule.interval ${JSON.stringify(line)} is not a cron line: ${cause}. ` +
        'Write five fields (minute hour day month weekday), or six with seconds first, such as "0 9 * * 1-5", ' +
        'or one of @hourly, @daily, @weekly, @monthly and @yearly.'
    )
  }
  const dates: CronDates = {
    unit: 'cron',
    months: set(pattern.month, 1),
    days: set(pattern.day, 1),
    last: pattern.lastDayOfMonth,
    lastWorking: pattern.lastWeekday,
    nearest: set(pattern.nearestWeekdays, 1),
    weekdays: pattern.dayOfWeek,
    both: pattern.useAndLogic || pattern.starDOM || pattern.starDOW
  }
  if (nearestDate(dates, today, 1) === undefined) {
    throw new BadSchedule('interval', `schedule.interval ${JSON.stringify(line)} names a date that never comes.`)
  }
  return {
    dates,
    times: { hours: set(pattern.hour), minutes: set(pattern.minute), seconds: set(pattern.second) },
    repeats: !pattern.isFixedTime
  }
}

const set = (flags: number[], first = 0) => flags.flatMap((flag, i) => flag ? [i + first] : [])

/** A `startAt` that the client meant as now has passed on arrival. A start that is at most this old still counts; milliseconds. */
const JUST_NOW_MS = 60_000

/**
 * Makes the plan of a schedule that begins now. The plan is stored and passed to `due`, `nextSlot` and `upcoming`. Durations
 * are counted from `startAt` or `now`, so a schedule is parsed when it starts, not only when it is written. `timezone` is the
 * machine's time zone. Throws BadSchedule (400). The function is asynchronous only because cron lines import croner.
 */
export async function parseSchedule (schedule: Schedule, { timezone: machine, now }: { timezone: string, now: number }): Promise<Plan> {
  const { interval, startAt } = schedule
  checkBounds(schedule, now)
  const timezone = schedule.timezone ?? machine
  const common = {
    since: startAt !== undefined && startAt <= now && startAt > now - JUST_NOW_MS ? startAt - 1 : now,
    missed: schedule.missed ?? 'run_once',
    graceMs: schedule.graceMs ?? SCHEDULE_LIMITS.graceMs.default,
    ...(startAt !== undefined && { startAt }),
    ...(schedule.maxRuns !== undefined && { maxRuns: schedule.maxRuns })
  }
  const calendar = { kind: 'calendar', timezone, follows: schedule.timezone === undefined, ...common } as const

  const read = readInterval(interval)
  if (read === undefined) {
    if (!looksLikeCron(interval)) throw unreadable(interval)
    if (schedule.at !== undefined) {
      throw new BadSchedule('at', 'A cron line says the time of day itself: leave schedule.at out, or write a word such as "daily".')
    }
    if (schedule.on !== undefined) {
      throw new BadSchedule('on', 'A cron line says its days itself: leave schedule.on out, or write a word such as "weekly".')
    }
    return { ...calendar, ...await readCron(interval, Math.floor(now / DAY) - 1) }
  }
  const at = onlyOne('at', read.at, schedule.at)
  const on = onlyOne('on', read.on, schedule.on)
  if (read.period.unit === 'exact') {
    if (at !== undefined) {
      throw new BadSchedule(
        'at',
        `"${interval}" is counted in hours or less, so it cannot also be at a time of day: give schedule.startAt, or whole days ("every ` +
        '2 days").'
      )
    }
    if (on !== undefined) {
      throw new BadSchedule(
        'on',
        `"${interval}" is counted in hours or less, so it cannot also be on certain days: write a cron line for that, such as "*/30 ` +
        '9-17 * * 1-5".'
      )
    }
    return { kind: 'exact', everyMs: read.period.everyMs, anchor: startAt ?? now, ...common }
  }
  // Calendar times are whole seconds, so startAt is rounded up and now is rounded down.
  const start = startAt !== undefined ? Math.ceil(startAt / 1_000) * 1_000 : read.word ? undefined : Math.floor(now / 1_000) * 1_000
  const anchor = start === undefined ? undefined : localTime(timezone, start)
  return { ...calendar, ...readCalendar({ interval, read, at, on, anchor, isFirst: startAt !== undefined }) }
}

/** Takes a value from the interval text or from its own field. Throws BadSchedule when both give it, because they may contradict. */
function onlyOne<T> (field: 'at' | 'on', inText: string | undefined, given: T | undefined): T | string | undefined {
  if (inText !== undefined && given !== undefined) {
    throw new BadSchedule(
      field,
      `schedule.interval says "${field} ${inText}" and there is schedule.${field} as well: leave one of them out.`
    )
  }
  return inText ?? given
}

function checkBounds ({ interval, timezone, startAt, maxRuns, graceMs }: Schedule, now: number) {
  if (interval.length > SCHEDULE_LIMITS.text) throw unreadable(`${interval.slice(0, 40)}…`)
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
      'Write a word (hourly, daily, weekdays, weekends, weekly, monthly, yearly), weekdays ("every monday and thursday"), ' +
      'a duration ("30m", "2 days", "every 6 hours", "P1D") or a cron line ("0 9 * * 1-5", "@daily"); "at 9am" may follow.'
  )
