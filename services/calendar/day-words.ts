import { daysIn } from './days.ts'
import { check } from './schedule-errors.ts'

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
export const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november',
  'december']
const FEASTS: Record<string, string> = {
  'christmas eve': '24 december',
  'christmas day': '25 december',
  christmas: '25 december',
  'boxing day': '26 december',
  "valentine's day": '14 february',
  halloween: '31 october',
  "new year's eve": '31 december',
  "new year's day": '1 january'
}

export const MONTH = `${MONTHS.join('|')}|${MONTHS.map((name) => name.slice(0, 3)).join('|')}|sept`
export const DATE = '\\d{4}[-/]\\d\\d[-/]\\d\\d|\\d{1,2}\\.\\d{1,2}\\.\\d{4}|\\d{1,2}/\\d{1,2}/\\d{4}|' +
  `(?:\\d{1,2}(?:st|nd|rd|th)?|first) (?:of )?(?:${MONTH})(?:,? \\d{4})?|` +
  `(?:${MONTH}) (?:the )?(?:\\d{1,2}(?:st|nd|rd|th)?(?![:.]\\d| ?[ap]m)|first)(?:,? \\d{4})?|` +
  `(?:${Object.keys(FEASTS).join('|')})(?:,? \\d{4})?`

/** Returns the weekday, 0 for Monday, by its English name, the plural of it, or its first two to five letters; -1 for other names. */
export function weekdayNamed (name: string): number {
  const stem = name.replace(/s$/, '')
  return WEEKDAYS.findIndex((day) => day === stem || (name.length <= 5 && name.length >= 2 && day.startsWith(name)))
}

/** A date. Without a year, the date of every year is meant. January is month 1. */
export interface NamedDate {
  year?: number
  month: number
  day: number
}

/** Parses a text that matches DATE. Throws BadSchedule for dates that do not exist, and for ambiguous ones such as "4/5/2026". */
export function dateOf (text: string): NamedDate {
  const words = text.replace(/^[a-z' ]+(?=(?:,? \d{4})?$)/, (name) => FEASTS[name] ?? name).replace(/\bfirst\b/, '1')
  const name = /[a-z]{3,}/.exec(words)?.[0].slice(0, 3)
  const [first, second, third] = words.match(/\d+/g)!.map(Number)
  const isSwapped = words.includes('/') && second > 12
  const isClear = name !== undefined || words.includes('.') || first === second || isSwapped || first > 12
  check(isClear, 'interval', `"${text}" may be two dates: write ${third}-MM-DD, the month before the day.`)
  const [year, month, day] = name !== undefined
    ? [second, MONTHS.findIndex((each) => each.startsWith(name)) + 1, first]
    : first > 999 ? [first, second, third] : isSwapped ? [third, first, second] : [third, second, first]
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysIn((year ?? 2000) * 12 + month - 1)
  check(isDate, 'interval', `The date "${text}" does not exist.`)
  return { year, month, day }
}

export const dayNumber = ({ year, month, day }: Required<NamedDate>) => Date.UTC(year, month - 1, day) / 86_400_000

/** Returns the days of a date, counted from 1970-01-01: one day or, without a year, the first five from the year `fromYear` on. */
export function daysOf ({ year, month, day }: NamedDate, fromYear: number): number[] {
  if (year !== undefined) return [dayNumber({ year, month, day })]
  return Array.from({ length: 9 }, (_, n) => fromYear + n).filter((each) => day <= daysIn(each * 12 + month - 1)).slice(0, 5)
    .map((each) => dayNumber({ year: each, month, day }))
}
