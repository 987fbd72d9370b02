import { Temporal } from '@js-temporal/polyfill'
import type { Schedule } from '../../../schemas/schedule.ts'
import { cronMoments, dateAt, moment, moments } from './oracle.ts'

/** Zones of both hemispheres, of half and three-quarter hours, of midnight changes, and such that changed their rules; a decade each. */
export const ZONES: Record<string, [from: number, to: number]> = {
  'Europe/Berlin': [2025, 2035],
  'America/New_York': [2025, 2035],
  'America/St_Johns': [2025, 2035],
  'Australia/Lord_Howe': [2025, 2035],
  'Pacific/Chatham': [2025, 2035],
  'Asia/Kathmandu': [2025, 2035],
  'America/Santiago': [2025, 2035],
  'America/Havana': [2025, 2035],
  'Africa/Casablanca': [2020, 2030],
  'America/Nuuk': [2019, 2029],
  'Europe/Moscow': [2008, 2018],
  'America/Sao_Paulo': [2012, 2022],
  'Asia/Pyongyang': [2012, 2022],
  'America/Caracas': [2006, 2016],
  'Pacific/Apia': [2008, 2018],
  UTC: [2025, 2035]
}

export interface Case {
  schedule: Schedule
  /** When it comes from `from` until before `to`, by somebody else's reckoning. */
  expected(timezone: string, from: number, to: number): number[]
}

type Day = Temporal.PlainDate
/** `start` is the date of startAt, `first` the first one whose time is not before it. */
const on = (schedule: Schedule, isDay: (date: Day, start: Day, first: Day) => boolean, time: string): Case => ({
  schedule,
  expected (timezone, from, to) {
    const { startAt = 0 } = schedule
    const start = dateAt(startAt, timezone)
    const first = moment(start, time, timezone) >= startAt ? start : start.add({ days: 1 })
    const bound = Math.max(from, startAt)
    return bound < to ? moments((date) => isDay(date, start, first), [time], timezone, bound, to) : []
  }
})
const cron = (interval: string, line = interval): Case => ({
  schedule: { interval },
  expected: (timezone, from, to) => cronMoments(line, timezone, from, to)
})
const exact = (interval: string, startAt: number, everyMs: number): Case => ({
  schedule: { interval, startAt },
  expected (_, from, to) {
    const first = Math.max(Math.ceil((from - startAt) / everyMs), 0)
    return Array.from({ length: Math.max(Math.ceil((to - startAt) / everyMs) - first, 0) }, (_, i) => startAt + (first + i) * everyMs)
  }
})
const monthsSince = (date: Day, start: Day) => (date.year - start.year) * 12 + date.month - start.month
const daysSince = (date: Day, start: Day) => start.until(date).days
const monday = (date: Day) => date.subtract({ days: date.dayOfWeek - 1 })
const onOrAfter = (date: Day, weekdays: number[]) =>
  [0, 1, 2, 3, 4, 5, 6].map((days) => date.add({ days })).find(({ dayOfWeek }) => weekdays.includes(dayOfWeek))!

/** Each kind of schedule, mostly at hours that are left out or come twice somewhere. */
export function cases (year: number): Case[] {
  const startAt = Date.UTC(year, 0, 31, 6)
  return [
    on({ interval: 'daily', at: '02:30' }, () => true, '02:30'),
    on({ interval: 'every day at midnight' }, () => true, '00:00'),
    on({ interval: 'daily', at: '23:45:10' }, () => true, '23:45:10'),
    on({ interval: 'weekdays', at: '00:30' }, (date) => date.dayOfWeek <= 5, '00:30'),
    on({ interval: 'weekends', at: '1:59:59am' }, (date) => date.dayOfWeek > 5, '01:59:59'),
    on({ interval: 'weekly' }, (date) => date.dayOfWeek === 1, '09:00'),
    on({ interval: 'every sunday and thursday', at: '2am' }, (date) => date.dayOfWeek === 7 || date.dayOfWeek === 4, '02:00'),
    on({ interval: 'monthly', on: 31, at: '02:15' }, (date) => date.day === date.daysInMonth, '02:15'),
    on({ interval: 'monthly on the 30th at 0:15' }, (date) => date.day === Math.min(30, date.daysInMonth), '00:15'),
    on({ interval: 'yearly' }, (date) => date.day === 1 && date.month === 1, '09:00'),
    on({ interval: '3 days', at: '02:45', startAt }, (date, _, first) => daysSince(date, first) % 3 === 0, '02:45'),
    on(
      { interval: 'every 2 weeks', on: ['sun', 'wed'], at: '03:00', startAt },
      (date, _, first) => [3, 7].includes(date.dayOfWeek) && daysSince(monday(date), monday(onOrAfter(first, [3, 7]))) % 14 === 0,
      '03:00'
    ),
    on(
      { interval: 'P2M', at: '23:30', startAt },
      (date, start) => date.day === Math.min(start.day, date.daysInMonth) && monthsSince(date, start) % 2 === 0,
      '23:30'
    ),
    exact('every 6 hours', startAt, 6 * 3_600_000),
    exact('1h30m', startAt + 12_345, 90 * 60_000),
    exact('P1DT12H', startAt, 36 * 3_600_000),
    cron('hourly', '0 * * * *'),
    cron('30 2 * * *'),
    cron('0 0,12 * * *'),
    cron('*/20 2 * * *'),
    cron('0 0-4 * * SUN'),
    cron('30 15 2 L * *'),
    cron('30 0 * * MON#1'),
    cron('0 1 15W * *'),
    cron('0 3 LW * *'),
    cron('45 0 13 * FRI'),
    cron('45 1 13 * +FRI'),
    cron('59 59 23 * * 5L'),
    cron('@weekly')
  ]
}
