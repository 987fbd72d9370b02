import { count } from '../lib/in-words.ts'
import type { Schedule } from '../../schemas/schedule.ts'
import { nextSlot, timesOfDay } from './calendar.ts'
import { looksLikeCron } from './cron-line.ts'
import { MONTHS, WEEKDAYS } from './day-words.ts'
import { DAY, dayOfMonth, mod, monthOf, weekdayOf } from './days.ts'
import { type CalendarPlan, type CronDates, type Dates, type Exceptions, isOnce, type Plan, type Times } from './schedule-plan.ts'
import { localTime } from './zone.ts'

/**
 * Describes in English when a plan runs, without its time zone. The description shows how the schedule was parsed, not how it was written.
 */
export function describe (plan: Plan, schedule: Schedule, timezone: string): string {
  const zone = plan.kind === 'calendar' ? plan.timezone : timezone
  if (plan.kind === 'moment') return `once, on ${moment(localTime(zone, plan.at))}`
  const { startAt, maxRuns } = plan
  return [
    plan.kind === 'exact' ? `every ${duration(plan.everyMs)}` : calendar(plan, schedule),
    startAt === undefined ? '' : `, from ${moment(localTime(zone, startAt))}`,
    maxRuns === undefined || isOnce(plan) ? '' : `, ${maxRuns === 1 ? 'once' : `${maxRuns} times`}`
  ].join('')
}

function calendar (plan: CalendarPlan, { interval = '' }: Schedule): string {
  const { dates, times, except } = plan
  if (dates.unit === 'date') {
    const planned = (dates.day * 86_400 + timesOfDay(times)[0]) * 1_000
    const at = nextSlot(plan, plan.since)
    const real = at === undefined ? planned : localTime(plan.timezone, at)
    const skipped = real === planned ? '' : `, which the clocks skip: it runs at ${clock(Math.floor(real % DAY / 1_000))}`
    return `once, on ${moment(planned)}${skipped}`
  }
  const left = except === undefined ? '' : `, except ${exceptions(except)}`
  if (dates.unit === 'cron' && looksLikeCron(interval)) return `by the cron line "${interval.trim()}"${left}`
  const [days, hours] = [daysOf(dates), timesOf(times)]
  return `${days === 'every day' && hours.startsWith('every') ? hours : `${days}${hours.startsWith('every') ? ', ' : ' '}${hours}`}${left}`
}

function daysOf (dates: Exclude<Dates, { unit: 'date' }>): string {
  switch (dates.unit) {
    case 'day':
      return dates.every === 1 ? 'every day' : `every ${dates.every} days`
    case 'week': {
      const days = weekdays(dates.weekdays)
      if (dates.every === 1) return days === WORKING_DAYS ? days : `every ${days}`
      return dates.every === 2 ? `every other week on ${days}` : `every ${dates.every} weeks on ${days}`
    }
    case 'month':
      return months(dates)
    case 'cron':
      return `on the ${nthDay(dates)} of every month`
  }
}

function months ({ every, from, days }: Extract<Dates, { unit: 'month' }>): string {
  if (every === 12) return `every year on ${days[0]} ${monthName(from)}`
  const each = list(days.map((day) => day === 31 ? 'last day' : ordinal(day)))
  const short = days.some((day) => day > 28 && day < 31) ? ' (of shorter months the last day)' : ''
  if (every === 1) return `on the ${each} of every month${short}`
  if (12 % every !== 0) return `every ${every} months on the ${each}, counted from ${monthName(from)} ${Math.floor(from / 12)}${short}`
  const names = Array.from({ length: 12 / every }, (_, at) => mod(from, every) + at * every).map(monthName)
  return `on the ${each} of ${list(names)}${short}`
}

/** Describes dates such as "first Monday" that were parsed from words. Cron lines are shown as they were written. */
function nthDay ({ weekdays: bits, lastWorking, nearest }: CronDates): string {
  if (lastWorking) return 'last working day'
  if (nearest.length > 0) return 'first working day'
  const day = bits.findIndex((each) => each !== 0)
  const nths = ['first', 'second', 'third', 'fourth', 'fifth', 'last'].filter((_, nth) => (bits[day] & 1 << nth) !== 0)
  return `${list(nths)} ${weekdayName(mod(day - 1, 7))}`
}

function timesOf (times: Times): string {
  if ('at' in times) return `at ${list(times.at.map(clock))}`
  if ('every' in times) {
    const last = timesOfDay(times).at(-1)!
    return `every ${duration(times.every * 1_000)} from ${clock(times.from)}, the last at ${clock(last)}`
  }
  const [minute] = times.minutes
  return `every hour at minute ${minute}${times.seconds[0] === 0 ? '' : `, second ${times.seconds[0]}`}`
}

function exceptions ({ weekdays: days, days: dates, yearly }: Exceptions): string {
  const named = [...yearly.map((date) => `${date % 100} ${MONTH_NAMES[Math.floor(date / 100) - 1]}`), ...dates.map(dateName)]
  return list([...days.length === 0 ? [] : [weekdays(days)], ...named].map((text) => `on ${text}`))
}

const WORKING_DAYS = 'Monday to Friday'
const weekdays = (days: number[]): string => days.join() === '0,1,2,3,4' ? WORKING_DAYS : list(days.map(weekdayName))

function duration (ms: number): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms % 3_600_000 / 60_000), ms % 60_000 / 1_000]
  const all = [count(hours, 'hour', 'hours'), count(minutes, 'minute', 'minutes'), count(seconds, 'second', 'seconds')]
  const parts = all.filter((text) => !text.startsWith('0 '))
  return parts.length === 1 && /^1 /.test(parts[0]) ? parts[0].slice(2) : list(parts)
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const MONTH_NAMES = MONTHS.map(capital)
const weekdayName = (day: number) => capital(WEEKDAYS[day])
const monthName = (month: number) => MONTH_NAMES[mod(month, 12)]
const dateName = (day: number) => `${dayOfMonth(day)} ${monthName(monthOf(day))} ${Math.floor(monthOf(day) / 12)}`
const moment = (local: number) => {
  const day = Math.floor(local / DAY)
  return `${weekdayName(weekdayOf(day))}, ${dateName(day)} at ${clock(Math.floor((local - day * DAY) / 1_000))}`
}
const list = (words: string[]) => words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
const pair = (number: number) => String(number).padStart(2, '0')
const clock = (second: number) =>
  [Math.floor(second / 3600), Math.floor(second % 3600 / 60), ...second % 60 === 0 ? [] : [second % 60]].map(pair).join(':')
const ordinal = (day: number) => `${day}${day > 10 && day < 20 ? 'th' : ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'}`
