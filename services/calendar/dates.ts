import { dayOfMonth, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import type { CronDates, Dates, Exceptions } from './schedule-plan.ts'

/** A cron line has a date within this many months or never: 29 February on a given weekday occurs within 40 years. */
const MAX_MONTHS = 41 * 12

/** What is planned: dates, without those that are left out. */
export interface DateRule {
  dates: Dates
  except?: Exceptions
}

/** The first day of the rule from `day` on (`step` 1), or the last one up to it (-1); undefined when there is none within 41 years. */
export function nearestDate ({ dates, except }: DateRule, day: number, step: 1 | -1): number | undefined {
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
