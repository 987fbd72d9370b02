import { BadSchedule } from './schedule-errors.ts'

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** The weekday, 0 for Monday, by its English name, its plural or its first two to five letters; -1 for other names. */
function weekday (name: string): number {
  const stem = name.replace(/s$/, '')
  return WEEKDAYS.findIndex((day) => day === stem || (name.length <= 5 && name.length >= 2 && day.startsWith(name)))
}

/** Parses a list of weekdays ("mon, wed and friday"), ascending; undefined when the list contains anything else. */
export function weekdaysOf (text: string): number[] | undefined {
  const days = text.trim().toLowerCase().split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s+/).map(weekday)
  return days.includes(-1) ? undefined : [...new Set(days)].toSorted((a, b) => a - b)
}

/** Parses a day of the month: 15, "15th", or "last" (31, which means the last day in a shorter month). */
export function dayOfMonthOf (text: string): number | undefined {
  const day = text.trim().toLowerCase().replace(/^the\s+/, '').replace(/\s+day$/, '')
  if (day === 'last') return 31
  const number = Number(/^(\d{1,2})(?:st|nd|rd|th)?$/.exec(day)?.[1])
  return number >= 1 && number <= 31 ? number : undefined
}

/** Parses a time of day into the second of the day. Throws BadSchedule (400). */
export function timeOfDay (text: string): number {
  const time = text.trim().toLowerCase()
  if (time === 'noon') return 12 * 3600
  if (time === 'midnight') return 0
  const [, hour, minute, second = '0', half] = /^(\d{1,2})(?::([0-5]\d)(?::([0-5]\d))?)?\s*(am|pm)?$/.exec(time) ?? []
  const hours = half ? Number(hour) % 12 + (half === 'pm' ? 12 : 0) : Number(hour)
  const isGiven = half ? Number(hour) >= 1 && Number(hour) <= 12 : minute !== undefined && hours <= 23
  if (!isGiven) {
    throw new BadSchedule(
      'at',
      `schedule.at ${JSON.stringify(text)} is not a time of day. Write it as "09:00", "17:30:15", "9am", "noon" or "midnight".`
    )
  }
  return hours * 3600 + Number(minute ?? 0) * 60 + Number(second)
}
