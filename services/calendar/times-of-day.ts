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
