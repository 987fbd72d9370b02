import { countWhile } from '../lib/count-while.ts'
import { DAY, dayOfMonth, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import type { CalendarPlan, CronDates, Dates, Exceptions, ExactPlan, Plan, Times } from './schedule-plan.ts'
import { segmentAt, type Segment } from './zone.ts'

/** The dates of a plan, the exceptions from them, and the times of day. */
type Rule = Pick<CalendarPlan, 'dates' | 'except' | 'times'>

/** More than the largest offset from UTC plus the largest clock change; milliseconds. */
const MARGIN = 3 * DAY

/**
 * Returns the first planned time strictly after `after`, never before `plan.startAt`; undefined if there is
 * none. All times here are milliseconds since the Unix epoch, unless they are called local.
 */
export function nextSlot (plan: Plan, after: number): number | undefined {
  const from = notBefore(plan, after)
  if (plan.kind === 'moment') return plan.at > from ? plan.at : undefined
  return plan.kind === 'exact' ? nextMultiple(plan, from) : nextTime(plan, from)
}

/**
 * Returns the last planned time after `after` and up to `upTo`; undefined if there is none. A binary search over
 * the span after a known planned time.
 */
export function lastSlotUpTo (plan: Plan, after: number, upTo: number): number | undefined {
  let [last] = slotsBetween(plan, after, upTo, 1)
  for (let end = upTo; last < end;) {
    const middle = Math.ceil((last + end) / 2)
    const [later] = slotsBetween(plan, middle - 1, end, 1)
    if (later === undefined) end = middle - 1
    else last = later
  }
  return last
}

/** Counts the planned times after `after` and up to `upTo`, without listing them. */
export function countSlots (plan: Plan, after: number, upTo: number): number {
  const from = notBefore(plan, after)
  if (upTo <= from) return 0
  if (plan.kind === 'calendar') return countTimes(plan, from, upTo)
  return plan.kind === 'moment'
    ? slotsBetween(plan, from, upTo, 1).length
    : Math.round((nextMultiple(plan, upTo) - nextMultiple(plan, from)) / plan.everyMs)
}

/** Returns the planned times after `after` and up to `upTo`, earliest first, at most `limit`. */
export function slotsBetween (plan: Plan, after: number, upTo: number, limit: number): number[] {
  const slots: number[] = []
  for (let at = nextSlot(plan, after); at !== undefined && at <= upTo && slots.length < limit; at = nextSlot(plan, at)) slots.push(at)
  return slots
}

const nextMultiple = ({ anchor, everyMs }: ExactPlan, after: number) => anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs

const notBefore = ({ startAt }: Plan, after: number) => startAt === undefined ? after : Math.max(after, startAt - 1)

/** Returns the first time of a calendar plan after `after`; undefined if there is none. */
function nextTime (plan: CalendarPlan, after: number): number | undefined {
  for (let from = after + 1; ;) {
    const segment = segmentAt(plan.timezone, from)
    if (segment.start >= from && hasSkippedTime(plan, segment)) return segment.start
    const local = nextLocal(plan, Math.max(from + segment.offset, firstLocalTime(plan, segment)))
    if (local === undefined || local < segment.end + segment.offset) return local === undefined ? undefined : local - segment.offset
    from = Math.max(segment.end, local - MARGIN)
  }
}

/** Counts the times of a calendar plan after `after` and up to `upTo`. */
function countTimes (plan: CalendarPlan, after: number, upTo: number): number {
  let count = 0
  for (let from = after + 1; from <= upTo;) {
    const segment = segmentAt(plan.timezone, from)
    const { start, end, offset } = segment
    const first = start + offset
    // If a time is skipped and another one is planned at the first moment of the segment, both count as one.
    if (start >= from && hasSkippedTime(plan, segment) && nextLocal(plan, first) !== first) count++
    count += countLocal(plan, Math.max(from + offset, firstLocalTime(plan, segment)), Math.min(upTo + 1, end) + offset)
    from = end
  }
  return count
}

/**
 * Returns the local time from which times of a segment count. If the clocks went back, the repeated hour is
 * excluded, unless the plan repeats.
 */
function firstLocalTime ({ repeats }: CalendarPlan, { start, offset, before }: Segment) {
  return start + (repeats ? offset : Math.max(offset, before))
}

/**
 * Whether the clocks skipped a planned time when they went forward at the start of the segment. The first moment
 * of the segment then stands for the skipped time.
 */
function hasSkippedTime (plan: CalendarPlan, { start, offset, before }: Segment) {
  if (plan.repeats || before >= offset) return false
  const skipped = nextLocal(plan, start + before)
  return skipped !== undefined && skipped < start + offset
}

const lists = new WeakMap<Times, number[]>()

/** Returns the times of a day in seconds, ascending. */
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

/** Counts the numbers below `value` in an ascending list. */
const countBelow = (list: number[], value: number): number => countWhile(list, (each) => each < value)

/**
 * Returns the first local time of a rule at or after `local`; undefined if there is none. A local time is the
 * number of milliseconds since 1970-01-01 00:00 on the local clock.
 */
export function nextLocal (rule: Rule, local: number): number | undefined {
  const times = timesOfDay(rule.times)
  const today = Math.floor(local / DAY)
  const passed = countBelow(times, (local - today * DAY) / 1_000)
  const date = firstDate(rule, passed < times.length ? today : today + 1)
  return date === undefined ? undefined : date * DAY + times[date === today ? passed : 0] * 1_000
}

/** Counts the local times of a rule at or after `from` and before `to`. */
function countLocal (rule: Rule, from: number, to: number): number {
  const times = timesOfDay(rule.times)
  const countBefore = (local: number, date: number) => countBelow(times, (local - date * DAY) / 1_000)
  let count = 0
  for (let date = firstDate(rule, Math.floor(from / DAY)); date !== undefined && date * DAY < to; date = firstDate(rule, date + 1)) {
    count += Math.max(countBefore(to, date) - countBefore(from, date), 0)
  }
  return count
}

/** A rule has a date within this many days, or never. The rarest date, 29 February on a given weekday, occurs within 40 years. */
const MAX_DAYS = 41 * 366

/** Returns the first day of a rule at or after `day`, counted from 1970-01-01; undefined if there is none. */
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

/**
 * Returns the day from Monday to Friday that is nearest to `date` in the same month. `first`: the first day of
 * the month; `length`: its number of days.
 */
function workingDay (first: number, length: number, date: number): number {
  const weekday = weekdayOf(first + date - 1)
  if (weekday === 5) return date === 1 ? 3 : date - 1
  if (weekday === 6) return date === length ? date - 2 : date + 1
  return date
}
