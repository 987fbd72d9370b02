// Days are those of the machine's time zone, as "2026-01-31", because people read them and set limits for them.

/** Returns the day of a time in milliseconds since the Unix epoch. */
export function dayOf (time: number): string {
  const date = new Date(time)
  return written(date.getFullYear(), date.getMonth() + 1, date.getDate())
}

/** Returns the day that lies `count` days before another one. */
export function daysBefore (day: string, count: number): string {
  const date = new Date(Date.parse(day) - count * 24 * 60 * 60 * 1000)
  return written(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
}

/** Whether the calendar has that day. */
export const isDay = (day: string): boolean => !Number.isNaN(Date.parse(day)) && daysBefore(day, 0) === day

/** Returns the number of days from one day to another. */
export const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / (24 * 60 * 60 * 1000))

const written = (year: number, month: number, day: number) =>
  [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join('-')
