import { SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { BadSchedule } from './schedule-errors.ts'

/** The period of an interval: exact milliseconds, or days, weeks and months of the calendar. */
export type Period = { unit: 'exact', everyMs: number } | { unit: 'day' | 'week' | 'month', every: number }

const UNITS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 0, year: 0 }
type Unit = keyof typeof UNITS
type Part = [number: number, unit: Unit]

const SHORT: Record<string, Unit> = {
  s: 'second',
  sec: 'second',
  m: 'minute',
  min: 'minute',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
  wk: 'week',
  mo: 'month',
  y: 'year',
  yr: 'year'
}
const SMALL = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
const NUMBERS = new Map([...SMALL.map((word, at) => [word, at + 1] as const),
  ...Object.entries({ fifteen: 15, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, ninety: 90 })])

/** Patterns of the words for 1 to 12, of numbers, and of units. */
export const HOUR_WORD = SMALL.join('|')
export const NUMBER = `(?:twenty|thirty|forty|fifty)[- ](?:${SMALL.slice(0, 9).join('|')})|${[...NUMBERS.keys()].join('|')}|` +
  '\\d+(?:\\.\\d+)?'
export const UNIT = 'seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|wks?|fortnights?|months?|quarters?|years?|yrs?'
const PART = 'half (?:an )?hour|(?:(?:an?|one|three|3) )?quarters? of an hour|' +
  `(?:${NUMBER}|an?) (?:and a half )?(?:${UNIT})(?: and a half)?|\\d+(?:\\.\\d+)?(?:mo|[smhdwy]|${UNIT})|\\d+(?:\\.\\d+)? (?:mo|[smhdwy])`
/** "90 minutes", "1h30m", "an hour and a half", "2 days". */
export const DURATION = `(?:${PART})(?:(?:,? and |, ?| ?)(?:${PART}))*`
const WHOLE = new RegExp(`^(?:every |each )?(?:${DURATION})$`)
const ISO = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i
const ISO_UNITS: Unit[] = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second']
const EACH = new RegExp(
  'half (?:an )?hour|(?:an? |one )?(three |3 )?quarters? of an hour|' +
    `(?:(${NUMBER}) ?|\\ban? )(and a half )?(${UNIT}|mo|[smhdwy])(?![a-z])( and a half)?`,
  'g'
)

/** The number that digits or words say; NaN for other texts. */
export const numberOf = (text: string): number => text.split(/[- ]/).reduce((sum, word) => sum + (NUMBERS.get(word) ?? Number(word)), 0)

/** Returns the unit of a word or a short form: "mins" is a minute, a quarter three months, a fortnight two weeks. */
export function unitOf (name: string): Part {
  const singular = name.length > 2 ? name.replace(/s$/, '') : name
  return singular === 'fortnight' ? [2, 'week'] : singular === 'quarter' ? [3, 'month'] : [1, SHORT[singular] ?? singular as Unit]
}

/**
 * Parses "30m", "1h30m", "every 2 days", "an hour and a half", "PT15M"; undefined for other texts. "1M" is none: it can be months or
 * minutes, and minutes would cause many more runs. Throws BadSchedule (400) for durations that are not allowed.
 */
export function readDuration (text: string, field = 'interval'): Period | undefined {
  const [, ...numbers] = /t$/i.test(text) ? [] : ISO.exec(text.trim()) ?? []
  const iso = ISO_UNITS.flatMap((unit, at): Part[] => numbers[at] === undefined ? [] : [[Number(numbers[at]), unit]])
  if (iso.length > 0) return periodOf(text, iso, field)
  const words = text.trim().replace(/\s+/g, ' ').toLowerCase().replaceAll('half-hour', 'half hour')
    .replace(/^((?:every|each) )?(?=(?:second|minute|hour|day|week|month|year)(?: and a half)?$)/, '1 ')
  if (!WHOLE.test(words) || /\d ?M\b/.test(text)) return undefined
  return periodOf(text, [...words.matchAll(EACH)].map(([all, three, number, more, unit, half]: Array<string | undefined>): Part => {
    if (unit === undefined) return [all!.startsWith('half') ? 30 : three === undefined ? 15 : 45, 'minute']
    const [size, name] = unitOf(unit)
    return [size * ((number === undefined ? 1 : numberOf(number)) + (more ?? half ? 0.5 : 0)), name]
  }), field)
}

function periodOf (text: string, parts: Part[], field: string): Period {
  const sum = (...units: Unit[]) => parts.reduce((total, [number, unit]) => total + (units.includes(unit) ? number : 0), 0)
  const refusal = (message: string) => new BadSchedule(field, `schedule.${field} ${JSON.stringify(text)} ${message}.`)
  const months = sum('month') + 12 * sum('year')
  const days = sum('day') + 7 * sum('week')
  const hasShorterUnit = sum('hour', 'minute', 'second') > 0 || parts.some(([, unit]) => /^(?:hour|minute|second)$/.test(unit))
  const everyMs = Math.round(parts.reduce((total, [number, unit]) => total + number * UNITS[unit], 0))

  if (months > 0 && (days > 0 || hasShorterUnit)) {
    throw refusal('adds months to shorter units, and months differ in length: use one or the other')
  }
  const approximateMs = everyMs + months * 30 * UNITS.day
  if (approximateMs < SCHEDULE_LIMITS.periodMs.min) throw refusal('is shorter than one second, the minimum')
  if (approximateMs > SCHEDULE_LIMITS.periodMs.max) throw refusal('is longer than ten years, the maximum')
  if (hasShorterUnit) return { unit: 'exact', everyMs }
  if (!Number.isInteger(months) || !Number.isInteger(days)) {
    throw refusal('has a fraction of a day or month: write it in hours, such as "36 hours"')
  }
  if (months > 0) return { unit: 'month', every: months }
  return days % 7 === 0 && sum('week') > 0 ? { unit: 'week', every: days / 7 } : { unit: 'day', every: days }
}
