import { SCHEDULE_LIMITS } from '../../schemas/schedule.ts'
import { check } from './schedule-errors.ts'

/** The period of an interval: exact milliseconds, or days, weeks and months of the calendar. */
export type Period = { unit: 'exact', everyMs: number } | { unit: 'day' | 'week' | 'month', every: number }

/** A period that words name. `year` and `hour` are set times of the calendar, like "daily", not durations. */
export type RhythmPeriod = Period | { unit: 'hour' } | { unit: 'year' }

export const DAILY: Period = { unit: 'day', every: 1 }
/** The periods that units mean after "every" and "once a". */
export const PERIODS: Record<string, RhythmPeriod> = {
  hour: { unit: 'hour' },
  day: DAILY,
  week: { unit: 'week', every: 1 },
  fortnight: { unit: 'week', every: 2 },
  month: { unit: 'month', every: 1 },
  quarter: { unit: 'month', every: 3 },
  year: { unit: 'year' }
}
const OTHER_RHYTHMS: Array<[words: string, period: RhythmPeriod]> = [
  ['half hourly|half-hourly', { unit: 'exact', everyMs: 1_800_000 }],
  ['half yearly|half-yearly|semi-annually|semiannually', { unit: 'month', every: 6 }],
  ['biweekly', PERIODS.fortnight],
  ['annually', PERIODS.year]
]
/** The periods of words such as "weekly". "Daily" is not included. */
export const RHYTHMS: Record<string, RhythmPeriod> = Object.fromEntries([
  ...OTHER_RHYTHMS.flatMap(([words, period]) => words.split('|').map((word) => [word, period])),
  ...Object.entries(PERIODS).flatMap(([unit, period]) => unit === 'day' ? [] : [[`${unit}ly`, period]])
])

const UNITS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 0, year: 0 }
type Unit = keyof typeof UNITS
type Part = [number: number, unit: Unit]

const SHORT: Record<string, Unit> = Object.fromEntries(
  (['second s sec', 'minute m min', 'hour h hr', 'day d', 'week w wk', 'month mo', 'year y yr'] as const).flatMap((line) => {
    const [unit, ...names] = line.split(' ')
    return names.map((name) => [name, unit as Unit])
  })
)
const SMALL = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
const NUMBERS = new Map([...SMALL.map((word, at) => [word, at + 1] as const),
  ...Object.entries({ fifteen: 15, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, ninety: 90 })])

/** Patterns: HOUR_WORD matches the words for 1 to 12, NUMBER matches numbers in digits or words, UNIT matches units of time. */
export const HOUR_WORD = SMALL.join('|')
export const NUMBER = `(?:twenty|thirty|forty|fifty)[- ](?:${SMALL.slice(0, 9).join('|')})|${[...NUMBERS.keys()].join('|')}|` +
  '\\d+(?:\\.\\d+)?'
export const UNIT = 'seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|wks?|fortnights?|months?|quarters?|years?|yrs?'
const PART = 'half (?:an )?hour|(?:(?:an?|one|three|3) )?quarters? of an hour|' +
  `(?:${NUMBER}|an?) (?:and a half )?(?:${UNIT})(?: and a half)?|\\d+(?:\\.\\d+)?(?:mo|[smhdwy]|${UNIT})|\\d+(?:\\.\\d+)? (?:mo|[smhdwy])`
/**
 * A pattern of durations: "90 minutes", "1h30m", "an hour and a half", "2 days", "PT15M". After "every", "hour and a half" needs no number.
 */
export const DURATION = `(?<!\\b(?:once|twice|times|other) (?=an? ))(?:${PART})(?:(?:,? and |, ?| ?)(?:${PART}))*|` +
  '(?<=\\b(?:every|each) )(?:hour|day|week|month|year) and a half|p(?:\\d[\\d.ymwdhst]*|t\\d[\\d.hms]*)'
const ISO = /^p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?)?$/
const ISO_UNITS: Unit[] = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second']
const EACH = new RegExp(
  'half (?:an )?hour|(?:an? |one )?(three |3 )?quarters? of an hour|' +
    `(?:(${NUMBER}) ?|\\ban? |^)(and a half )?(${UNIT}|mo|[smhdwy])(?![a-z])( and a half)?`,
  'g'
)

/** Parses a number in digits or words; NaN for other texts. */
export const numberOf = (text: string): number => text.split(/[- ]/).reduce((sum, word) => sum + (NUMBERS.get(word) ?? Number(word)), 0)

/**
 * Returns the number and unit that a word or short form stands for: "mins" gives one minute, "quarter" gives
 * three months, "fortnight" gives two weeks.
 */
function unitOf (name: string): Part {
  const singular = name.length > 2 ? name.replace(/s$/, '') : name
  return singular === 'fortnight' ? [2, 'week'] : singular === 'quarter' ? [3, 'month'] : [1, SHORT[singular] ?? singular as Unit]
}

/** Parses a lower-case text that matches DURATION. Throws BadSchedule (400) for durations that are not supported. */
export function readDuration (text: string): Period {
  const [, ...numbers] = ISO.exec(text) ?? []
  const iso = ISO_UNITS.flatMap((unit, at): Part[] => numbers[at] === undefined ? [] : [[Number(numbers[at]), unit]])
  if (iso.length > 0) return periodOf(text, iso)
  return periodOf(text, [...text.matchAll(EACH)].map(([all, three, number, more, unit, half]: Array<string | undefined>): Part => {
    if (unit === undefined) return [all!.startsWith('half') ? 30 : three === undefined ? 15 : 45, 'minute']
    const [size, name] = unitOf(unit)
    return [size * ((number === undefined ? 1 : numberOf(number)) + (more ?? half ? 0.5 : 0)), name]
  }))
}

function periodOf (text: string, parts: Part[]): Period {
  const checkPeriod = (isFine: boolean, sentence: string) => check(isFine, 'interval', `${JSON.stringify(text)} ${sentence}.`)
  const sum = (sizes: Partial<Record<Unit, number>>) => parts.reduce((total, [number, unit]) => total + number * (sizes[unit] ?? 0), 0)
  const [months, everyMs] = [sum({ month: 1, year: 12 }), Math.round(sum(UNITS))]
  const isExact = parts.some(([, unit]) => /^(?:hour|minute|second)$/.test(unit))
  checkPeriod(months === 0 || (everyMs === 0 && !isExact),
    'adds months to shorter units, and months differ in length: use one or the other')
  const approximateMs = everyMs + months * 30 * UNITS.day
  checkPeriod(approximateMs >= SCHEDULE_LIMITS.periodMs.min, 'is shorter than one second, the minimum')
  checkPeriod(approximateMs <= SCHEDULE_LIMITS.periodMs.max, 'is longer than ten years, the maximum')
  if (isExact) return { unit: 'exact', everyMs }
  const days = everyMs / UNITS.day
  checkPeriod(Number.isInteger(months) && Number.isInteger(days), 'has a fraction of a day or month: write it in hours, such as "36 hours"')
  if (months > 0) return { unit: 'month', every: months }
  return days % 7 === 0 && sum({ week: 1 }) > 0 ? { unit: 'week', every: days / 7 } : { unit: 'day', every: days }
}
