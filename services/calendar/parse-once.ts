import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { DAY, daysIn, firstOf, monthOf } from './days.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { CalendarPlan, MomentPlan } from './schedule-plan.ts'
import { daysOfPeriod, readField } from './time-rules.ts'
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
  const { once, in: wait, graceMs } = schedule
  const name = once === undefined ? 'in' : 'once'
  const odd = OF_INTERVALS.find((field) => schedule[field] !== undefined) ?? (schedule.missed === 'skip' ? 'missed' : undefined)
  if (odd !== undefined) throw new BadSchedule(odd, `schedule.${odd} belongs to schedule.interval, not to schedule.${name}: leave it out.`)
  const time: Time = typeof once === 'number' ? { at: once } : once === undefined ? afterNow(wait!, { timezone, now }) : localOf(once)
  const { at, local = 0 } = time
  if ((at ?? local) > now + SCHEDULE_LIMITS.periodMs.max) {
    throw new BadSchedule(name, `schedule.${name} is more than ten years ahead.`)
  }
  const common = { since: now, maxRuns: 1, missed: 'run_once', ...(graceMs !== undefined && { graceMs }) } as const
  if (at !== undefined) return { kind: 'moment', at, ...common }
  const day = Math.floor(local / DAY)
  return {
    kind: 'calendar',
    timezone,
    follows: schedule.timezone === undefined,
    dates: { unit: 'date', day },
    times: { at: [Math.floor((local - day * DAY) / 1_000)] },
    repeats: false,
    ...common
  }
}

/** A point in time, or a local time in milliseconds since 1970-01-01 00:00 local. */
interface Time {
  at?: number
  local?: number
}

function localOf (once: string): Time {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)$/.exec(once.trim()) ?? []
  if (date === undefined) {
    throw new BadSchedule(
      'once',
      `schedule.once ${JSON.stringify(once)} is not a time: write a local time such as "2026-12-24T09:00", which is read in ` +
        'schedule.timezone, or milliseconds since 1970.'
    )
  }
  const local = Date.parse(`${date}T${time}Z`)
  if (new Date(local || 0).toISOString().startsWith(date)) return { local }
  throw new BadSchedule('once', `The date "${date}" does not exist.`)
}

/** The time that lies a duration ahead: exact for hours and shorter units, at the same local time for days and longer ones. */
function afterNow (text: string, { timezone, now }: Now): Time {
  const period = readField('in', `in ${text}`)?.wait?.period
  if (period === undefined) {
    throw new BadSchedule('in', `schedule.in ${JSON.stringify(text)} is not a duration: write "30 minutes", "2h", "3 days" or "PT2H".`)
  }
  if (period.unit === 'exact') return { at: now + period.everyMs }
  const local = Math.floor(localTime(timezone, now) / 1_000) * 1_000
  const day = Math.floor(local / DAY)
  const month = monthOf(day) + period.every
  const then = period.unit === 'month'
    ? firstOf(month) + Math.min(day - firstOf(monthOf(day)), daysIn(month) - 1)
    : day + daysOfPeriod(period)
  return { local: local + (then - day) * DAY }
}
