import { SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { BadSchedule } from './schedule-errors.ts'

/** The period of an interval: exact milliseconds, or days, weeks and months of the calendar. */
export type Period = { unit: 'exact', everyMs: number } | { unit: 'day' | 'week' | 'month', every: number }

const UNITS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 0, year: 0 }
type Unit = keyof typeof UNITS

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
const ISO_UNITS: Unit[] = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second']
const ISO = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i
const PARTS = /(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s*,\s*|\s+and\s+|\s*)/giy

export const NUMBERS: Record<string, number> = {
  ...Object.fromEntries(
    ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'].map((word, at) => [word, at + 1])
  ),
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60
}
const NUMBER_WORD = new RegExp(`\\b(?:${Object.keys(NUMBERS).join('|')})\\b`, 'gi')
const HALF = /^(every )?half(?: an)?[ -]hour$/i

/** "an hour and a half", "2 and a half hours". */
const AND_A_HALF = /\b(?:(?:(an?|\d+) )?hours? and a half|(an?|\d+) and a half hours?)\b/i
const QUARTERS = /\b(?:(3) quarters|(?:a |1 )?quarter) of an hour\b/i

/** The number that a word or digits say; NaN for other texts. */
export const numberOf = (word: string): number => NUMBERS[word.toLowerCase()] ?? Number(word)

/**
 * Parses "30m", "1h30m", "every 2 days", "every other week", "PT15M"; undefined for other texts. Throws BadSchedule (400)
 * for durations that are not allowed.
 */
export function readDuration (text: string, field = 'interval'): Period | undefined {
  const words = text.replace(field === 'in' ? /^an?\s+(?!half)/i : /^$/, '1 ').replace(/^each\s+/i, 'every ')
    .replace(HALF, (_all, every = '') => `${every}30 minutes`)
    .replace(NUMBER_WORD, (word) => String(NUMBERS[word.toLowerCase()]))
    .replace(AND_A_HALF, (_all, before: string, behind: string) => `${Number.parseInt(before ?? behind ?? '') || 1} hours 30 minutes`)
    .replace(QUARTERS, (_all, three) => three === undefined ? '15 minutes' : '45 minutes')
  const parts = isoParts(words) ?? spokenParts(words)
  return parts && periodOf(text, parts, field)
}

type Part = [number: number, unit: Unit]

function isoParts (text: string): Part[] | undefined {
  const [, ...numbers] = ISO.exec(text) ?? []
  const parts = ISO_UNITS.flatMap((unit, i): Part[] => numbers[i] === undefined ? [] : [[Number(numbers[i]), unit]])
  return parts.length > 0 && !/t$/i.test(text) ? parts : undefined
}

function spokenParts (text: string): Part[] | undefined {
  const stripped = text.replace(/^every\s+/i, '').replace(/^other\s+(?=[a-z])/i, '2 ').replace(/^(?=second$|minute$)/i, '1 ')
  const parts: Part[] = []
  let consumed = 0
  for (const [all, number, name] of stripped.matchAll(PARTS)) {
    // "M" is ambiguous: it can be months or minutes, and minutes would cause many more runs. So it is refused.
    const unit = name === 'M' ? undefined : unitOf(name.toLowerCase())
    if (unit === undefined) return undefined
    parts.push([Number(number), unit])
    consumed += all.length
  }
  return parts.length > 0 && consumed === stripped.length ? parts : undefined
}

function unitOf (name: string): Unit | undefined {
  // "ms" is not a plural of "m".
  const singular = name.length > 2 ? name.replace(/s$/, '') : name
  return Object.hasOwn(UNITS, singular) ? singular as Unit : Object.hasOwn(SHORT, singular) ? SHORT[singular] : undefined
}

function periodOf (text: string, parts: Part[], field: string): Period {
  const sum = (...units: Unit[]) => parts.reduce((total, [number, unit]) => total + (units.includes(unit) ? number : 0), 0)
  const refusal = (message: string) => new BadSchedule(field, `schedule.${field} ${JSON.stringify(text)} ${message}.`)
  const months = sum('month') + 12 * sum('year')
  const days = sum('day') + 7 * sum('week')
  const hasShorterUnit = parts.some(([, unit]) => unit === 'hour' || unit === 'minute' || unit === 'second')
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
