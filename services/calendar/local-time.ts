import { type DateRule, nearestDate } from './dates.ts'
import { DAY } from './days.ts'
import type { Times } from './schedule-plan.ts'

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
