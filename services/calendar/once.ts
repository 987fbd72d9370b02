import { type Schedule, SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { checkDate, dateOf, dayNumber, isPlainTime, isTimes, PARTS, timeOfDay, weekdayNamed } from './day-words.ts'
import { DAY, daysIn, firstOf, monthOf, weekdayOf } from './days.ts'
import { readDuration } from './durations.ts'
import { partTaker, splitParts } from './interval.ts'
import { BadSchedule } from './schedule-errors.ts'
import { localTime } from './zone.ts'
import type { CalendarPlan, MomentPlan } from './schedule-plan.ts'

/**
 * Reads a text that means one time ("tomorrow at 5pm", "on friday at 9", "in 2 hours", "2026-12-24 at 9:00") as a schedule; undefined
 * for other texts. Throws BadSchedule (400) for times that are over, that do not exist, or that may mean two things.
 */
export function readOnce (text: string, { timezone, now }: { timezone: string, now: number }): Pick<Schedule, 'once' | 'in'> | undefined {
  const parts = splitParts(text.replace(/^\s*(?:just )?once,? (?!an? |per |each |every )/i, ''))
  if (parts === undefined || parts.except !== undefined) return undefined
  const { head = '' } = parts
  const isAlone = Object.keys(parts).length === 2
  const wait = isAlone && parts.between === 'now' ? head : isAlone && head === '' ? parts.in : undefined
  if (wait !== undefined && readDuration(wait, 'in') !== undefined) return { in: wait }

  if (parts.between !== undefined) return undefined
  const local = localTime(timezone, now)
  const today = Math.floor(local / DAY)
  const { named, withoutPart } = partTaker()
  if (parts.in !== undefined && withoutPart(parts.in) !== '') return undefined
  const at = parts.at && withoutPart(parts.at)
  const on = parts.on && withoutPart(parts.on)
  // "tomorrow 5pm" and "5pm tomorrow" without "at"; the date may hold blanks.
  const said = head.toLowerCase().replace(/^tonight\b/, 'today night').replace(/^this (?=morning|afternoon|evening)/, 'today ')
  const words = withoutPart(said).split(' ')
  const time = at === undefined || at === '' ? [words.at(-1)!, words[0]].find(isPlainTime) : undefined
  const day = words.filter((word) => word !== '' && word !== time).join(' ').replace(/,$/, '')
  if (named.length > 1 || (on !== undefined && day !== '')) return undefined

  const found = dayNamed(on ?? day, today, on !== undefined)
  const clock = at || time
  if (clock !== undefined && !isTimes(clock)) return undefined
  const part = named[0]
  // "at 9" alone may be any morning's.
  const isBare = on === undefined && day === '' && clock !== undefined && !isPlainTime(clock) && part === undefined
  if (found === undefined || isBare) return undefined
  if (clock === undefined && part === undefined && found.isToday) return undefined
  if (clock === 'midnight') throw doubtful(text, 'write the date and "00:00" or "23:59"')
  const second = clock === undefined ? PARTS[part ?? 'morning'] : timeOfDay(clock, part, 'once')
  // A weekday is the next one whose time is still to come, a date without a year likewise.
  const days = found.days.map((each) => each * DAY + second * 1_000)
  const ahead = days.find((each) => each > local)
  if (ahead === undefined) throw new BadSchedule('once', `"${text.trim()}" is over: say a time that is still to come, with its date.`)
  return { once: new Date(ahead).toISOString().slice(0, second % 60 === 0 ? 16 : 19) }
}

/** The days that a text can mean, earliest first; undefined when it is none. Counted from 1970-01-01. */
function dayNamed (text: string, today: number, isOn: boolean): { days: number[], isToday?: boolean } | undefined {
  const words = text.toLowerCase().trim()
  if (words === '' || words === 'today') return isOn ? undefined : { days: [today], isToday: true }
  if (words === 'tomorrow') return isOn ? undefined : { days: [today + 1] }
  if (/^(?:the )?day after tomorrow$/.test(words)) return isOn ? undefined : { days: [today + 2] }
  const [, which, name] = /^(this |coming |next )?([a-z]{3,})$/.exec(words) ?? []
  const weekday = name === undefined || name.endsWith('s') ? -1 : weekdayNamed(name)
  if (weekday >= 0) {
    if (which === 'next ') throw doubtful(text, `write "on ${name}" for the coming one, or the date`)
    const ahead = (weekday - weekdayOf(today) + 7) % 7
    return { days: [today + ahead, today + ahead + 7] }
  }
  const date = dateOf(words, 'once')
  if (date === undefined) return undefined
  if (date.year !== undefined) return { days: [dayNumber({ ...date, year: date.year })] }
  const year = new Date(today * DAY).getUTCFullYear()
  const exists = (each: number) => date.month !== 2 || date.day !== 29 || each % 4 === 0
  return { days: [0, 1, 2, 3, 4].map((n) => year + n).filter(exists).map((each) => dayNumber({ ...date, year: each })) }
}

const doubtful = (text: string, advice: string) => new BadSchedule('once', `"${text.trim()}" may mean several things: ${advice}.`)

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
