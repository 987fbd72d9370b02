import { DAY, dayOfMonth, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import type { CronDates, Dates, Exceptions, Times } from './schedule-plan.ts'

/** Counts the times of a day before the given second of the day. */
export function timesBefore (times: Times, second: number): number {
  if ('at' in times) return countBelow(times.at, second)
  if ('every' in times) {
    const { from, to, every } = times
    return Math.max(Math.ceil((Math.min(second, to + 1) - from) / every), 0)
  }
  const { hours, minutes, seconds } = times
  if (second >= 86_400) return hours.length * minutes.length * seconds.length
  const hour = Math.floor(second / 3600)
  const minute = Math.floor(second % 3600 / 60)
  const h = countBelow(hours, hour)
  const m = hours[h] === hour ? countBelow(minutes, minute) : 0
  const s = hours[h] === hour && minutes[m] === minute ? countBelow(seconds, second % 60) : 0
  return (h * minutes.length + m) * seconds.length + s
}

/** The second of the day of the nth time, counted from 0; undefined beyond the last. */
export function nthTime (times: Times, n: number): number | undefined {
  if ('at' in times) return times.at[n]
  if ('every' in times) {
    const second = times.from + n * times.every
    return second <= times.to ? second : undefined
  }
  const { hours, minutes, seconds } = times
  const perHour = minutes.length * seconds.length
  const hour = hours[Math.floor(n / perHour)]
  if (hour === undefined) return undefined
  return hour * 3600 + minutes[Math.floor(n % perHour / seconds.length)] * 60 + seconds[n % seconds.length]
}

function countBelow (sorted: number[], value: number) {
  let count = 0
  while (count < sorted.length && sorted[count] < value) count++
  return count
}

type Rule = DateRule & { times: Times }

/** The first local time of a rule from `local` on. Local times are milliseconds since 1970-01-01 00:00 local, whatever the zone. */
export function nextLocal ({ times, ...dates }: Rule, local: number): number | undefined {
  const day = Math.floor(local / DAY)
  const date = nearestDate(dates, day, 1)
  if (date === undefined) return undefined
  const time = nthTime(times, date === day ? timesBefore(times, secondOf(local)) : 0)
  if (time !== undefined) return date * DAY + time * 1_000
  const later = nearestDate(dates, day + 1, 1)
  return later === undefined ? undefined : later * DAY + nthTime(times, 0)! * 1_000
}

/** The last local time of a rule before `local`. */
export function previousLocal ({ times, ...dates }: Rule, local: number): number | undefined {
  const day = Math.floor(local / DAY)
  const date = nearestDate(dates, day, -1)
  if (date === undefined) return undefined
  const before = timesBefore(times, date === day ? secondOf(local) : 86_400)
  if (before > 0) return date * DAY + nthTime(times, before - 1)! * 1_000
  const earlier = nearestDate(dates, day - 1, -1)
  return earlier === undefined ? undefined : earlier * DAY + nthTime(times, timesBefore(times, 86_400) - 1)! * 1_000
}

/** Counts the local times of a rule from `from` until before `to`. */
export function countLocal ({ times, ...dates }: Rule, from: number, to: number): number {
  let count = 0
  const lastDay = Math.floor(to / DAY)
  for (
    let date = nearestDate(dates, Math.floor(from / DAY), 1); date !== undefined && date <= lastDay; date = nearestDate(dates, date + 1, 1)
  ) {
    const start = Math.max(from - date * DAY, 0)
    const end = Math.min(to - date * DAY, DAY)
    count += Math.max(timesBefore(times, Math.ceil(end / 1_000)) - timesBefore(times, Math.ceil(start / 1_000)), 0)
  }
  return count
}

/** The second of the day of a local time, rounded up. */
const secondOf = (local: number) => Math.ceil((local - Math.floor(local / DAY) * DAY) / 1_000)

/** A cron line has a date within this many months or never: 29 February on a given weekday occurs within 40 years. */
const MAX_MONTHS = 41 * 12

/** What is planned: dates, without those that are left out. */
interface DateRule {
  dates: Dates
  except?: Exceptions
}

/** The first day of the rule from `day` on (`step` 1), or the last one up to it (-1); undefined when there is none within 41 years. */
function nearestDate ({ dates, except }: DateRule, day: number, step: 1 | -1): number | undefined {
  const last = day + step * MAX_MONTHS * 31
  for (let from = day; ; from += step) {
    const date = nearestOf(dates, from, step)
    if (except === undefined || date === undefined || !isException(except, date)) return date
    if ((last - date) * step < 0) return undefined
    from = date
  }
}

const isException = ({ weekdays, days, yearly }: Exceptions, day: number) =>
  weekdays.includes(weekdayOf(day)) || days.includes(day) || yearly.includes((mod(monthOf(day), 12) + 1) * 100 + dayOfMonth(day))

function nearestOf (dates: Dates, day: number, step: 1 | -1): number | undefined {
  switch (dates.unit) {
    case 'day':
      return day + step * mod(step * (dates.from - day), dates.every)
    case 'week':
      return nearestWeekday(dates, day, step)
    case 'month':
      return nearestMonthday(dates, day, step)
    case 'date':
      return (dates.day - day) * step >= 0 ? dates.day : undefined
    case 'cron':
      return nearestCron(dates, day, step)
  }
}

function nearestWeekday ({ every, from, weekdays }: Extract<Dates, { unit: 'week' }>, day: number, step: 1 | -1) {
  for (;;) {
    const week = Math.floor((day - from) / 7)
    const off = mod(step * -week, every)
    // Continue at the first day of the next counting week, or at the last day when searching backwards.
    if (off > 0) day = from + (week + step * off) * 7 + (step === 1 ? 0 : 6)
    else if (weekdays.includes(weekdayOf(day))) return day
    else day += step
  }
}

function nearestMonthday ({ every, from, days }: Extract<Dates, { unit: 'month' }>, day: number, step: 1 | -1) {
  const ordered = step === 1 ? days : days.toReversed()
  const daysOf = (month: number) => ordered.map((each) => firstOf(month) + Math.min(each, daysIn(month)) - 1)
  const now = monthOf(day)
  const month = now + step * mod(step * (from - now), every)
  return daysOf(month).find((date) => (date - day) * step >= 0) ?? daysOf(month + step * every)[0]
}

function nearestCron (dates: CronDates, day: number, step: 1 | -1) {
  const start = monthOf(day)
  for (let month = start, remaining = MAX_MONTHS; remaining > 0; month += step, remaining--) {
    if (!dates.months.includes(mod(month, 12) + 1)) continue
    const first = firstOf(month)
    const length = daysIn(month)
    const from = month === start ? day - first + 1 : step === 1 ? 1 : length
    for (let date = from; date >= 1 && date <= length; date += step) {
      if (isCronDay(dates, first, length, date)) return first + date - 1
    }
  }
  return undefined
}

function isCronDay (dates: CronDates, first: number, length: number, date: number): boolean {
  const bits = dates.weekdays[(weekdayOf(first + date - 1) + 1) % 7]
  const nth = 1 << Math.floor((date - 1) / 7) | (date + 7 > length ? 32 : 0)
  const onWeekday = (bits & nth) !== 0
  if (dates.both && !onWeekday) return false
  if (!dates.both && onWeekday) return true
  return dates.days.includes(date) || (dates.last && date === length) ||
    (dates.lastWorking && date === workingDay(first, length, length)) ||
    dates.nearest.some((target) => target <= length && date === workingDay(first, length, target))
}

/** The weekday from Monday to Friday that is nearest to `date` in the same month. */
function workingDay (first: number, length: number, date: number): number {
  const weekday = weekdayOf(first + date - 1)
  if (weekday === 5) return date === 1 ? 3 : date - 1
  if (weekday === 6) return date === length ? date - 2 : date + 1
  return date
}
