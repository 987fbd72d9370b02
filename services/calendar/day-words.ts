import { daysIn } from './days.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { Exceptions } from './schedule-plan.ts'

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
export const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november',
  'december']
/** Parts of the day, and the time that each stands for when no other is given; seconds. */
export const PARTS: Record<string, number> = { morning: 9 * 3600, afternoon: 14 * 3600, evening: 18 * 3600, night: 21 * 3600 }

/** Between the items of a list. */
const LISTED = /\s*,\s*(?:and\s+)?|\s+and\s+/i

const SETS = new Map(Object.entries({
  weekday: [0, 1, 2, 3, 4],
  workday: [0, 1, 2, 3, 4],
  'working day': [0, 1, 2, 3, 4],
  'business day': [0, 1, 2, 3, 4],
  weekend: [5, 6]
}))

/** The weekday, 0 for Monday, by its English name, its plural or its first two to five letters; -1 for other names. */
export function weekdayNamed (name: string): number {
  const stem = name.replace(/s$/, '')
  return WEEKDAYS.findIndex((day) => day === stem || (name.length <= 5 && name.length >= 2 && day.startsWith(name)))
}

/** Parses weekdays ("mon, wed and friday", "monday to friday", "weekends"), ascending; undefined when there is anything else. */
export function weekdaysOf (text: string): number[] | undefined {
  const words = text.trim().toLowerCase().replace(/^from /, '')
  const set = SETS.get(words.replace(/s$/, ''))
  if (set !== undefined) return set
  const range = /^([a-z]+)(?: ?[-–] ?| to | through | thru )([a-z]+)$/.exec(words)
  if (range !== null) {
    const [first, last] = range.slice(1).map(weekdayNamed)
    const count = (last - first + 7) % 7
    return first < 0 || last < 0 || count === 0
      ? undefined
      : WEEKDAYS.flatMap((_, day) => (day - first + 7) % 7 <= count ? [day] : [])
  }
  const days = words.split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s+/).map(weekdayNamed)
  return days.includes(-1) ? undefined : [...new Set(days)].toSorted((a, b) => a - b)
}

/** Parses one day of the month: 15, "15th", or "last" (31, which means the last day in a shorter month). */
function dayOfMonthOf (text: string): number | undefined {
  const day = text.trim().replace(/^the\s+/, '').replace(/\s+day$/, '')
  if (day === 'last') return 31
  if (day === 'first') return 1
  const number = Number(/^(\d{1,2})(?:st|nd|rd|th)?$/.exec(day)?.[1])
  return number >= 1 && number <= 31 ? number : undefined
}

/** Parses days of the month ("15", "1st and 15th", "the last day"), ascending; undefined when there is anything else. */
export function daysOfMonthOf (text: string): number[] | undefined {
  const days = text.toLowerCase().trim().replace(/ (?:day )?of (?:the|each|every) month$/, '').split(LISTED)
    .map(dayOfMonthOf)
  return days.some((day) => day === undefined) ? undefined : [...new Set(days as number[])].toSorted((a, b) => a - b)
}

/** "first monday", "last friday of the month", "last working day": the day fields of the cron line that means it. */
export function nthDayOf (text: string): string | undefined {
  const [, nth, day] = /^(?:the )?(first|1st|second|2nd|third|3rd|fourth|4th|last) ([a-z ]+?)(?: of (?:the|each|every) month)?$/
    .exec(text.trim().toLowerCase()) ?? []
  if (nth === undefined) return undefined
  const number = ['first', '1st', 'second', '2nd', 'third', '3rd', 'fourth', '4th'].indexOf(nth)
  if (SETS.get(day)?.length === 5) return nth === 'last' ? 'LW * *' : number <= 1 ? '1W * *' : undefined
  const weekday = weekdayNamed(day)
  if (weekday < 0 || day.endsWith('s')) return undefined
  return `* * ${WEEKDAYS[weekday].slice(0, 3).toUpperCase()}#${nth === 'last' ? 'L' : Math.floor(number / 2) + 1}`
}

/** A date; without a year it is one of each year. Months from 1. */
export interface NamedDate {
  year?: number
  month: number
  day: number
}

/** Parses "2026-12-24", "december 24", "24th of december 2026"; else undefined. Throws BadSchedule for dates that do not exist. */
export function dateOf (text: string, field = 'interval'): NamedDate | undefined {
  const words = text.trim().toLowerCase().replace(/^the /, '')
  const iso = /^(\d{4})-(\d\d)-(\d\d)$/.exec(words)
  const { day, name, year } = (/^(?<day>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<name>[a-z]+)(?:,? (?<year>\d{4}))?$/.exec(words) ??
    /^(?<name>[a-z]+) (?:the )?(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?<year>\d{4}))?$/.exec(words))?.groups ?? {}
  const month = iso ? Number(iso[2]) : name === undefined ? 0 : MONTHS.findIndex((each) => isShort(name, each)) + 1
  if (iso === null && month === 0) return undefined
  const date = { ...(iso ? { year: Number(iso[1]) } : year ? { year: Number(year) } : {}), month, day: iso ? Number(iso[3]) : Number(day) }
  checkDate(date, text, field)
  return date
}

const isShort = (name: string, month: string) => name === month || (name.length >= 3 && name.length <= 4 && month.startsWith(name))

/** Throws BadSchedule unless the date exists; 29 February is one of each year. */
export function checkDate ({ year = 2000, month, day }: NamedDate, text: string, field: string) {
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year * 12 + month - 1)) {
    throw new BadSchedule(field, `The date "${text.trim()}" does not exist.`)
  }
}

export const dayNumber = ({ year, month, day }: Required<NamedDate>) => Date.UTC(year, month - 1, day) / 86_400_000

/** Parses dates and weekdays that are left out. Throws BadSchedule (400). */
export function exceptionsOf (texts: string[]): Exceptions {
  const found: Exceptions = { weekdays: [], days: [], yearly: [] }
  const items = texts.flatMap((text) => text.toLowerCase().split(LISTED))
  for (const item of items.map((each) => each.trim().replace(/^(?:on|for) /, ''))) {
    const weekdays = weekdaysOf(item)
    const date = weekdays === undefined ? dateOf(item, 'except') : undefined
    if (weekdays !== undefined) found.weekdays.push(...weekdays)
    else if (date?.year !== undefined) found.days.push(dayNumber({ ...date, year: date.year }))
    else if (date !== undefined) found.yearly.push(date.month * 100 + date.day)
    else {
      throw new BadSchedule(
        'except',
        `"except ${item}" cannot be read: name weekdays ("sundays") or dates ("2026-12-24", "24 december"); holidays are not ` +
          'known.'
      )
    }
  }
  return found
}

/** A time of day in seconds; `isBare` when it is an hour without minutes, am or pm. Undefined for other texts. */
function readTime (text: string): { second: number, isBare: boolean } | undefined {
  if (text === 'noon' || text === 'midday') return { second: 12 * 3600, isBare: false }
  if (text === 'midnight') return { second: 0, isBare: false }
  const [, hour, minute, second = '0', half] = /^(\d{1,2})(?::([0-5]\d)(?::([0-5]\d))?)?\s*(am|pm)?$/.exec(text) ?? []
  const hours = half ? Number(hour) % 12 + (half === 'pm' ? 12 : 0) : Number(hour)
  const isGiven = half ? Number(hour) >= 1 && Number(hour) <= 12 : hour !== undefined && hours <= 23
  if (!isGiven) return undefined
  return { second: hours * 3600 + Number(minute ?? 0) * 60 + Number(second), isBare: minute === undefined && half === undefined }
}

/** Whether a text is a time of day that is no bare number. */
export const isPlainTime = (text: string): boolean => readTime(text)?.isBare === false

/** Parses a time of day into the second of the day. `part` is the part of the day that was named. Throws BadSchedule (400). */
export function timeOfDay (text: string, part?: string, field = 'at'): number {
  const words = text.trim().toLowerCase().replace(/^(\d{1,2}) ?o'clock$/, '$1')
  const time = readTime(words)
  if (time === undefined) {
    throw new BadSchedule(
      field,
      `schedule.at ${JSON.stringify(text)} is not a time of day. Write it as "09:00", "17:30:15", "9am", "noon" or "midnight".`
    )
  }
  const { second, isBare } = time
  if (part === undefined) {
    if (!isBare || second < 3600 || second > 6 * 3600) return second
    throw new BadSchedule(field, `"${words}" may be in the morning or in the afternoon: write "${words}am" or "${words}pm".`)
  }
  if (!isBare) {
    if (isPart(second, part)) return second
    throw new BadSchedule(field, `"${words}" is not in the ${part}: leave one of them out.`)
  }
  const hours = second / 3600
  const [earlier, later] = [hours % 12 * 3600, (hours % 12 + 12) * 3600]
  const found = [second, later, earlier].find((each) => isPart(each, part))
  if (found === undefined || (hours > 12 && found !== second)) {
    throw new BadSchedule(field, `"${words}" is not in the ${part}: write the hour as "13:00" or "1pm".`)
  }
  return found
}

const HOURS: Record<string, [from: number, to: number][]> = {
  morning: [[1, 12]],
  afternoon: [[12, 18]],
  evening: [[16, 24]],
  night: [[18, 24], [0, 5]]
}
const isPart = (second: number, part: string) => HOURS[part].some(([from, to]) => second >= from * 3600 && second < to * 3600)

/** Whether a text is a list of times of day, bare hours among them. */
export const isTimes = (text: string): boolean =>
  text.trim().toLowerCase().split(LISTED).every((each) => readTime(each.replace(/ ?o'clock$/, '')) !== undefined)

/** Parses times of day ("9:15 and 17:30"), ascending, without repetitions. Throws BadSchedule (400). */
export function timesOfDay (text: string, part?: string): number[] {
  const times = text.trim().split(LISTED).map((each) => timeOfDay(each, part))
  return [...new Set(times)].toSorted((a, b) => a - b)
}
