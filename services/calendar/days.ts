/** Dates without a zone: days counted from 1970-01-01, months from January of the year 0, weekdays from Monday, 0. */
export const DAY = 24 * 60 * 60 * 1000

/** The remainder of a division, never negative. */
export const mod = (n: number, by: number) => ((n % by) + by) % by

export const weekdayOf = (day: number) => mod(day + 3, 7)

export function monthOf (day: number): number {
  const date = new Date(day * DAY)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

export const dayOfMonth = (day: number) => new Date(day * DAY).getUTCDate()

/** The first day of a month. */
export const firstOf = (month: number) => Date.UTC(Math.floor(month / 12), mod(month, 12)) / DAY

export const daysIn = (month: number) => firstOf(month + 1) - firstOf(month)
