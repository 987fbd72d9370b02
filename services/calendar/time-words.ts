import { DAY, daysIn, firstOf, mod, monthOf, weekdayOf } from './days.ts'
import { dateOf, dayNumber, MONTHS, PARTS, WEEKDAYS, weekdaysOf } from './day-words.ts'
import { NUMBERS, numberOf } from './durations.ts'

/** What words demand of the days, the hours or the rhythm of a schedule; `words` are those that do. */
interface Demand {
  words: string
}

/** A list of weekdays. `isWhole`: each of them is meant, as in "monday and thursday". Weekdays from Monday, 0. */
interface WeekdayDemand extends Demand {
  days: number[]
  isWhole: boolean
}

/** A list of times of day. Each may be one of several seconds, as "9" without am and pm. */
interface TimeDemand extends Demand {
  times: number[][]
  /** How far beside it may be; seconds. */
  tolerance: number
}

/** How often: `every` so many units, or so many `count` times in one. */
export interface RhythmDemand extends Demand {
  unit: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'
  every: number
  count?: number
}

/** What a person clearly said of a time, in English. Days are counted from 1970-01-01. */
export interface TimeWords {
  once: string[]
  repeated: string[]
  weekdays: WeekdayDemand[]
  /** Weekdays that were excepted. */
  except: number[]
  /** Days on which a single time may be, with the words that name them. */
  days: Array<Demand & { days: number[] }>
  /** Waits from now; milliseconds. */
  waits: Array<Demand & { ms: number }>
  daysOfMonth: Array<Demand & { days: number[] }>
  /** Months from 0. */
  months: Array<Demand & { month: number }>
  times: TimeDemand[]
  /** A span of the day in which repeated times lie; hours. */
  windows: Array<Demand & { from: number, to: number }>
  parts: Array<Demand & { parts: string[] }>
  rhythms: RhythmDemand[]
}

const either = (words: string[]) => words.join('|')
const NUMBER = `\\d{1,4}(?:st|nd|rd|th)?|${either(Object.keys(NUMBERS))}|an?|other|second|third|fourth|half an`
const UNIT = 'minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|quarters?|years?|seconds|second(?! [a-z])'
const DAY_NAME = `(?:${either(WEEKDAYS)})s?|(?:week|work|working |business )days?|weekends?`
/** Units of a span that lies ahead. */
const AHEAD = '(?:minute|min|hour|hr|day|week|fortnight|month|year)s?'
const SHORT_DAY = 'mon|tues?|wed|thu|thurs?|fri|sat|sun'
const LISTED = ',? and |,? or |, | & | to | through |-'
const DAY_LIST = `(?:${DAY_NAME})(?:(?:${LISTED})(?:${DAY_NAME}))*`
/** Behind "every" and "on", and in a row, days have short names, too. */
const SHORT_LIST = `(?:${SHORT_DAY})(?:(?:${LISTED})(?:${DAY_NAME}|${SHORT_DAY}))+|(?<=(?:every|each|on) )(?:${SHORT_DAY})`
const UP_TO = 'to|through|thru|until|till'
const SHORT_RANGE = '(?:mon|tue|wed|thu|fri|sat|sun) ?(?:-|to) ?(?:mon|tue|wed|thu|fri|sat|sun)'
const PART = `(?:${either(Object.keys(PARTS))})s?`
const HOUR = `\\d{1,2}(?:[:.][0-5]\\d)?(?: ?[ap]m)?|${either(Object.keys(NUMBERS).slice(0, 12))}|noon|midday|midnight`
const PLAIN_HOUR = `(?:\\d{1,2}|${either(Object.keys(NUMBERS).slice(0, 12))}) (?:fifteen|thirty|forty[- ]five)|` +
  "\\d{1,2}[:.][0-5]\\d ?[ap]m|\\d{1,2}:[0-5]\\d|\\d{1,2} ?[ap]m|noon|midday|midnight|\\d{1,2}(?= o'?clock)"
const MONTH = `${either(MONTHS)}|${either(MONTHS.map((name) => name.slice(0, 3)))}|sept`
const DATE = `\\d{4}-\\d\\d-\\d\\d|\\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:${MONTH})(?:,? \\d{4})?|` +
  `(?:${MONTH}) (?:the )?\\d{1,2}(?:st|nd|rd|th)?(?!:| ?[ap]m)(?:,? \\d{4})?`
/** Behind a bare number that is an hour: no unit, and no word in the plural, as in "at 5 places". */
const AFTER_HOUR = '(?![\\d.,:]*\\d| ?[%\u00B0\u20AC$]| (?:percent|degrees|star|of)\\b|' +
  ` (?!(?:this|always|as|is|us|${PART}|${DAY_NAME})\\b)[a-z']*[a-rt-z]s\\b)`
const QUOTED = /"[^"\n]*"|\u201C[^\u201D\n]*\u201D|\u00AB[^\u00BB\n]*\u00BB|`[^`\n]*`|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu
/** Paths and names of files; not "24/12" and "7.30". */
const NAMES = /(?<!\S)(?!\d+[./:-]\d)(?:\S*[/\\_@]\S*|\S+\.[a-z]\w{1,4}(?![\w.]))/g
/** Dashes between days and between hours. */
const DASHED = new RegExp(
  ` ?[-\\u2013\\u2014] ?(?=${either(WEEKDAYS)})|(?<=\\d[ap]m|\\d:\\d\\d) ?[-\\u2013\\u2014] ?(?=\\d)|(?<=\\d)\\u2013(?=\\d)`,
  'g'
)
/** Words by which a text is English: its numbers are times only there. */
const ENGLISH = /\b(?:the|every|each|tomorrow|today|tonight|please|and|remind|check|send|tell|my|with|this|daily|weekly)\b/
/** What these words stand before is an end or a start, or is over. */
const OPEN = '(?:by|before|(?<!day )after|until|till|since|from|starting|beginning|as of|no later than|last|(?<!half |quarter )past|' +
  'yesterday|than)(?: on| at| next| the| this)?'

const SECONDS = { minute: 60, hour: 3_600 }
const RHYTHM_WORDS: Record<string, Pick<RhythmDemand, 'unit' | 'every'>> = {
  hourly: { unit: 'hour', every: 1 },
  daily: { unit: 'day', every: 1 },
  nightly: { unit: 'day', every: 1 },
  weekly: { unit: 'week', every: 1 },
  fortnightly: { unit: 'week', every: 2 },
  monthly: { unit: 'month', every: 1 },
  quarterly: { unit: 'month', every: 3 },
  yearly: { unit: 'year', every: 1 },
  annually: { unit: 'year', every: 1 }
}

/** A text whose words are taken out as they are understood. */
interface Source {
  text: string
}

/** Calls `read` with each match of a pattern, whose words are taken out. */
function take (source: Source, pattern: string, read: (groups: Record<string, string | undefined>, words: string) => unknown): void {
  source.text = source.text.replace(new RegExp(`(?<![\\w'-]|\\d[.:])(?:${pattern})(?![\\w-]|'s)`, 'g'), (words, ...rest) => {
    read(rest.at(-1), words.trim())
    return ' ; '
  }).replace(/\s+/g, ' ')
}

/** Reads what words say of a time; `today` is the day on which they were written. Words that are not understood demand nothing. */
export function readTimeWords (words: string, today: number): TimeWords {
  const found: TimeWords = {
    once: [],
    repeated: [],
    weekdays: [],
    except: [],
    days: [],
    waits: [],
    daysOfMonth: [],
    months: [],
    times: [],
    windows: [],
    parts: [],
    rhythms: []
  }
  const text = words.toLowerCase().replace(QUOTED, ' ; ').replace(/\u2019/g, "'").replace(/\b([ap])\.m\b\.?/g, '$1m')
    .replace(NAMES, ' ; ').replace(DASHED, ' to ').replace(/\s+/g, ' ')
  const source = { text: text.trim() }
  takeOpen(source, found)
  takeDates(source, found, today)
  takeDaysAhead(source, found, today)
  takeRhythms(source, found)
  takeTimes(source, found, ENGLISH.test(text) && !RELATIVE.test(text))
  takeDays(source, found, today)
  takeParts(source, found, today)
  takeKinds(source, found)
  return found
}

/** A time that is counted from another, or is in a zone that is named. */
const RELATIVE = new RegExp(`(?:${UNIT}) (?:before|after|prior|ahead|earlier|later than)|\\b(?:[ecmp][sd]t|utc|gmt|ces?t|bst|jst|aest|` +
  '\\w+ (?<!(?:some|any|each|every|next|last|first|my|our|local|this|that|the|in|on) )time(?= |$|[,.;:!?]))\\b')

function takeOpen (source: Source, { except, windows, weekdays, once }: TimeWords) {
  take(source, `(?:except|excluding|but not|but|other than|apart from|not on|never on)(?: on| for)? (?<days>${DAY_LIST})`, ({ days }) =>
    except.push(...weekdaysOf(days!) ?? []))
  take(source, `(?:including|also on|even on) (?:${DAY_LIST})|(?:${DAY_LIST}),? (?:too|included|as well)`, () => {})
  take(source, `not (?:every|each) (?:${UNIT}|${DAY_NAME})|not (?:daily|weekly|monthly|again)`, (_, words) => once.push(words))
  take(source, `(?:on |from )?(?<days>${SHORT_RANGE}|(?:${DAY_NAME}) (?:${UP_TO}) (?:${DAY_NAME}))`, ({ days }, words) => {
    weekdays.push({ words, days: weekdaysOf(days!.replace(/until|till/, 'to')) ?? [], isWhole: true })
  })
  const between = `(?:between|from) (?<from>${HOUR}) (?:and|${UP_TO}|-) (?<to>${HOUR})|(?<first>${PLAIN_HOUR}) to (?<last>${PLAIN_HOUR})`
  take(source, between, ({ from, to, first, last }, words) => {
    const [[start], ends] = [secondsOf((from ?? first)!), secondsOf((to ?? last)!)]
    const end = ends.find((each) => each > start) ?? ends[0]
    windows.push({ words, from: start / 3_600, to: end / 3_600 })
  })
  take(source, `(?<=(?:day|morning|afternoon|evening|night|daily|tomorrow)s?,? )(?<side>before|by|after) (?<hour>${PLAIN_HOUR}|` +
    `\\d{1,2}${AFTER_HOUR})`, ({ side, hour }, words) => {
    const hours = secondsOf(hour!).map((second) => second / 3_600)
    windows.push(side === 'after' ? { words, from: hours[0], to: 24 } : { words, from: 0, to: hours.find((each) => each >= 7)! - 1 })
  })
  take(source, `${OPEN} (?:(?:${DAY_NAME})(?! of)|${DATE}|${PLAIN_HOUR}|(?:at )?\\d{1,2}${AFTER_HOUR}|${PART}|tomorrow|today|` +
    `(?:${NUMBER}) (?:${UNIT}))`, () => {})
}

function takeRhythms (source: Source, { rhythms, repeated, weekdays, parts }: TimeWords) {
  const add = (words: string, demand?: Omit<RhythmDemand, 'words'>) => {
    repeated.push(words)
    if (demand !== undefined) rhythms.push({ words, ...demand })
  }
  take(source, '(?:every|each) (?:few|couple of|several|so many) \\w+', (_, words) => add(words))
  take(source, '(?:half|semi)-?(?:yearly|annually)|every half year', (_, words) => add(words, { unit: 'month', every: 6 }))
  take(source, '(?:every half(?: an)?[ -]hour|half[ -]hourly)', (_, words) => add(words, { unit: 'minute', every: 30 }))
  take(source, 'every quarter(?: of an)? hour', (_, words) => add(words, { unit: 'minute', every: 15 }))
  take(source, `(?:(?:every|each|the|on the) )?(?<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) (?<day>${DAY_NAME}) (?:of|in) ` +
    '(?:the|each|every|a) month', ({ day }, words) => {
    weekdays.push({ words, days: weekdaysOf(day!) ?? [], isWhole: false })
    add(words, { unit: 'month', every: 1 })
  })
  take(source, `(?:every|each) (?:first|1st|last) (?<day>${DAY_NAME})`, ({ day }, words) => {
    weekdays.push({ words, days: weekdaysOf(day!) ?? [], isWhole: false })
    add(words, { unit: 'month', every: 1 })
  })
  take(source, '(?<loose>at least |at most |no more than |up to |maybe |more than )?(?<count>once|twice|(?:\\w+) times) ' +
    `(?:(?:a|an|per|each|every) (?<unit>${UNIT})|(?<word>daily|weekly|monthly))`, ({ count, unit, word, loose }, words) => {
    const times = count === 'once' ? 1 : count === 'twice' ? 2 : numberOf(count!.split(' ')[0])
    const isClear = loose === undefined && Number.isInteger(times)
    add(words, isClear ? { ...word === undefined ? unitOf(unit!) : RHYTHM_WORDS[word], count: times } : undefined)
  })
  const everySo = `(?:every|each) (?:single )?(?:(?<number>${NUMBER}) )?(?<unit>${UNIT})(?<loose> or so| or two| and a half)?`
  take(source, everySo, ({ number, unit, loose }, words) => {
    if (loose !== undefined) return add(words)
    const { every, ...rest } = unitOf(unit!)
    const times = number === undefined || /^an?$/.test(number) ? 1 : ORDINALS[number] ?? numberOf(number.replace(/(?<=\d)\D+$/, ''))
    add(words, { ...rest, every: every * times })
  })
  // "my daily report" names a thing.
  take(source, `(?<before>the |my |our |your |this |that )?(?<word>${either(Object.keys(RHYTHM_WORDS))})`, ({ before, word }, words) => {
    if (before !== undefined) return
    add(words, RHYTHM_WORDS[word!])
    if (word === 'nightly') parts.push({ words, parts: ['night'] })
  })
  const often = '(?:again and|over and) (?:again|over)|repeatedly|regularly|periodically|continually|constantly|continuously|from now on|' +
    'now and then|from time to time|on a regular basis|(?:every|each) time|whenever|recurring|keep (?:on )?(?:check|watch|look|monitor)ing'
  take(source, often, (_, words) => add(words))
}

const ORDINALS: Record<string, number> = { other: 2, second: 2, third: 3, fourth: 4, 'half an': 0.5 }

function unitOf (name: string): Pick<RhythmDemand, 'unit' | 'every'> {
  const unit = name.replace(/s$/, '').replace(/^min$/, 'minute').replace(/^hr$/, 'hour')
  switch (unit) {
    case 'second':
      return { unit: 'minute', every: 1 / 60 }
    case 'fortnight':
      return { unit: 'week', every: 2 }
    case 'quarter':
      return { unit: 'month', every: 3 }
    default:
      return { unit: unit as RhythmDemand['unit'], every: 1 }
  }
}

/** How many days lie ahead at the end of a span; months and years differ in length. */
function daysAhead (unit: 'day' | 'week' | 'month' | 'year', count: number): number[] {
  const [least, most] = { day: [1, 1], week: [7, 7], month: [28, 31], year: [365, 366] }[unit].map((each) => Math.round(each * count))
  return Array.from({ length: most - least + 1 }, (_, n) => least + n)
}

function takeDates (source: Source, { days, daysOfMonth, repeated, rhythms }: TimeWords, today: number) {
  take(source, `(?:on )?(?:the )?(?<date>${DATE})`, ({ date }, words) => {
    const found = dateOrNothing(date!)
    if (found === undefined) return
    const year = new Date(today * DAY).getUTCFullYear()
    const years = found.year === undefined ? [year, year + 1] : [found.year]
    days.push({ words, days: years.map((each) => dayNumber({ ...found, year: each })) })
    daysOfMonth.push({ words, days: [found.day] })
  })
  take(source, 'on (?:the )?(?<first>\\d{1,2})[./](?<second>\\d{1,2})[./]?(?:\\d{4})?', ({ first, second }, words) => {
    const [a, b] = [Number(first), Number(second)]
    const dates = [[a, b], [b, a]].filter(([day, month]) => month >= 1 && month <= 12 && day >= 1 && day <= 31)
    const year = new Date(today * DAY).getUTCFullYear()
    days.push({ words, days: dates.flatMap(([day, month]) => [0, 1].map((n) => dayNumber({ day, month, year: year + n }))) })
  })
  take(source, '(?:(?:on|every|each) (?:the )?|the )(?<days>\\d{1,2}(?:st|nd|rd|th)(?:(?:,? and |, )(?:the )?\\d{1,2}(?:st|nd|rd|th))*)' +
    '(?:(?: day)? of (?:the|each|every|a|this|next) month|' +
    '(?=\\s*(?:$|[,.;:!?]|at |around |every |each |in the ))|' +
    '(?<=\\bon the \\d{1,2}..)(?! (?:floor|street|avenue|page|line|row|column|item|try|attempt|time|version|file|one|place|' +
    'monitor|screen|day)))|' +
    '(?:on )?(?:every |each |the )?(?<end>first|last)(?: day)? of (?:the|each|every) month', (groups, words) => {
    const { days = groups.end === 'first' ? '1' : '31' } = groups
    daysOfMonth.push({ words, days: days.match(/\d+/g)!.map(Number) })
    if (!/(?:every|each) month$/.test(words)) return
    repeated.push(words)
    rhythms.push({ words, unit: 'month', every: 1 })
  })
}

/** Reads words that count from the day on which they were written, and months. */
function takeDaysAhead (source: Source, { days, waits, once, daysOfMonth, months, repeated, rhythms, parts }: TimeWords, today: number) {
  take(source, `in (?<number>${NUMBER})(?<more> and a half)? (?<unit>${AHEAD})(?<half> and a half)?|` +
    `(?<before>${NUMBER}) (?<later>${AHEAD}) from (?:now|today)`, ({ number, before, unit, later, more, half }, words) => {
    const text = (number ?? before)!
    const count = (/^an?$/.test(text) ? 1 : ORDINALS[text] ?? numberOf(text)) + (more ?? half ? 0.5 : 0)
    once.push(words)
    const { unit: name, every } = unitOf((unit ?? later)!)
    if (name === 'minute' || name === 'hour') waits.push({ words, ms: count * SECONDS[name] * 1_000 })
    else days.push({ words, days: daysAhead(name, count * every).map((day) => today + day) })
  })
  take(source, '(?<which>next|this) (?<unit>week|month)', ({ which, unit }, words) => {
    const month = monthOf(today) + (which === 'next' ? 1 : 0)
    const monday = today - weekdayOf(today) + (which === 'next' ? 7 : 0)
    const [from, length] = unit === 'week' ? [monday, 7] : [firstOf(month), daysIn(month)]
    days.push({ words, days: Array.from({ length }, (_, n) => from + n) })
  })
  take(source, '(?:at |by |towards )?(?:the )?(?<part>end|start|beginning|middle) of (?:the|each|every) month', ({ part }, words) => {
    const [from, to] = part === 'end' ? [25, 31] : part === 'middle' ? [10, 20] : [1, 7]
    daysOfMonth.push({ words, days: Array.from({ length: to - from + 1 }, (_, n) => from + n) })
    if (!/(?:every|each) month$/.test(words)) return
    repeated.push(words)
    rhythms.push({ words, unit: 'month', every: 1, count: 1 })
  })
  take(source, `(?:in|every|each) (?<month>${either(MONTHS)})`, ({ month }, words) =>
    months.push({ words, month: MONTHS.indexOf(month!) }))
  take(source, 'the day after tomorrow', (_, words) => {
    once.push(words)
    days.push({ words, days: [today + 2] })
  })
  take(source, '(?<word>tomorrow|today|tonight)', ({ word }, words) => {
    once.push(words)
    days.push({ words, days: word === 'tomorrow' ? [today + 1] : [today] })
    if (word === 'tonight') parts.push({ words, parts: ['evening', 'night'] })
  })
}

function dateOrNothing (text: string) {
  try {
    return dateOf(text)
  } catch {
    return undefined
  }
}

function takeTimes (source: Source, { times }: TimeWords, isEnglish: boolean) {
  if (!isEnglish) return
  const add = (words: string, found: number[][]) => {
    times.push({ words, times: found, tolerance: /around|about|roughly|approximately|~|ish|or so/.test(words) ? 3_600 : 0 })
  }
  const near = '(?:at |@ ?|around |about |roughly |approximately |~ ?)*'
  take(source, `${near}(?<side>half past|quarter past|quarter to) (?<hour>${HOUR})`, ({ side, hour }, words) => {
    const shift = side === 'half past' ? 1_800 : side === 'quarter past' ? 900 : -900
    add(words, [secondsOf(hour!).map((second) => mod(second + shift, 86_400))])
  })
  const list = `(?:${PLAIN_HOUR})(?:(?:,? and |, | & )(?:at )?(?:${PLAIN_HOUR}))*`
  take(source, `${near}(?<list>${list})(?: ?o'?clock)?(?:-?ish| or so)?`, ({ list }, words) => add(words, timesIn(list!)))
  take(source, `(?:at|@|around|about) (?<list>(?:${HOUR})(?:(?:,? and |, )(?:at )?(?:${HOUR}))*)(?: ?-?ish| or so)?${AFTER_HOUR}`,
    ({ list }, words) => add(words, timesIn(list!)))
  take(source, `(?<hour>${HOUR})(?= (?:o'?clock )?(?:in the (?:${PART})|at night))`, ({ hour }, words) => add(words, [secondsOf(hour!)]))
}

const timesIn = (list: string): number[][] => list.split(/,? and |, | & /).map((each) => secondsOf(each.replace(/^at /, '').trim()))

const MINUTES: Record<string, number> = { fifte: 15, thirt: 30, forty: 45 }

/** The seconds of the day that a time of day may mean: a bare hour up to 12 may be in both halves of the day. */
function secondsOf (text: string): number[] {
  if (text === 'noon' || text === 'midday') return [12 * 3_600]
  if (text === 'midnight') return [0]
  const spoken = text.replace(/ (fifteen|thirty|forty[- ]five)$/, (_, minutes) => `:${MINUTES[minutes.slice(0, 5)]}`)
  const [, number = spoken, minute = '0', half] = /^(\w+?)(?:[:.](\d\d))? ?([ap]m)?$/.exec(spoken) ?? []
  const hour = numberOf(number)
  const at = (hours: number) => hours * 3_600 + Number(minute) * 60
  if (half !== undefined) return [at(hour % 12 + (half === 'pm' ? 12 : 0))]
  return hour < 1 || hour > 12 || /^0\d/.test(number) ? [at(hour)] : [at(hour % 12), at(hour % 12 + 12)]
}

function takeDays (source: Source, { weekdays, days, once, repeated, rhythms }: TimeWords, today: number) {
  const behind = `(?:(?=(?<behind>\\s*(?:$|[,.;:!?)]|at\\b|and\\b|in the\\b|${PART})))|)`
  const lead = '(?:every|each)(?: single)?(?: (?:other|second|alternate))?|on(?: the)?|next|this|coming|to|only'
  take(source, "(?<before>(?:is|it's|was|be|an?|the|like|for|if|unless|when|my|our|your|first|second|third|fourth|last) )?" +
    `(?:(?<lead>${lead})(?: on)? )?` +
    `(?<list>${DAY_LIST}|${SHORT_LIST})${behind}`, ({ lead = '', list, behind, before }, words) => {
    const isPlural = /days(?!\w)|weekends/.test(list!)
    if (lead === '' && !isPlural && (behind === undefined || before !== undefined)) return
    const named = list!.split(/,? and |,? or |, | & /).flatMap((each) => weekdaysOf(each) ?? [])
    const isSet = /week|work|business/.test(list!)
    weekdays.push({ words, days: named, isWhole: !/ or |weekend/.test(list!) && named.length > 1 })
    const isRepeated = /^(?:every|each)/.test(lead) || isPlural
    if (isRepeated) {
      repeated.push(words)
      if (!isSet) rhythms.push({ words, unit: 'week', every: /other|second|alternate/.test(lead) ? 2 : 1 })
      return
    }
    if (named.length > 1 && !isSet) return
    once.push(words)
    const ahead = named.map((day) => today + mod(day - weekdayOf(today), 7))
    const later = lead === 'next' || ahead.includes(today) ? ahead.map((day) => day + 7) : []
    days.push({ words, days: [...ahead, ...later] })
  })
}

function takeParts (source: Source, { parts, repeated, once, rhythms, days }: TimeWords, today: number) {
  const lead = '(?:every|each)(?: single)?|in the|this|at|on|;|early|late'
  take(source, 'first thing(?: in the morning)?', (_, words) => parts.push({ words, parts: ['morning'] }))
  take(source, '(?:at |during |over )lunch(?:time| ?break)?|(?:at )?lunchtime', (_, words) => parts.push({ words, parts: ['lunch'] }))
  take(source, `(?:(?<lead>${lead}) ?(?:in the )?)?(?<list>(?:${PART})(?:(?: and |, )(?:every |each |the |in the )?(?:${PART}))*)`,
    ({ lead = '', list }, words) => {
      if (lead === '' && !/s$| and /.test(list!) && source.text !== words) return
      const named = [...new Set(list!.match(new RegExp(either(Object.keys(PARTS)), 'g'))!)]
      parts.push({ words: words.replace(/^; ?/, ''), parts: named })
      if (/^(?:every|each)/.test(lead)) {
        repeated.push(words)
        rhythms.push({ words, unit: 'day', every: 1, ...(named.length > 1 && { count: named.length }) })
      }
      if (lead !== 'this') return
      once.push(words)
      days.push({ words, days: [today] })
    })
}

function takeKinds (source: Source, { once }: TimeWords) {
  const only = '(?:just|only) (?:this )?once|once only|one time only|(?:only|just) one time|a single time|one[- ]off'
  take(source, `${only}|once(?=,? (?:at|on|in|;))`, (_, words) => once.push(words))
}
