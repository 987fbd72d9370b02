import type { Schedule } from '../../../../schemas/schedule.ts'
import { DAY, dayOfMonth, monthOf, weekdayOf } from './days.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { Interval } from './interval.ts'
import { nextLocal } from './local-time.ts'
import type { CalendarPlan, Dates, Times } from './schedule-plan.ts'
import { dayOfMonthOf, timeOfDay, weekdaysOf } from './schedule-words.ts'

/** Time of day for intervals that name none: the start of a working day; seconds. */
const DEFAULT_TIME = 9 * 3600

interface Given {
  interval: string
  read: Interval
  at?: string
  on?: Schedule['on']
  /** The local time that supplies missing parts of the schedule, and from which days and months are counted. */
  anchor?: number
  /** Whether the anchor itself may be the first planned time. */
  isFirst: boolean
}

/**
 * Reads the dates and times of words, and of durations in whole days, weeks and months. Throws BadSchedule (400) when the
 * fields contradict each other.
 */
export function readCalendar (given: Given): Pick<CalendarPlan, 'dates' | 'times' | 'repeats'> {
  const { read: { period }, at, anchor } = given
  const day = anchor === undefined ? undefined : Math.floor(anchor / DAY)
  const anchorSecond = anchor === undefined ? undefined : (anchor - day! * DAY) / 1_000

  if (period.unit === 'hour') {
    refuse(given, 'at', 'hourly has no time of day: give schedule.startAt for its minute, or a cron line such as "30 * * * *"')
    refuse(given, 'on', 'hourly has no days: write a cron line such as "0 * * * 1-5"')
    const second = (anchorSecond ?? 0) % 3600
    return {
      dates: { unit: 'day', every: 1, from: 0 },
      times: { ...timesAt(second), hours: Array.from({ length: 24 }, (_, hour) => hour) },
      repeats: true
    }
  }
  const times = timesAt(at === undefined ? anchorSecond ?? DEFAULT_TIME : timeOfDay(at))
  return { dates: inPhase(datesOf(given, day), times, given), times, repeats: false }
}

function datesOf (given: Given, day: number | undefined): Dates {
  const { read: { period, weekdays }, on, interval } = given
  switch (period.unit) {
    case 'week': {
      if (weekdays) refuse(given, 'on', `"${interval}" says the days itself: leave schedule.on out, or write "weekly"`)
      return {
        unit: 'week',
        every: period.every,
        from: day === undefined ? mondayOf(0) : mondayOf(day),
        weekdays: weekdays ?? givenWeekdays(on) ?? [day === undefined ? 0 : weekdayOf(day)]
      }
    }
    case 'month':
      return {
        unit: 'month',
        every: period.every,
        from: day === undefined ? 0 : monthOf(day),
        day: givenDay(on) ?? (day === undefined ? 1 : dayOfMonth(day))
      }
    case 'year':
      refuse(given, 'on', 'yearly takes its date from schedule.startAt: give that, or a cron line such as "0 9 24 12 *"')
      return { unit: 'month', every: 12, from: day === undefined ? 0 : monthOf(day), day: day === undefined ? 1 : dayOfMonth(day) }
    case 'day':
      refuse(
        given,
        'on',
        `"${interval}" is counted in days, so it cannot also be on certain ones: write "weekly" or "monthly" with schedule.on`
      )
      return { unit: 'day', every: period.every, from: day ?? 0 }
    default:
      throw new TypeError('not of the calendar')
  }
}

/**
 * Counts the period from the first date that is possible: "every 2 days at 9:00", created at ten, begins tomorrow, and
 * "every 2 weeks on monday" begins next Monday.
 */
function inPhase (dates: Dates, times: Times, { read, at, on, anchor, isFirst }: Given): Dates {
  if (dates.unit === 'cron' || read.word || anchor === undefined || (dates.unit === 'day' ? at : on) === undefined) return dates
  const first = Math.floor(nextLocal({ dates: { ...dates, every: 1 }, times }, isFirst ? anchor : anchor + 1)! / DAY)
  return { ...dates, from: dates.unit === 'day' ? first : dates.unit === 'week' ? mondayOf(first) : monthOf(first) }
}

const mondayOf = (day: number) => day - weekdayOf(day)

const timesAt = (second: number): Times => ({
  hours: [Math.floor(second / 3600)],
  minutes: [Math.floor(second % 3600 / 60)],
  seconds: [second % 60]
})

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

function givenDay (on: Schedule['on']): number | undefined {
  if (on === undefined) return undefined
  const day = Array.isArray(on) ? undefined : dayOfMonthOf(String(on))
  if (day === undefined) {
    throw new BadSchedule(
      'on',
      `schedule.on ${
        JSON.stringify(on)
      } is not a day of the month: write 1 to 31 or "last"; for "the first monday" a cron line, "0 9 * * MON#1".`
    )
  }
  return day
}
