import { daysIn } from './days.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { CronDates, Exceptions } from './schedule-plan.ts'

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
export const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november',
  'december']
const FEASTS = new Map(Object.entries({
  'christmas eve': '24 december',
  christmas: '25 december',
  'christmas day': '25 december',
  'boxing day': '26 december',
  "valentine's day": '14 february',
  halloween: '31 october',
  "new year's eve": '31 december',
  "new year's day": '1 january'
}))

/** Patterns of the names of weekdays, in full and in short, of dates, and of the words that count days of a month. */
export const DAY = `(?:${WEEKDAYS.join('|')})s?|(?:week|work|working |business )days?|weekends?`
export const SHORT_DAY = 'mon|tues?|weds?|thu|thurs?|fri|sat|sun'
export const NTH = 'first|1st|second|2nd|third|3rd|fourth|4th|last'
const MONTH = `${MONTHS.join('|')}|${MONTHS.map((name) => name.slice(0, 3)).join('|')}|sept`
export const DATE = '\\d{4}[-/]\\d\\d[-/]\\d\\d|\\d{1,2}\\.\\d{1,2}\\.\\d{4}|\\d{1,2}/\\d{1,2}/\\d{4}|' +
  `(?:\\d{1,2}(?:st|nd|rd|th)?|first) (?:of )?(?:${MONTH})(?:,? \\d{4})?|` +
  `(?:${MONTH}) (?:the )?(?:\\d{1,2}(?:st|nd|rd|th)?(?![:.]\\d| ?[ap]m)|first)(?:,? \\d{4})?|` +
  `(?:${[...FEASTS.keys()].toSorted((a, b) => b.length - a.length).join('|')})(?:,? \\d{4})?`

/** Between the items of a list. */
const LISTED = /\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+/i

const WORKDAYS = [0, 1, 2, 3, 4]
const SETS = new Map(
  Object.entries({ weekday: WORKDAYS, workday: WORKDAYS, 'working day': WORKDAYS, 'business day': WORKDAYS, weekend: [5, 6] })
)

/** The weekday, 0 for Monday, by its English name, its plural or its first two to five letters; -1 for other names. */
export function weekdayNamed (name: string): number {
  const stem = name.replace(/s$/, '')
  return WEEKDAYS.findIndex((day) => day === stem || (name.length <= 5 && name.length >= 2 && day.startsWith(name)))
}

/** Parses weekdays ("mon, wed and friday", "monday to friday", "weekends"), ascending; undefined when there is anything else. */
export function weekdaysOf (text: string): number[] | undefined {
  const found = text.trim().toLowerCase().replace(/^from /, '').split(LISTED).flatMap((item) => {
    const set = SETS.get(item.replace(/s$/, ''))
    const [, ...ends] = /^([a-z]+)(?: ?[-–] ?| to | through | thru )([a-z]+)$/.exec(item) ?? []
    if (set !== undefined) return set
    if (ends.length === 0) return item.split(/\s+/).map(weekdayNamed)
    const [first, last] = ends.map(weekdayNamed)
    const count = (last - first + 7) % 7
    return first < 0 || last < 0 || count === 0 ? [-1] : WEEKDAYS.flatMap((_, day) => (day - first + 7) % 7 <= count ? [day] : [])
  })
  return found.includes(-1) ? undefined : [...new Set(found)].toSorted((a, b) => a - b)
}

/** Parses days of the month ("15", "1st and 15th", "the last day": 31), ascending; undefined when there is anything else. */
export function daysOfMonthOf (text: string): number[] | undefined {
  const days = text.toLowerCase().trim().replace(/ (?:day )?of (?:the|each|every) month$/, '').split(LISTED).map((item) => {
    const day = item.trim().replace(/^the\s+/, '').replace(/\s+day$/, '').replace(/^day /, '')
    return day === 'last' ? 31 : day === 'first' ? 1 : Number(/^(\d{1,2})(?:st|nd|rd|th)?$/.exec(day)?.[1])
  })
  return days.every((day) => day >= 1 && day <= 31) ? [...new Set(days)].toSorted((a, b) => a - b) : undefined
}

const NTH_LIST = `(?:${NTH})(?:(?:,? and |, )(?:the )?(?:${NTH}))*`
const NTH_DAYS = new RegExp(`^(?:the )?(${NTH_LIST}) ([a-z ]+?)(?: (?:of|in) (?:the|each|every|a) month)?$`)

/** "first monday", "first and third monday of the month", "last working day", as the dates of a cron line; undefined for other texts. */
export function nthDatesOf (text: string): CronDates | undefined {
  const [, list, day] = NTH_DAYS.exec(text.trim().toLowerCase()) ?? []
  if (list === undefined) return undefined
  const nths = list.split(LISTED).map((nth) => nth.replace('the ', '')).map((nth) =>
    nth === 'last' ? 5 : Math.floor(['first', '1st', 'second', '2nd', 'third', '3rd', 'fourth', '4th'].indexOf(nth) / 2))
  const every = { unit: 'cron', months: MONTHS.map((_, month) => month + 1), last: false, both: true } as const
  if (SETS.get(day)?.length === 5) {
    if (nths.some((nth) => nth > 0 && nth < 5)) return undefined
    return { ...every, days: [], lastWorking: nths.includes(5), nearest: nths.includes(0) ? [1] : [], weekdays: Array(7).fill(63) }
  }
  const weekday = day.endsWith('s') ? -1 : weekdayNamed(day)
  if (weekday < 0) return undefined
  const bits = nths.reduce((sum, nth) => sum | 1 << nth, 0)
  return {
    ...every,
    days: Array.from({ length: 31 }, (_, date) => date + 1),
    lastWorking: false,
    nearest: [],
    weekdays: Array.from({ length: 7 }, (_, each) => each === (weekday + 1) % 7 ? bits : 0)
  }
}

/** A date; without a year it is one of each year. Months from 1. */
export interface NamedDate {
  year?: number
  month: number
  day: number
}

/**
 * Parses "2026-12-24", "24.12.2026", "december 24", "24th of december 2026", "christmas eve"; else undefined. Throws BadSchedule for dates
 * that do not exist, and for such as "4/5/2026", which may be two.
 */
export function dateOf (text: string, field = 'interval'): NamedDate | undefined {
  const words = text.trim().toLowerCase().replace(/^the /, '').replace(/^[a-z' ]+(?=(?:,? \d{4})?$)/, (name) => FEASTS.get(name) ?? name)
    .replace(/\bfirst\b/, '1')
  const [, year, month, day] = /^(\d{4})[-/](\d\d)[-/](\d\d)$/.exec(words) ?? []
  const [, first, sign, second, ofYear] = /^(\d{1,2})([./])(\d{1,2})\2(\d{4})$/.exec(words) ?? []
  const { nth, name, named } = (/^(?<nth>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<name>[a-z]+)(?:,? (?<named>\d{4}))?$/.exec(words) ??
    /^(?<name>[a-z]+) (?:the )?(?<nth>\d{1,2})(?:st|nd|rd|th)?(?:,? (?<named>\d{4}))?$/.exec(words))?.groups ?? {}
  const at = name === undefined ? 0 : MONTHS.findIndex((each) => isShort(name, each)) + 1
  let date: NamedDate | undefined
  if (day !== undefined) date = { year: Number(year), month: Number(month), day: Number(day) }
  else if (at > 0) date = { year: named === undefined ? undefined : Number(named), month: at, day: Number(nth) }
  else if (sign !== undefined) {
    const isSwapped = sign === '/' && Number(second) > 12
    const isClear = sign === '.' || first === second || isSwapped || Number(first) > 12
    if (!isClear) throw new BadSchedule(field, `"${text.trim()}" may be two dates: write ${ofYear}-MM-DD, the month before the day.`)
    date = { year: Number(ofYear), month: Number(isSwapped ? first : second), day: Number(isSwapped ? second : first) }
  }
  if (date !== undefined) checkDate(date, text, field)
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

/** The days of a date: one, or without a year those of the years from one on in which it exists, the first five. */
export function daysOf (date: NamedDate, fromYear: number): number[] {
  if (date.year !== undefined) return [dayNumber({ ...date, year: date.year })]
  return Array.from({ length: 9 }, (_, n) => fromYear + n).filter((year) => date.day <= daysIn(year * 12 + date.month - 1)).slice(0, 5)
    .map((year) => dayNumber({ ...date, year }))
}

/** Parses dates and weekdays that are left out. Throws BadSchedule (400). */
export function exceptionsOf (texts: string[]): Exceptions {
  const found: Exceptions = { weekdays: [], days: [], yearly: [] }
  const items = texts.flatMap((text) => text.toLowerCase().split(LISTED))
  for (const item of items.map((each) => each.trim().replace(/^(?:on|for) (?:the )?/, ''))) {
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
