import { BadSchedule } from './schedule-errors.ts'
import type { CalendarPlan, Plan } from './schedule-plan.ts'
import { SCHEDULE_LIMITS, type Schedule } from '../../schemas/schedule.ts'
import { readCalendar } from './calendar-plan.ts'
import { nextSlot } from './calendar.ts'
import { looksLikeCron, readCron } from './cron-line.ts'
import { exceptionsOf } from './day-words.ts'
import { readInterval } from './interval.ts'
import { parseOnce } from './once.ts'
import { isTimezone, localTime } from './zone.ts'

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
