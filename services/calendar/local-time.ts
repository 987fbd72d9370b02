import { DAY, dayOfMonth, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import type { CronDates, Dates, Exceptions, Times } from './schedule-plan.ts'

/** What is planned: times of dates, without those that are left out. */
interface Rule {
  dates: Dates
  except?: Exceptions
  times: Times
}

const lists = new WeakMap<Times, number[]>()

/** The times of a day, ascending; seconds. */
export function timesOfDay (times: Times): number[] {
  let list = lists.get(times)
  if (list === undefined) {
    list = 'at' in times
      ? times.at
      : 'every' in times
        ? Array.from({ length: Math.floor((times.to - times.from) / times.every) + 1 }, (_, n) => times.from + n * times.every)
        : times.hours.flatMap((h) => times.minutes.flatMap((m) => times.seconds.map((s) => h * 3600 + m * 60 + s)))
    lists.set(times, list)
  }
  return list
}

/** Counts the numbers of an ascending list that are below one. */
function countBelow (list: number[], value: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

/** The first local time of a rule from `local` on. Local times are milliseconds since 1970-01-01 00:00 local, whatever the zone. */
export function nextLocal (rule: Rule, local: number): number | undefined {
  const times = timesOfDay(rule.times)
  const day = Math.floor(local / DAY)
  const isLater = times.at(-1)! < secondOf(local)
  const date = nearestDate(rule, isLater ? day + 1 : day, 1)
  if (date === undefined) return undefined
  return date * DAY + times[date === day ? countBelow(times, secondOf(local)) : 0] * 1_000
}

/** The last local time of a rule before `local`. */
export function previousLocal (rule: Rule, local: number): number | undefined {
  const times = timesOfDay(rule.times)
  const day = Math.floor(local / DAY)
  const before = countBelow(times, secondOf(local))
  const date = nearestDate(rule, before === 0 ? day - 1 : day, -1)
  return date === undefined ? undefined : date * DAY + times.at(date === day ? before - 1 : -1)! * 1_000
}

/** Counts the local times of a rule from `from` until before `to`. */
export function countLocal (rule: Rule, from: number, to: number): number {
  const times = timesOfDay(rule.times)
  let count = 0
  const nextDate = (day: number) => nearestDate(rule, day, 1)
  for (let date = nextDate(Math.floor(from / DAY)); date !== undefined && date * DAY < to; date = nextDate(date + 1)) {
    const [start, end] = [Math.max(from - date * DAY, 0), Math.min(to - date * DAY, DAY)]
    count += Math.max(countBelow(times, Math.ceil(end / 1_000)) - countBelow(times, Math.ceil(start / 1_000)), 0)
  }
  return count
}

/** The second of the day of a local time, rounded up. */
const secondOf = (local: number) => Math.ceil((local - Math.floor(local / DAY) * DAY) / 1_000)

/** A rule has a date within this many days or never: 29 February on a given weekday occurs within 40 years. */
const MAX_DAYS = 41 * 366

/** The first day of the rule from `day` on (`step` 1), or the last one up to it (-1). */
function nearestDate ({ dates, except }: Rule, day: number, step: 1 | -1): number | undefined {
  if (dates.unit === 'date') return (dates.day - day) * step >= 0 ? dates.day : undefined
  for (let date = day, left = MAX_DAYS; left > 0; date += step, left--) {
    if (isDate(dates, date) && (except === undefined || !isException(except, date))) return date
  }
  return undefined
}

const isException = ({ weekdays, days, yearly }: Exceptions, day: number) =>
  weekdays.includes(weekdayOf(day)) || days.includes(day) || yearly.includes((mod(monthOf(day), 12) + 1) * 100 + dayOfMonth(day))

function isDate (dates: Dates, day: number): boolean {
  switch (dates.unit) {
    case 'day':
      return mod(day - dates.from, dates.every) === 0
    case 'week':
      return mod(Math.floor((day - dates.from) / 7), dates.every) === 0 && dates.weekdays.includes(weekdayOf(day))
    case 'month': {
      const month = monthOf(day)
      const date = dayOfMonth(day)
      return mod(month - dates.from, dates.every) === 0 && dates.days.some((each) => date === Math.min(each, daysIn(month)))
    }
    case 'date':
      return day === dates.day
    case 'cron':
      return dates.months.includes(mod(monthOf(day), 12) + 1) && isCronDay(dates, day)
  }
}

function isCronDay (dates: CronDates, day: number): boolean {
  const month = monthOf(day)
  const [first, length, date] = [firstOf(month), daysIn(month), dayOfMonth(day)]
  const nth = 1 << Math.floor((date - 1) / 7) | (date + 7 > length ? 32 : 0)
  const onWeekday = (dates.weekdays[(weekdayOf(day) + 1) % 7] & nth) !== 0
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
