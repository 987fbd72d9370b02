/**
 * Functions for dates without a zone. Days are counted from 1970-01-01, months from January of the year 0;
 * weekdays from Monday = 0. DAY is one day in milliseconds.
 */
export const DAY = 24 * 60 * 60 * 1000

/** Returns the remainder of a division, which is never negative. */
export const mod = (n: number, by: number) => ((n % by) + by) % by

export const weekdayOf = (day: number) => mod(day + 3, 7)

export function monthOf (day: number): number {
  const date = new Date(day * DAY)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

export const dayOfMonth = (day: number) => new Date(day * DAY).getUTCDate()

/** Returns the first day of a month. */
export const firstOf = (month: number) => Date.UTC(Math.floor(month / 12), mod(month, 12)) / DAY

export const daysIn = (month: number) => firstOf(month + 1) - firstOf(month)
