import { useSyncExternalStore } from 'react'
import { say } from './say.ts'

const TICK_MS = 30_000
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
const narrow = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' })
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const clockSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' })
const dayOfMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const midnight = (at: number) => new Date(at).setHours(0, 0, 0, 0)

/** Returns a time in relative words, in the browser's time zone and language: "5 minutes ago", "yesterday, 14:05". */
export function sayTime (at: number, now: number): string {
  const ms = at - now
  const age = Math.abs(ms)
  if (age < MINUTE) return say('time.now')
  if (age < HOUR) return relative.format(Math.round(ms / MINUTE), 'minute')
  if (age < 6 * HOUR) return relative.format(Math.round(ms / HOUR), 'hour')
  const days = Math.round((midnight(at) - midnight(now)) / DAY)
  if (Math.abs(days) <= 1) return `${relative.format(days, 'day')}, ${clockTime.format(at)}`
  if (Math.abs(days) < 300) return `${day.format(at)}, ${clockTime.format(at)}`
  return dayOfYear.format(at)
}

/** Returns a time in a short form for lists: "5m ago", "14:05", "23 Nov". */
export function sayTimeShort (at: number, now: number): string {
  const age = Math.abs(at - now)
  if (age < MINUTE) return say('time.now')
  if (age < HOUR) return narrow.format(Math.round((at - now) / MINUTE), 'minute')
  if (midnight(at) === midnight(now)) return clockTime.format(at)
  return (age < 300 * DAY ? dayOfMonth : dayOfYear).format(at)
}

const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' })
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns the heading of a time in a list grouped by past days: "Today", "Yesterday", "Last 7 days", "October 2026". */
export function sayPeriod (at: number, now: number): string {
  const days = Math.round((midnight(now) - midnight(at)) / DAY)
  if (days <= 1) return capital(relative.format(-Math.max(days, 0), 'day'))
  return days < 8 ? say('time.week') : days < 31 ? say('time.month') : capital(month.format(at))
}

/** Returns a planned time with day and clock, in the browser's time zone and language: "today, 14:05", "Mon, 23 Nov, 14:05:30". */
export function sayMoment (at: number, now: number): string {
  const days = Math.round((midnight(at) - midnight(now)) / DAY)
  const clock = (at % MINUTE === 0 ? clockTime : clockSeconds).format(at)
  return `${Math.abs(days) <= 1 ? relative.format(days, 'day') : (Math.abs(days) < 300 ? day : dayOfYear).format(at)}, ${clock}`
}

/** Returns the exact time, in the browser's time zone and language. */
export const sayExactTime = (at: number): string => exact.format(at)

const units = (['second', 'minute', 'hour', 'day'] as const).map((unit) =>
  new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: unit === 'day' ? 'long' : 'narrow', maximumFractionDigits: 0 }))

/** Returns a time of day, which the service writes as "07:30" or "07:30:15", in the browser's language: "7:30 AM", "7:30:15 AM". */
export const sayClock = (hours: number, minutes: number, seconds?: number): string =>
  (seconds === undefined ? clockTime : clockSeconds).format(new Date(2000, 0, 1, hours, minutes, seconds ?? 0))

/** Returns a duration, given in milliseconds, in its largest units: "less than a second", "12s", "3m 5s", "2h 10m", "7 days 2h". */
export function sayDuration (given: number): string {
  const [second, minute, hour, day] = units
  if (given < 1_000) return say('time.underSecond')
  // Rounded first, so that a smaller unit never shows a whole larger one, such as "60m".
  const smallest = given < HOUR ? 1_000 : given < 2 * DAY ? MINUTE : HOUR
  const ms = Math.round(given / smallest) * smallest
  if (ms < MINUTE) return second.format(ms / 1_000)
  if (ms < HOUR) return `${minute.format(Math.floor(ms / MINUTE))} ${second.format(ms % MINUTE / 1_000)}`
  if (ms < 2 * DAY) return `${hour.format(Math.floor(ms / HOUR))} ${minute.format(ms % HOUR / MINUTE)}`
  return day.format(Math.floor(ms / DAY)) + (ms % DAY === 0 ? '' : ` ${hour.format(ms % DAY / HOUR)}`)
}

let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function listen (listener: () => void) {
  listeners.add(listener)
  // While no component shows a time, `now` is not updated, so the first one sets it.
  if (timer === undefined) now = Date.now()
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The current time, updated every 30 seconds by one timer for all components. Milliseconds since the Unix epoch. */
export const useNow = () => useSyncExternalStore(listen, () => now)

/** Returns a time as the value of an HTML date-time field: local, without seconds. */
export const localFieldOf = (at: number): string => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
