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
  const today = Math.floor(local / DAY)
  const passed = countBelow(times, (local - today * DAY) / 1_000)
  const date = firstDate(rule, passed < times.length ? today : today + 1)
  return date === undefined ? undefined : date * DAY + times[date === today ? passed : 0] * 1_000
}

/** Counts the local times of a rule from `from` until before `to`. */
export function countLocal (rule: Rule, from: number, to: number): number {
  const times = timesOfDay(rule.times)
  const countBefore = (local: number, date: number) => countBelow(times, (local - date * DAY) / 1_000)
  let count = 0
  for (let date = firstDate(rule, Math.floor(from / DAY)); date !== undefined && date * DAY < to; date = firstDate(rule, date + 1)) {
    count += Math.max(countBefore(to, date) - countBefore(from, date), 0)
  }
  return count
}

/** A rule has a date within this many days or never: 29 February on a given weekday occurs within 40 years. */
const MAX_DAYS = 41 * 366

/** The first day of the rule from `day` on. */
function firstDate ({ dates, except }: Rule, day: number): number | undefined {
  if (dates.unit === 'date') return dates.day >= day ? dates.day : undefined
  for (let date = day; date < day + MAX_DAYS; date++) {
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
