import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { checkDate, dayNumber } from './day-words.ts'
import { DAY, daysIn, firstOf, monthOf } from './days.ts'
import { readDuration } from './durations.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { CalendarPlan, MomentPlan } from './schedule-plan.ts'
import { localTime } from './zone.ts'

interface Now {
  /** The time zone of the schedule. */
  timezone: string
  now: number
}

/** Fields that belong to what is repeated. */
const OF_INTERVALS = ['at', 'on', 'except', 'startAt', 'maxRuns'] as const

/** Makes the plan of `schedule.once` or `schedule.in`, which is counted from now. Throws BadSchedule (400). */
export function parseOnce (schedule: Schedule, { timezone, now }: Now): MomentPlan | CalendarPlan {
  const name = schedule.once === undefined ? 'in' : 'once'
  const odd = OF_INTERVALS.find((field) => schedule[field] !== undefined) ?? (schedule.missed === 'skip' ? 'missed' : undefined)
  if (odd !== undefined) throw new BadSchedule(odd, `schedule.${odd} belongs to schedule.interval, not to schedule.${name}: leave it out.`)
  const common = {
    since: now,
    maxRuns: 1,
    missed: 'run_once',
    ...(schedule.graceMs !== undefined && { graceMs: schedule.graceMs })
  } as const
  const time = schedule.once === undefined ? afterNow(schedule.in!, { timezone, now }) : momentOf(schedule.once)
  if (time.at !== undefined) {
    if (time.at > now + SCHEDULE_LIMITS.periodMs.max) throw tooFar(name)
    return { kind: 'moment', at: time.at, ...common }
  }
  if (time.local > now + SCHEDULE_LIMITS.periodMs.max) throw tooFar(name)
  const day = Math.floor(time.local / DAY)
  return {
    kind: 'calendar',
    timezone,
    follows: schedule.timezone === undefined,
    dates: { unit: 'date', day },
    times: { at: [Math.floor((time.local - day * DAY) / 1_000)] },
    repeats: false,
    ...common
  }
}

const tooFar = (field: string) => new BadSchedule(field, `schedule.${field} is more than ten years ahead.`)

/** A point in time, or a local time in milliseconds since 1970-01-01 00:00 local. */
type Time = { at: number, local?: undefined } | { local: number, at?: undefined }

function momentOf (once: NonNullable<Schedule['once']>): Time {
  if (typeof once === 'number') return { at: once }
  const [, date, hour, minute, second = 0] = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?$/.exec(once.trim()) ?? []
  if (date === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) {
    throw new BadSchedule(
      'once',
      `schedule.once ${JSON.stringify(once)} is not a time: write a local time such as "2026-12-24T09:00", which is read in ` +
        'schedule.timezone, or milliseconds since 1970.'
    )
  }
  const [year, month, day] = date.split('-').map(Number)
  checkDate({ year, month, day }, date, 'once')
  return { local: dayNumber({ year, month, day }) * DAY + (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1_000 }
}

/** The time that lies a duration ahead: exact for hours and shorter units, at the same local time for days and longer ones. */
function afterNow (text: string, { timezone, now }: Now): Time {
  const period = readDuration(text, 'in')
  if (period === undefined) {
    throw new BadSchedule('in', `schedule.in ${JSON.stringify(text)} is not a duration: write "30 minutes", "2h", "3 days" or "PT2H".`)
  }
  if (period.unit === 'exact') return { at: now + period.everyMs }
  const local = Math.floor(localTime(timezone, now) / 1_000) * 1_000
  const day = Math.floor(local / DAY)
  const month = monthOf(day) + period.every
  const then = period.unit === 'month'
    ? firstOf(month) + Math.min(day - firstOf(monthOf(day)), daysIn(month) - 1)
    : day + period.every * (period.unit === 'week' ? 7 : 1)
  return { local: local + (then - day) * DAY }
}
