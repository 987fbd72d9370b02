import { SCHEDULE_LIMITS } from '../../../../schemas/schedule.ts'
import { BadSchedule } from './schedule-errors.ts'

/** What an interval counts in: exact milliseconds, or days and months of the calendar. */
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

/** Reads "30m", "1h30m", "every 2 days", "every other week", "PT15M"; undefined when it is no duration. Throws BadSchedule when it is one that cannot be. */
export function duration (text: string): Period | undefined {
  const parts = isoParts(text) ?? spokenParts(text)
  return parts && periodOf(text, parts)
}

type Part = [number: number, unit: Unit]

function isoParts (text: string): Part[] | undefined {
  const [, ...numbers] = ISO.exec(text) ?? []
  const parts = ISO_UNITS.flatMap((unit, i): Part[] => numbers[i] === undefined ? [] : [[Number(numbers[i]), unit]])
  return parts.length > 0 && !/t$/i.test(text) ? parts : undefined
}

function spokenParts (text: string): Part[] | undefined {
  const bare = text.replace(/^every\s+/i, '').replace(/^other\s+(?=[a-z])/i, '2 ').replace(/^(?=second$|minute$)/i, '1 ')
  const parts: Part[] = []
  let read = 0
  for (const [all, number, name] of bare.matchAll(PARTS)) {
    // A capital M is a month to some and a minute to others, and minutes are many more runs.
    const unit = name === 'M' ? undefined : unitOf(name.toLowerCase())
    if (unit === undefined) return undefined
    parts.push([Number(number), unit])
    read += all.length
  }
  return parts.length > 0 && read === bare.length ? parts : undefined
}

function unitOf (name: string): Unit | undefined {
  // "ms" is no plural of minutes.
  const singular = name.length > 2 ? name.replace(/s$/, '') : name
  return Object.hasOwn(UNITS, singular) ? singular as Unit : Object.hasOwn(SHORT, singular) ? SHORT[singular] : undefined
}

function periodOf (text: string, parts: Part[]): Period {
  const sum = (...units: Unit[]) => parts.reduce((total, [number, unit]) => total + (units.includes(unit) ? number : 0), 0)
  const bad = (message: string) => new BadSchedule('interval', `schedule.interval ${JSON.stringify(text)} ${message}.`)
  const months = sum('month') + 12 * sum('year')
  const days = sum('day') + 7 * sum('week')
  const shorter = parts.some(([, unit]) => unit === 'hour' || unit === 'minute' || unit === 'second')
  const everyMs = Math.round(parts.reduce((total, [number, unit]) => total + number * UNITS[unit], 0))

  if (months > 0 && (days > 0 || shorter)) throw bad('adds months to shorter units, and months differ in length: use one or the other')
  const roughly = everyMs + months * 30 * UNITS.day
  if (roughly < SCHEDULE_LIMITS.periodMs.min) throw bad('is shorter than one second, which is the least')
  if (roughly > SCHEDULE_LIMITS.periodMs.max) throw bad('is longer than ten years, which is the most')
  if (shorter) return { unit: 'exact', everyMs }
  if (!Number.isInteger(months) || !Number.isInteger(days)) {
    throw bad('has a fraction of a day or month: write it in hours, such as "36 hours"')
  }
  if (months > 0) return { unit: 'month', every: months }
  return days % 7 === 0 && sum('week') > 0 ? { unit: 'week', every: days / 7 } : { unit: 'day', every: days }
}
