import { type Clock, CLOCK, clocksIn, HOUR, NO_HOUR, PART, PARTS, readClock, secondsOf } from './clock-words.ts'
import {
  DATE,
  dateOf,
  DAY,
  daysOf,
  daysOfMonthOf,
  type NamedDate,
  NTH,
  nthDatesOf,
  SHORT_DAY,
  weekdayNamed,
  WEEKDAYS,
  weekdaysOf
} from './day-words.ts'
import { DAY as DAY_MS, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import { DURATION, NUMBER, numberOf, type Period, readDuration, UNIT, unitOf } from './durations.ts'
import { BadSchedule } from './schedule-errors.ts'
import { type Place, readerOf, type RhythmPeriod, type Rule, type TimeWords } from './time-words.ts'

const EVERY = '(?:every|each)(?: single)?'
const ISO = 'p(?:\\d[\\d.ymwdhst]*|t\\d[\\d.hms]*)'
const ANY_DAY = `(?:${DAY}|${SHORT_DAY})`
const ONE_DAY = `today|tomorrow|${WEEKDAYS.join('|')}|${SHORT_DAY}`
const OR_TO = ' to | through | thru | ?- ?'
const LIST_OF = (item: string, joints = ',? and |, | & ') => `(?:${item})(?:(?:${joints})(?:${item}))*`
export const UP_TO = 'to|through|thru|until|till'
const WORDS: Record<string, RhythmPeriod> = {
  hourly: { unit: 'hour' },
  daily: { unit: 'day', every: 1 },
  everyday: { unit: 'day', every: 1 },
  nightly: { unit: 'day', every: 1 },
  weekly: { unit: 'week', every: 1 },
  biweekly: { unit: 'week', every: 2 },
  fortnightly: { unit: 'week', every: 2 },
  monthly: { unit: 'month', every: 1 },
  quarterly: { unit: 'month', every: 3 },
  yearly: { unit: 'year' },
  annually: { unit: 'year' }
}
export const OFTEN = Object.keys(WORDS)
const UNITS: Record<string, string> = {
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  fortnight: 'fortnightly',
  month: 'monthly',
  quarter: 'quarterly',
  year: 'yearly'
}
const ORDINALS = ['', '', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

const exceptRules: Rule[] = [
  ['(?:except|excluding|but not|but|other than|apart from|not on|never on)(?: on| for)?(?: the)? ' +
    `(?<days>${LIST_OF(`${DATE}|(?:on )?${ANY_DAY}`)})`, ({ found }, { days }) => found.except.push(days!)]
]

function addWindow ({ found }: Place, from: string, to: string, words: string) {
  const [start, end] = [from, to].map((each) => /^24(?::00)?$/.test(each) ? undefined : readClock(each))
  if (start === undefined || (end === undefined && !/^24/.test(to))) return false
  const [first] = secondsOf(start)
  const ends = end === undefined ? [86_400] : secondsOf(end)
  found.windows.push({ words, ends: [from, to], from: first / 3600, to: (ends.find((each) => each > first) ?? ends[0]) / 3600 })
  return true
}

const spanRules: Rule[] = [
  [`(?:between|from) (?<from>${HOUR}) ?(?:and|${UP_TO}|-) ?(?<to>${HOUR}|24:00)|(?<start>${CLOCK}) (?:to|until|till) (?<end>${CLOCK})`,
    (place, { from, to, start, end }, words) => addWindow(place, (from ?? start)!, (to ?? end)!, words)]
]

const aheadRules: Rule[] = [
  [`(?:in|after) (?<text>${DURATION}|${ISO})(?:'s|')?(?: time)?(?: from now)?|(?<before>${DURATION}) from now`,
    ({ found, today }, { text, before }, words) => {
      const wait = (text ?? before)!
      const period = read(found, () => readDuration(wait, 'in'))
      found.once.push(words)
      if (period === undefined) return
      found.waits.push({ words, text: wait, period })
      if (period.unit !== 'exact') found.days.push({ words, days: daysAhead(period).map((day) => today + day) })
    }],
  [`(?:on )?(?:(?<!once |twice |times |every |each |other )(?<count>${NUMBER}|an?) (?<unit>days?|weeks?|fortnights?) ` +
    `(?:(?:from|on|after) )?(?<base>${ONE_DAY})|(?<day>${ONE_DAY}) week|(?<next>${ONE_DAY}),? (?:of )?next week|` +
    `next week,? (?:on )?(?<later>${ONE_DAY}))`,
  ({ found, today }, { count = '1', unit = 'week', base, day, next, later }, words) => {
    const name = (base ?? day ?? next ?? later)!
    const weekday = weekdayNamed(name)
    if (weekday < 0 && !/^to/.test(name)) return false
    if (/^\d.* on /.test(words)) found.doubts.push(`"${words}" may be once or again and again: write "every ${words}", or the date.`)
    const monday = today - weekdayOf(today) + 7
    const start = name === 'today' ? today : name === 'tomorrow' ? today + 1 : today + 1 + mod(weekday - weekdayOf(today + 1), 7)
    const [size, of] = unitOf(unit)
    const ahead = (/^an?$/.test(count) ? 1 : numberOf(count)) * size * (of === 'week' ? 7 : 1)
    found.once.push(words)
    found.days.push({ words, days: [(next ?? later) === undefined ? start + ahead : monday + weekday] })
    return true
  }],
  ['(?:on )?(?:the )?day after tomorrow', ({ found, today }, _, words) => addDays(found, words, [today + 2])],
  ['(?:later )?(?<word>tomorrow|today|tonight)', ({ found, today }, { word }, words) => {
    // What is done tonight may be done after midnight.
    addDays(found, words, word === 'tomorrow' ? [today + 1] : word === 'tonight' ? [today, today + 1] : [today])
    if (word === 'tonight') found.parts.push({ words, parts: ['night'] })
  }]
]

function addDays (found: TimeWords, words: string, days: number[], more: { date?: NamedDate, isRepeatable?: boolean } = {}) {
  found.once.push(words)
  found.days.push({ words, days, ...more })
}

/** How many days lie ahead at the end of a period; months differ in length. */
function daysAhead ({ unit, every }: Exclude<Period, { unit: 'exact' }>): number[] {
  if (unit !== 'month') return [every * (unit === 'week' ? 7 : 1)]
  const [least, most] = [Math.round(every * 30.4) - 3, Math.round(every * 30.5) + 3]
  return Array.from({ length: most - least + 1 }, (_, n) => least + n)
}

/** Returns what a reader finds; what it refuses is doubt. */
function read<T> (found: TimeWords, reader: () => T): T | undefined {
  try {
    return reader()
  } catch (error) {
    if (!(error instanceof BadSchedule)) throw error
    found.doubts.push(error.message)
    return undefined
  }
}

/** Behind "the 3rd" these make no day of a month of it. */
const NO_DAY = '(?! (?:floor|street|avenue|page|line|row|column|item|try|attempt|time|version|file|one|place|monitor|screen|day|of)\\b)'
const MONTH_DAY = '(?:the )?(?:\\d{1,2}(?:st|nd|rd|th)(?: day)?|(?:first|last) day|day \\d{1,2}(?= of)|(?:first|last)(?= of| and))'
const dateRules: Rule[] = [
  [`${EVERY} (?<nth>other|alternate|${ORDINALS.slice(2).join('|')}|\\d+(?:nd|rd|th)) (?<unit>${UNIT})(?! of)`,
    (place, { nth, unit }, words) => {
      const count = ORDINALS.indexOf(nth!) > 0 ? ORDINALS.indexOf(nth!) : Number.parseInt(nth!) || 2
      addDuration(place, `${count} ${unit}`, words)
    }],
  [`(?:(?:(?<every>every|each) |on )(?:the )?|the |(?<=^ ?|; ?))(?<nth>${LIST_OF(`(?:the )?(?:${NTH})`)}) ` +
    `(?<day>${ANY_DAY})(?<of> (?:of|in) (?:the|each|every|a) month)?`, ({ found }, { every, nth, day, of }, words) => {
    const dates = nthDatesOf(`${nth} ${day}`)
    if (dates === undefined) return false
    if (of === undefined && every !== undefined && /^(?:second|2nd|third|3rd|fourth|4th)$/.test(nth!)) {
      const forms = `"every other ${day}", "every 3 weeks on ${day}" or "${nth} ${day} of the month"`
      found.doubts.push(`"${words}" may mean several things: write ${forms}.`)
    }
    found.repeated.push(words)
    found.nths.push({ words, dates })
    return true
  }],
  [`(?<every>every|each) (?:year,? on )?(?:the )?(?<date>${DATE})|(?:on )?(?:(?<day>${ANY_DAY}),? (?:the )?)?(?:the )?(?<single>${DATE})`,
    (place, { every, date, day, single }, words) => {
      const named = read(place.found, () => dateOf((date ?? single)!))
      if (named === undefined) return
      const days = daysOf(named, new Date(place.today * DAY_MS).getUTCFullYear())
      const ahead = days.find((each) => each >= place.today)
      if (day !== undefined && ahead !== undefined && weekdayOf(ahead) !== weekdayNamed(day)) {
        place.found.doubts.push(`${new Date(ahead * DAY_MS).toISOString().slice(0, 10)} is no ${day}: write one of them.`)
      }
      place.found.days.push({ words, days, date: named.year === undefined ? named : undefined })
      if (every !== undefined) addRhythm(place, words, { period: { unit: 'year' }, isWord: true })
    }],
  [`(?:on )?(?:(?<every>every|each) )?(?<list>${LIST_OF(MONTH_DAY)})` +
    `(?: of (?<which>the|each|every|a|this|the current) (?<unit>month|quarter)|${NO_DAY})|` +
    `(?<=(?:months?|monthly|quarter|quarterly) )on (?:the )?(?<bare>${LIST_OF('\\d{1,2}|last|first')})(?= at |,|$| ;)`,
  (place, { every, list, bare, which, unit }, words) => {
    const days = daysOfMonthOf((list ?? bare)!)
    if (days === undefined) {
      place.found.doubts.push(`"${words}" is no day of a month: write 1st to 31st, or "last day".`)
      return true
    }
    if (which === undefined && days.length === 1 && !/^(?:on|every|each|the) /.test(words)) return false
    const isEach = every !== undefined || days.length > 1 || /^(?:the|each|every|a)$/.test(which ?? '')
    place.found.daysOfMonth.push({ words, days, isEach })
    if (!isEach) place.found.days.push({ words, days: comingMonthDays(days[0], place.today, which !== undefined), isRepeatable: true })
    if (/(?:every|each) month$|quarter$/.test(words)) addRhythm(place, words, { period: WORDS[UNITS[unit!]], isWord: true })
    return true
  }]
]

/** The days that a day of the month can be: of this month, and of the next one where it has such a day. */
function comingMonthDays (day: number, today: number, isOfThisMonth: boolean): number[] {
  const month = monthOf(today)
  const months = isOfThisMonth ? [month] : [month, month + 1].filter((each) => day <= daysIn(each))
  return months.map((each) => firstOf(each) + Math.min(day, daysIn(each)) - 1)
}

function addRhythm ({ found }: Place, words: string, rhythm?: { period: RhythmPeriod, isWord: boolean, count?: number }) {
  found.repeated.push(words)
  if (rhythm !== undefined) found.rhythms.push({ words, ...rhythm })
}

const rhythmRules: Rule[] = [
  [`(?<count>once|twice|(?:${NUMBER}) times) ` +
    '(?:(?:a|an|per|each|every|in a|in every) (?<unit>hour|day|week|fortnight|month|quarter|year)|(?<word>daily|weekly|monthly))',
  (place, { count, unit, word }, words) => {
    const times = count === 'once' ? 1 : count === 'twice' ? 2 : numberOf(count!.slice(0, -6))
    addRhythm(place, words, { period: WORDS[word ?? UNITS[unit!]], isWord: true, count: times })
  }],
  [`${EVERY} (?<unit>${Object.keys(UNITS).join('|')})(?! and a half| (?:of an )?hour)`, (place, { unit }, words) =>
    addRhythm(place, words, { period: WORDS[UNITS[unit!]], isWord: true })],
  [`${EVERY} (?<duration>${DURATION}|hour and a half|second(?! [a-z])|minute)`, (place, { duration }, words) =>
    addDuration(place, duration!, words)],
  [`(?<quarter>${EVERY} quarter (?:of an )?hour)|half[ -]hourly`, (place, { quarter }, words) =>
    addDuration(place, quarter === undefined ? '30m' : '15m', words)],
  [`(?:half|semi)-?(?:yearly|annually)|${EVERY} half year`, (place, _, words) =>
    addRhythm(place, words, { period: { unit: 'month', every: 6 }, isWord: true })],
  // "My daily report" names a thing.
  [`(?<before>the |my |our |your |this |that )?(?<word>${Object.keys(WORDS).join('|')})`, (place, { before, word }, words) => {
    if (before !== undefined) return false
    addRhythm(place, words, { period: WORDS[word!], isWord: true })
    if (word === 'nightly') place.found.parts.push({ words, parts: ['night'] })
    return true
  }]
]

function addDuration (place: Place, text: string, words: string) {
  const period = read(place.found, () => readDuration(text))
  addRhythm(place, words, period && { period, isWord: false })
}

export function addTimes (found: TimeWords, list: string, words: string) {
  const texts = clocksIn(list).map((each) => each.replace(/^at /, ''))
  const clocks = texts.map(readClock).filter((clock): clock is Clock => clock !== undefined)
  const isNear = /around|about|roughly|approximately|~|ish|or so/.test(words)
  if (clocks.length === texts.length) found.times.push({ words, texts, clocks, tolerance: isNear ? 3600 : 0 })
  else found.doubts.push(`"${list}" is not a time of day: write it as "09:00", "9am" or "noon".`)
}

const clockRules: Rule[] = [
  // "2.30" may be a number, but behind "at", before "am", and behind other words about a time.
  [`at (?<at>${LIST_OF(HOUR, ',? and (?:at )?|, ?(?:at )?| & ')})${NO_HOUR}|` +
    `(?!(?<!; ?)\\d+\\.\\d\\d(?! ?[ap]m))(?<list>(?:${CLOCK})(?:(?:,? and |, ?| & )(?:at )?(?:${HOUR}))*)|` +
    `(?<hour>${HOUR})(?= (?:o'clock )?(?:(?:in the|this|${EVERY}) (?:${PART})|at night))`,
  ({ found }, { at, list, hour }, words) => addTimes(found, (at ?? list ?? hour)!, words)],
  ['(?:at )?(?:(?<part>half|(?:a )?quarter) past|:(?<minute>[0-5]\\d)|minute (?<nth>[1-5]?\\d)|(?<past>[1-5]?\\d)(?: minutes)? past)' +
    '(?: (?:the|each|every) hour)?|on the hour|at the (?:full|top of the) hour', ({ found }, { part, minute, nth, past }) =>
    found.minutes.push(part === undefined ? Number(minute ?? nth ?? past ?? 0) : part === 'half' ? 30 : 15)]
]

const weekdayRules: Rule[] = [
  ["(?<before>(?:is|it's|was|be|an?|the|like|for|if|unless|when|my|our|your|first|second|third|fourth|last) )?" +
    `(?:(?:on )?(?:the )?(?<lead>${EVERY}(?: (?:other|alternate))?|alternate|all|next|this coming|coming|this)(?: on)? |` +
    `(?<on>on (?:the )?)|from )?(?<list>${LIST_OF(ANY_DAY, `,? and |,? or |, | & |${OR_TO}| `)})(?: of the week)?` +
    `(?:(?=(?<behind>\\s*(?:$|[,.;:!?]|at\\b|and\\b|in the\\b|${PART}|${CLOCK})))|)`,
  (place, { before, lead = '', on, list, behind }, words) => {
    const days = weekdaysOf(list!.replaceAll(' or ', ' and '))
    const isNamed = lead !== '' || on !== undefined || /days(?!\w)|weekends/.test(list!)
    if (days === undefined || (!isNamed && (before !== undefined || behind === undefined))) return false
    noteWeekdays(place, { days, lead, list: list! }, words)
    return true
  }]
]

function noteWeekdays (place: Place, { days, lead, list }: { days: number[], lead: string, list: string }, words: string) {
  const { found, today } = place
  const isSet = /week|work|business/.test(list)
  const isEvery = /^(?:every|each|all|alternate)/.test(lead) || /days(?!\w)|weekends/.test(list) || /to |through|thru|-/.test(list)
  const isSingle = !isEvery && !isSet && days.length === 1
  const doubt = (advice: string) => found.doubts.push(`"${words}" may mean several things: write ${advice}.`)
  if (/ or /.test(list)) doubt('"and", or name one day')
  if (isSet && !isEvery) doubt(`"every ${list}", or the day`)
  if (isSingle && lead === 'next' && days[0] > weekdayOf(today)) doubt(`"on ${list}" for the coming one, or the date`)
  found.weekdays.push({ words, days, isWhole: !/ or |weekend/.test(list) && days.length > 1, isSingle, isEvery })
  if (isEvery) found.repeated.push(words)
  if (/other|alternate/.test(lead)) found.rhythms.push({ words, period: WORDS.biweekly, isWord: true })
  if (isEvery || (days.length > 1 && !isSet)) return
  const coming = days.map((day) => today + mod(day - weekdayOf(today), 7))
  const later = coming.map((day) => day + 7)
  const isLater = lead === 'next' && coming.includes(today)
  addDays(found, words, lead === 'this' ? coming : isLater ? later : [...coming, ...later], { isRepeatable: true })
}

const wholeRules: Rule[] = [
  // "Good morning" is no time.
  [`(?:(?<lead>${EVERY}|this) |in the |at |on |in |the |during the |(?<=^ ?|; ?)|(?=(?:${PART} and|[a-z]+s\\b)))` +
    `(?<list>${LIST_OF(`(?:${EVERY} |the |in the )?(?:${PART})`)})`, (place, { lead = '', list }, words) => {
    const parts = [...new Set(list!.match(new RegExp(Object.keys(PARTS).join('|'), 'g'))!)]
    place.found.parts.push({ words, parts })
    if (/^(?:every|each)/.test(lead)) addRhythm(place, words, { period: WORDS.daily, isWord: true })
    if (lead === 'this') addDays(place.found, words, [place.today])
  }],
  ['(?:just |only )?once|once only|(?:just |only )?one time(?: only)?|just this once', ({ found }, _, words) => found.once.push(words)]
]
/** Short forms that are clear in a text about a time alone. */
const SHORT_RULES: Rule[] = [
  // "Every day 9": behind anything else a number may be a date or a count.
  ['(?<=(?:every|each) [a-z]{0,6}day |\\b[a-z]{0,6}days |daily |weekends? |weekday )(?<!\\d+ days )(?<hour>\\d{1,2})$',
    ({ found }, { hour }, words) => addTimes(found, hour!, words)],
  ['(?:every|each)(?= (?:\\d{1,2}(?:[:.]\\d\\d)? ?[ap]m|noon|midnight)(?: |,|$))', (place, _, words) =>
    addRhythm(place, words, { period: WORDS.daily, isWord: true })],
  [`(?<=^ ?)(?:(?=\\d)(?:${DURATION})|${ISO})(?= at | between | from \\d|$)`, (place, _, words) => addDuration(place, words, words)]
]

/** What is said of times, also in a text about other things; in this order. */
export const TIME_RULES: Rule[] =
  [exceptRules, spanRules, aheadRules, dateRules, rhythmRules, weekdayRules, clockRules, wholeRules].flat()

/** Reads a text that is about a time and nothing else. */
export const readTimeWords = readerOf([...SHORT_RULES, ...TIME_RULES])
