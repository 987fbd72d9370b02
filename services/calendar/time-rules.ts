import { type Clock, CLOCK_FORMS, PARTS, readClock } from './clock-words.ts'
import { dateOf, dayNumber, daysOf, MONTHS, type NamedDate, weekdayNamed } from './day-words.ts'
import { DAY, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import { DAILY, numberOf, type Period, PERIODS, readDuration, RHYTHMS, type RhythmPeriod } from './durations.ts'
import { BadSchedule, check, SEVERAL } from './schedule-errors.ts'
import type { CronDates, Exceptions } from './schedule-plan.ts'
import { tidy, type Token, tokensOf } from './tokens.ts'

/** The parsed meaning of words about time. Days are counted from 1970-01-01, weekdays from Monday = 0. */
export interface Meaning {
  /**
   * How often: `count` times in a period. `isWord`: a word such as "daily", whose times are set; other durations
   * are counted from their start.
   */
  rhythm?: { period: RhythmPeriod, isWord: boolean, count?: number }
  /** `coming`: the coming days of which one might be meant, if no word says that the days repeat. */
  weekdays?: { days: number[], coming?: number[], isEvery: boolean }
  daysOfMonth?: { days: number[], coming?: number[] }
  nth?: CronDates
  /** A date of every year. */
  date?: NamedDate
  /** A single day: the first of these days whose time is still ahead. */
  day?: number[]
  wait?: { text: string, period: Period }
  times?: Clock[]
  window?: [from: Clock, to: Clock]
  /** The minute of every hour. */
  minute?: number
  part?: { names: string[], isPlural: boolean }
  except?: Exceptions
  isOnce?: boolean
  isTonight?: boolean
}

/** The result of parsing words about time. */
interface TimeWords {
  meaning: Meaning
  /** Whether the whole text is about time, and states nothing twice. */
  isWhole: boolean
  /** Why the words are ambiguous or mean no existing time; a sentence. */
  doubt?: string
  /** The words that name times of day. */
  hours?: string
}

/** The words that a rule has matched, with their tokens, and `today`, the day on which they were written. */
interface Place {
  today: number
  words: string
  tokens: Token[]
}
/**
 * A grammar rule: a pattern of token kinds, and the function that returns the meaning of the matched words. If the
 * function returns undefined, the words are left for other rules. If it throws BadSchedule, the words are ambiguous.
 */
type Rule = [kinds: string, read: (place: Place) => Meaning | undefined]

/** Patterns of token kinds. */
const DAYS = '(?:weekdays?|weekset)'
const UNITS = '(?:minute|hour|day|week|month|quarter|year|unit)'
const HOUR = '(?:clock|decimal|number)'
const ONE_DAY = '(?:today|tomorrow|weekday)'
/** Returns the pattern of a list of items. */
const listOf = (item: string, joint = ',(?: and)?|and') => `${item}(?: (?:${joint}) ${item})*`
const BETWEEN_HOURS = ',(?: and)?(?: at)?|and(?: at)?'
const HOURS = listOf(HOUR, BETWEEN_HOURS)
/** Matches the words that can remain between matched words (`;`). */
const JOINTS = /^(?:, )?;(?:(?: (?:,|at|on|the|and|then))* ;)*(?: ,)?$/

const has = (tokens: Token[], ...kinds: string[]) => tokens.some(({ kind }) => kinds.includes(kind))
const tokenOf = (tokens: Token[], ...kinds: string[]) => tokens.find(({ kind }) => kinds.includes(kind))!

const rhythm = (period: RhythmPeriod, count?: number): Meaning => ({ rhythm: { period, isWord: true, count } })

const readPeriod = (text: string): Meaning => ({ rhythm: { period: readDuration(text), isWord: false } })

function readTimes ({ tokens }: Place): Meaning {
  const texts = tokens.filter(({ kind }) => HOUR.includes(kind)).map(({ text }) => text)
  const times = texts.map(readClock).filter((clock) => clock !== undefined && clock.second < 86_400) as Clock[]
  check(times.length === texts.length, 'at', `"${texts.join(' and ')}" is not a time of day. ${CLOCK_FORMS}`)
  return { times }
}

function daysOfToken ({ kind, text }: Token): number[] {
  if (kind !== 'weekset') return [weekdayNamed(text)]
  return text.startsWith('weekend') ? [5, 6] : [0, 1, 2, 3, 4]
}

/** Returns the weekdays in a list that can contain spans ("monday to friday"), ascending; undefined for "monday to monday". */
function weekdaysIn (tokens: Token[]): number[] | undefined {
  const found: number[] = []
  for (const [at, token] of tokens.entries()) {
    if (!has([token], 'weekday', 'weekdays', 'weekset')) continue
    const days = daysOfToken(token)
    const first = tokens[at - 1]?.kind === 'to' ? found.at(-1) : undefined
    if (first === undefined) found.push(...days)
    else if (days.length > 1 || first === days[0]) return undefined
    else for (let day = 1; day <= mod(days[0] - first, 7); day++) found.push((first + day) % 7)
  }
  return [...new Set(found)].toSorted((a, b) => a - b)
}

const exceptRules: Rule[] = [
  [`except (?:(?:on|for|the) )*(?:date|${DAYS})(?: (?:,(?: and)?|and|to)(?: on)?(?: the)? (?:date|${DAYS}))*`, ({ tokens }) => {
    const dates = tokens.filter(({ kind }) => kind === 'date').map(({ text }) => dateOf(text))
    const days = dates.flatMap(({ year, month, day }) => year === undefined ? [] : [dayNumber({ year, month, day })])
    const yearly = dates.flatMap(({ year, month, day }) => year === undefined ? [month * 100 + day] : [])
    return { except: { weekdays: weekdaysIn(tokens) ?? [], days, yearly } }
  }],
  [`(?:between|from) ${HOUR} (?:and|to|until) ${HOUR}|clock (?:to|until) clock`, ({ tokens }) => {
    const [from, to] = tokens.filter(({ kind }) => HOUR.includes(kind)).map(({ text }) => readClock(text))
    return from && to && { window: [from, to] }
  }]
]

const aheadRules: Rule[] = [
  ['(?:in|after) duration(?: from now)?|duration from now', ({ tokens }) => {
    const { text } = tokenOf(tokens, 'duration')
    return { wait: { text, period: readDuration(text) } }
  }],
  [`(?<!every )(?:on )?duration (?:(?:from|on|after) )?${ONE_DAY}|${ONE_DAY} week|weekday(?: ,)?(?: of)? next week|` +
    'next week(?: ,)?(?: on)? weekday', ({ words, tokens, today }) => {
    const period = readDuration(tokenOf(tokens, 'duration')?.text ?? '1 week')
    if (period.unit !== 'day' && period.unit !== 'week') return undefined
    check(!/^\d.* on /.test(words), 'text', `"${words}" may be once or again and again: write "every ${words}", or the date.`)
    const base = tokenOf(tokens, 'today', 'tomorrow', 'weekday')
    const weekday = weekdayNamed(base.text)
    if (has(tokens, 'next')) return { day: [today - weekdayOf(today) + 7 + weekday] }
    const start = base.kind === 'today' ? today : base.kind === 'tomorrow' ? today + 1 : today + 1 + mod(weekday - weekdayOf(today + 1), 7)
    return { day: [start + daysOfPeriod(period)] }
  }],
  ['(?:on )?(?:the )?day after tomorrow', ({ today }) => ({ day: [today + 2] })],
  ['(?:later )?(?:tomorrow|today)', ({ tokens, today }) => ({ day: [has(tokens, 'tomorrow') ? today + 1 : today] })],
  // A time "tonight" can be after midnight.
  ['(?:later )?tonight', ({ today }) => ({ day: [today, today + 1], part: { names: ['night'], isPlural: false }, isTonight: true })]
]

export const daysOfPeriod = ({ unit, every }: Exclude<Period, { unit: 'exact' }>): number => every * (unit === 'week' ? 7 : 1)

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']
/** Returns the number of an ordinal; undefined for "last". */
const ordinalOf = (text: string): number | undefined =>
  text === 'last' ? undefined : ORDINALS.includes(text) ? ORDINALS.indexOf(text) : Number.parseInt(text)
const ordinalsIn = (tokens: Token[]) => tokens.flatMap(({ kind, text }) => kind === 'ordinal' || kind === 'number' ? [ordinalOf(text)] : [])

/**
 * Converts "first monday", "first and third monday" or "last working day" to the dates of a cron line; undefined
 * for days that a cron line cannot express.
 */
function nthDates (nths: Array<number | undefined>, day: Token): CronDates | undefined {
  const every = { unit: 'cron', months: MONTHS.map((_, month) => month + 1), last: false, both: true } as const
  if (nths.some((nth) => nth !== undefined && nth > 4)) return undefined
  if (day.kind === 'weekset') {
    if (!/day$/.test(day.text) || nths.some((nth) => nth !== undefined && nth > 1)) return undefined
    const isFirst = nths.includes(1)
    return { ...every, days: [], lastWorking: nths.includes(undefined), nearest: isFirst ? [1] : [], weekdays: Array(7).fill(63) }
  }
  const bits = nths.reduce<number>((sum, nth) => sum | 1 << (nth === undefined ? 5 : nth - 1), 0)
  const weekdays = Array.from({ length: 7 }, (_, each) => each === (weekdayNamed(day.text) + 1) % 7 ? bits : 0)
  return { ...every, days: Array.from({ length: 31 }, (_, date) => date + 1), lastWorking: false, nearest: [], weekdays }
}

const MONTH_DAY = '(?:the )?(?:ordinal(?: day)?|day number)'
const dateRules: Rule[] = [
  [`every (?:other|ordinal) ${UNITS}(?! of)`, ({ tokens: [, { kind, text }, unit] }) => {
    const nth = kind === 'other' ? 2 : ordinalOf(text)
    return nth === undefined || nth < 2 ? undefined : readPeriod(`${nth} ${unit.text}`)
  }],
  [`(?:(?:every|on) (?:the )?|the |(?<=^|; ))${listOf('(?:the )?ordinal')} (?:weekday|weekset)(?: (?:of|in) (?:the|every|a) month)?`,
    ({ words, tokens }) => {
      const day = tokenOf(tokens, 'weekday', 'weekset')
      const nths = ordinalsIn(tokens)
      const nth = nthDates(nths, day)
      const isClear = nth === undefined || has(tokens, 'month') || !has(tokens, 'every') || nths.length > 1 || (nths[0] ?? 0) < 2
      check(isClear, 'text', `"${words}" ${SEVERAL}: write "every other ${day.text}", "every 3 weeks on ${day.text}" or ` +
        `"${tokenOf(tokens, 'ordinal').text} ${day.text} of the month".`)
      return nth && { nth }
    }],
  ['every (?:year(?: ,)? (?:on )?)?(?:the )?date|(?:on )?(?:weekday(?: ,)? (?:the )?)?(?:the )?date', ({ tokens, today }) => {
    const date = dateOf(tokenOf(tokens, 'date').text)
    const day = daysOf(date, new Date(today * DAY).getUTCFullYear())
    const ahead = day.find((each) => each >= today)
    const weekday = tokenOf(tokens, 'weekday')?.text
    check(weekday === undefined || ahead === undefined || weekdayOf(ahead) === weekdayNamed(weekday), 'text',
      `${new Date((ahead ?? 0) * DAY).toISOString().slice(0, 10)} is no ${weekday}: write one of them.`)
    return { day, ...date.year === undefined && { date }, ...has(tokens, 'every') && rhythm(RHYTHMS.yearly) }
  }],
  [`(?:on )?(?:every )?${listOf(MONTH_DAY)} of (?:the|every|a|this)(?: current)? (?:month|quarter)|` +
    `(?:on )?(?:every )?${listOf(MONTH_DAY)}(?! (?:of|day|${DAYS}))|` +
    `(?<=(?:month|rhythm|quarter|duration) )on (?:the )?${listOf('(?:number|ordinal)')}`, readDaysOfMonth]
]

function readDaysOfMonth ({ words, tokens, today }: Place): Meaning | undefined {
  const nths = ordinalsIn(tokens)
  const period = has(tokens, 'month', 'quarter') ? tokens.at(-1)!.kind : undefined
  const isThis = has(tokens, 'this', 'current')
  // "First" and "last" alone only order things, and "15th" alone names no time.
  const isDay = period !== undefined || nths.length > 1 || (/\d| day/.test(words) && /^(?:on|every|each|the) /.test(words)) ||
    /^on (?:the )?(?:first|last)$/.test(words)
  if (!isDay) return undefined
  const days = [...new Set(nths.map((nth) => nth ?? 31))].toSorted((a, b) => a - b)
  check(days.every((day) => Number.isInteger(day) && day >= 1 && day <= 31), 'text',
    `"${words}" is no day of a month: write 1st to 31st, or "last day".`)
  const isEach = has(tokens, 'every') || days.length > 1 || (period !== undefined && !isThis)
  const month = monthOf(today)
  const months = isThis ? [month] : [month, month + 1].filter((each) => days[0] <= daysIn(each))
  const coming = isEach ? undefined : months.map((each) => firstOf(each) + Math.min(days[0], daysIn(each)) - 1)
  const isOften = period === 'quarter' || tokens.at(-2)?.kind === 'every'
  return { daysOfMonth: { days, coming }, ...isOften && period !== undefined && rhythm(PERIODS[period]) }
}

const rhythmRules: Rule[] = [
  [`(?:once|twice|number times) (?:(?:(?:in )?(?:a|per|every) )${UNITS}|rhythm|daily)`, ({ tokens: [first, ...others] }) => {
    const { kind, text } = others.at(-1)!
    const period = kind === 'daily' ? DAILY : RHYTHMS[text] ?? PERIODS[text]
    return period && rhythm(period, first.kind === 'once' ? 1 : first.kind === 'twice' ? 2 : numberOf(first.text))
  }],
  [`every (?:${UNITS}|ordinal(?! ${UNITS}))`, ({ tokens: [, { text }] }) =>
    PERIODS[text] !== undefined ? rhythm(PERIODS[text]) : /^(?:minute|second)$/.test(text) ? readPeriod(`1 ${text}`) : undefined],
  ['every duration', ({ tokens: [, { text }] }) => readPeriod(text)],
  ['every half year', () => rhythm(RHYTHMS['half-yearly'])],
  ['rhythm', ({ words }) => ({ rhythm: { period: RHYTHMS[words], isWord: RHYTHMS[words].unit !== 'exact' } })],
  ['daily', ({ words }) => ({ ...rhythm(DAILY), ...words === 'nightly' && { part: { names: ['night'], isPlural: false } } })],
  ['other (?=weekdays)', () => rhythm(RHYTHMS.biweekly)]
]

const weekdayRules: Rule[] = [
  ['(?:(?:on )?(?:the )?(?:every(?: other)?|other|all|next|this coming|coming|this)(?: on)? |on (?:the )?|from )?' +
    `${listOf(DAYS, ',(?: and| or)?|and|or|to')}(?: weekday)*(?: of the week)?`, ({ words, tokens, today }) => {
    const days = weekdaysIn(tokens)
    if (days === undefined) return undefined
    const isSet = has(tokens, 'weekset')
    const isPlural = has(tokens, 'weekdays', 'to') || tokens.some(({ kind, text }) => kind === 'weekset' && text.endsWith('s'))
    const isList = days.length > 1 && !isSet && !has(tokens, 'on', 'next', 'this', 'coming')
    const isEvery = isPlural || isList || has(tokens, 'every', 'all', 'other')
    const list = words.slice(tokenOf(tokens, 'weekday', 'weekdays', 'weekset').from - tokens[0].from)
    const isClear = (isFine: boolean, advice: string) => check(isFine, 'text', `"${words}" ${SEVERAL}: write ${advice}.`)
    isClear(!has(tokens, 'or'), '"and", or name one day')
    isClear(!isSet || isEvery, `"every ${list}", or the day`)
    isClear(isEvery || !has(tokens, 'next') || days[0] <= weekdayOf(today), `"on ${list}" for the coming one, or the date`)
    const ahead = days.map((day) => today + mod(day - weekdayOf(today), 7))
    const [late, now] = [ahead.map((day) => day + 7), has(tokens, 'this') && !has(tokens, 'coming')]
    const coming = now ? ahead : has(tokens, 'next') && ahead.includes(today) ? late : [...ahead, ...late]
    return {
      weekdays: { days, isEvery, coming: isEvery || days.length > 1 ? undefined : coming },
      ...has(tokens, 'other') && rhythm(RHYTHMS.biweekly)
    }
  }]
]

const clockRules: Rule[] = [
  [`at ${HOURS}`, readTimes],
  // "2.30" can be a number, except after "at", before "am", and after other words about time.
  [`(?:clock|(?<=; (?:, )?)decimal)(?: (?:${BETWEEN_HOURS}) ${HOUR})*`, readTimes],
  [`${HOUR}(?= (?:in the|this|every) part| at part)`, readTimes],
  ['(?:at )?(?:(?:half|(?:a )?quarter) past|colon|minute number|(?:number|duration) past)(?: (?:the|every) hour)?|on the hour|' +
    'at the (?:full|top of the) hour', ({ words }) =>
    ({ minute: /half/.test(words) ? 30 : /quarter/.test(words) ? 15 : Number(/\d+/.exec(words)?.[0] ?? 0) })]
]

const wholeRules: Rule[] = [
  ['(?:(?:every|this|in the|at|on|in|the|during the) |(?<=^|; )|(?=parts? and |parts))' +
    listOf('(?:(?:every|the|in the) )?parts?'), ({ tokens, today }) => {
    const names = [...new Set(tokens.flatMap(({ text }) => PARTS.find((part) => text.startsWith(part)) ?? []))]
    const part = { names, isPlural: has(tokens, 'parts') || names.length > 1 }
    return { part, ...tokens[0].kind === 'every' && rhythm(DAILY), ...tokens[0].kind === 'this' && { day: [today] } }
  }],
  ['(?:(?:just|only) )?once(?: only)?|just this once', () => ({ isOnce: true })]
]

const shortRules: Rule[] = [
  // "Every day 9" names an hour. After other words a number can be a date or a count.
  [`(?<=(?:every day|every ${DAYS}|weekdays|weekset|daily) )number(?=$)`, readTimes],
  ['every clock', (place) => /[ap]m$|noon$|midnight$/.test(place.words) ? { ...rhythm(DAILY), ...readTimes(place) } : undefined],
  ['(?<=^)duration(?= (?:at|between|from (?:clock|number))(?: |$)|$)', ({ words }) => /^[\dp]/.test(words) ? readPeriod(words) : undefined]
]

/** The rules, in the order in which they are applied. Matched words are removed from the text. */
const RULES = [shortRules, exceptRules, aheadRules, dateRules, rhythmRules, weekdayRules, clockRules, wholeRules].flat()
  .map(([kinds, read]) => [new RegExp(`(?<=^| )(?:${kinds})(?= |$)`, 'g'), read] as const)

const kindsOf = (tokens: Token[]) => tokens.map(({ kind }) => kind).join(' ')

/**
 * Parses a text about time. Each rule replaces the words that it understands by ";", so that the rest of the
 * text was not understood. `today` is the day on which the text was written.
 */
export function readTimeWords (text: string, today: number): TimeWords {
  const found: TimeWords = { meaning: {}, isWhole: true }
  let left = tokensOf(text)
  for (const [pattern, read] of RULES) {
    const line = kindsOf(left)
    const next: Token[] = []
    let done = 0
    for (const { 0: part, index } of line.matchAll(pattern)) {
      const start = index === 0 ? 0 : line.slice(0, index - 1).split(' ').length
      const end = start + part.trim().split(' ').length
      const tokens = left.slice(start, end)
      const [{ from }, { to }] = [tokens[0], tokens.at(-1)!]
      if (!addMeaning(found, read, { today, words: text.slice(from, to), tokens })) continue
      next.push(...left.slice(done, start), { kind: ';', text: '', from, to })
      done = end
    }
    left = [...next, ...left.slice(done)]
  }
  found.isWhole &&= JOINTS.test(kindsOf(left))
  return found
}

/** Adds the meaning that a rule returns to the result. Returns false if the rule does not apply. */
function addMeaning (found: TimeWords, read: Rule[1], place: Place): boolean {
  let meaning: Meaning | undefined = {}
  try {
    meaning = read(place)
  } catch (error) {
    if (!(error instanceof BadSchedule)) throw error
    found.doubt ??= error.message
  }
  if (meaning === undefined) return false
  if (meaning.times !== undefined) found.hours = place.words
  for (const [field, value] of Object.entries(meaning)) {
    const key = field as keyof Meaning
    // "Every month on the 1st of each month" repeats itself harmlessly; "daily daily" makes no sense.
    const isSame = JSON.stringify(found.meaning[key]) === JSON.stringify(value) && (value as Meaning['rhythm'])?.period?.unit !== 'day'
    if (found.meaning[key] !== undefined && !isSame) found.isWhole = false
    Object.assign(found.meaning, { [key]: value })
  }
  return true
}

/** Parses the text of a schedule field; undefined if it is not wholly about time. Throws BadSchedule (400), which names the field. */
export function readField (field: string, text: string): Meaning | undefined {
  const { meaning, isWhole, doubt } = readTimeWords(tidy(text), 0)
  check(!isWhole || doubt === undefined, field, `schedule.${field}: ${doubt}`)
  return isWhole ? meaning : undefined
}
