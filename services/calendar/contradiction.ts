import { slotsBetween } from './calendar.ts'
import { isInPart, secondsOf } from './clock-words.ts'
import { DAY, monthOf, weekdayOf } from './days.ts'
import { findTimes } from './find-times.ts'
import { parseSchedule } from './parse-schedule.ts'
import { hasDays, type Interval, type Phrase, readPhrase } from './phrase.ts'
import { BadSchedule } from './schedule-errors.ts'
import { isOnce, type Machine, type Plan } from './schedule-plan.ts'
import { localTime } from './zone.ts'

/** The most characters of a text that is checked. Longer texts are mostly about other things. */
const LONGEST_WORDS = 4_000
/** The most planned times that are compared, and the most days. */
const MOST_TIMES = 400
const MOST_DAYS = 14
/** The tolerance for a wait such as "in two hours": this share of the wait, but at least WAIT_MS milliseconds. */
const WAIT_SHARE = 0.1
const WAIT_MS = 3 * 60_000
const QUOTED = /"[^"\n]*"|\u201C[^\u201D\n]*\u201D|\u00AB[^\u00BB\n]*\u00BB|`[^`\n]*`|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu
/** Matches paths and file names, but not "24/12" and "7.30". */
const NAMES = /(?<!\S)(?!\d+[./:-]\d)(?:\S*[/\\_@]\S*|\S+\.[a-z]\w{1,4}(?![\w.]))/gi
/** Replacements of phrases by words that the parser understands. */
const SAME: Array<[words: RegExp, other: string]> = [
  [QUOTED, ' ; '],
  [NAMES, ' ; '],
  [/\bfirst thing(?: in the morning)?/g, 'in the morning'],
  [/\b(?:(?:at|by|towards) )?(?:the )?end of (?:each|every) month\b/g, 'on the last day of every month']
]
/** Matches the subject of a request, whose times do not count: "that the meeting is at 3" in "remind me at 8 that the meeting is at 3". */
const MATTER = /\s(?:that|about (?:the|my|our|his|her|their))\s.*/
/** Matches words that show that a text is English. Only in such a text are numbers taken for hours. */
const ENGLISH = /\b(?:the|every|each|tomorrow|today|tonight|please|and|remind|check|send|tell|my|with|this|daily|weekly)\b/
/** Matches an hour such as "at 8", which the parser does not accept alone, but no number of things or people. */
const BARE_HOUR = new RegExp('(?<!\\S)at \\d{1,2}(?:(?:, | and )\\d{1,2}(?!\\d))*' +
  "(?![\\w%\u00B0\u20AC$]|[.:]\\d| (?:percent|degrees|star|of)\\b| (?!(?:always|this|as|is|us)\\b)[a-z']*[a-rt-z]s\\b)", 'g')
/** Matches words after a time that change it, so that the time alone is not what was meant. */
const MORE = /^,?\s*(?:except|but|or|between|not|unless|other)\b/

const NEAR = /\b(?:around|about|roughly|approximately)\b|~|\dish\b|\bor so\b/

/** How a message is compared: whether it is English, and by how many seconds a planned time can differ from the time in the message. */
interface Written extends Machine {
  isEnglish: boolean
  tolerance: number
}

type PlannedTimes = ReturnType<typeof plannedTimes>

/**
 * Returns the words in a person's message that a schedule contradicts: by its days, parts of the day, hours,
 * rhythm, or by running once instead of repeatedly or the reverse. Returns undefined if the schedule can be what
 * the words mean. Only English is understood; anything that the words leave open is allowed.
 */
export async function findContradiction (words: string, plan: Plan, machine: Machine): Promise<string | undefined> {
  if (words.length > LONGEST_WORDS) return undefined
  const written = { ...machine, isEnglish: ENGLISH.test(words.toLowerCase()), tolerance: NEAR.test(words) ? 3_600 : 60 }
  return firstIfAll(phrasesIn(words).map((text) => wrongWords(text, plan, written)))
}

/** Returns the first contradiction if every phrase or reading contradicts the schedule; undefined otherwise. */
async function firstIfAll (found: Array<Promise<string | undefined>>): Promise<string | undefined> {
  const wrong = await Promise.all(found)
  return wrong.includes(undefined) ? undefined : wrong[0]
}

/**
 * Returns the phrases about time in a message. All phrases together are one if they can be parsed as one;
 * otherwise those of each sentence; otherwise each phrase by itself.
 */
function phrasesIn (words: string): string[] {
  const plain = SAME.reduce((text, [from, to]) => text.replace(from, to), words.toLowerCase())
  const sentences = plain.split(/(?<=[.!?])\s+|\n+/).map((sentence) => {
    const head = sentence.replace(MATTER, '')
    return [head, sentence].map(fragmentsOf).find((list) => list.length > 0) ?? []
  }).filter((list) => list.length > 0)
  const isOne = (texts: string[]) => isReadable(texts.join(' '))
  if (isOne(sentences.flat())) return [sentences.flat().join(' ')]
  return sentences.flatMap((texts) => isOne(texts) ? [texts.join(' ')] : texts)
}

function fragmentsOf (sentence: string): string[] {
  const found = [...findTimes(sentence)].filter(({ to, isTurned }) => isTurned !== 'before' && !MORE.test(sentence.slice(to)))
  const hours = [...sentence.matchAll(BARE_HOUR)].map(({ 0: text, index: from }) => ({ from, to: from + text.length }))
    .filter(({ from }) => !found.some((each) => from >= each.from && from < each.to))
  return [...found, ...hours].toSorted((a, b) => a.from - b.from).map(({ from, to }) => sentence.slice(from, to))
}

/** Returns the start of today in the time zone. For a parser that is given this time, all times of today are still ahead. */
const startOfDay = ({ timezone, now }: Machine) => now - localTime(timezone, now) % DAY

const isReadable = (text: string) => readings(text, { timezone: 'UTC', now: 0 }).length > 0

/** Returns the possible meanings of a text. An ambiguous hour is parsed as a.m. and as p.m. */
function readings (text: string, machine: Machine): Phrase[] {
  const halves = ['', 'am', 'pm'].map((half) => text.replace(/\bat (\d{1,2})(?![\w:.]| ?[ap]m)/g, `at $1${half}`))
  const found = halves.map((each) => {
    try {
      return readPhrase(each, machine)
    } catch (error) {
      if (error instanceof BadSchedule) return undefined
      throw error
    }
  })
  return (found[0] === undefined ? found.slice(1) : found.slice(0, 1)).filter((phrase) => phrase !== undefined)
}

async function wrongWords (text: string, plan: Plan, written: Written): Promise<string | undefined> {
  const phrases = readings(text, { timezone: written.timezone, now: startOfDay(written) })
  const wrong = await firstIfAll(phrases.map((phrase) => wrongOf(text, phrase, plan, written)))
  return wrong === undefined || text.includes(wrong) ? wrong : wrong.replace(/(?<=\d)[ap]m$/, '')
}

async function wrongOf (text: string, phrase: Phrase, plan: Plan, { timezone, now, isEnglish, tolerance }: Written) {
  const { meaning, interval, hours = '' } = phrase
  // Models often write UTC or GMT without a reason, so such a zone counts as no zone.
  const isPlain = plan.kind !== 'calendar' || /^(?:etc\/)?(?:utc|gmt|zulu)/i.test(plan.timezone)
  const planned = plannedTimes(plan, phrase.zone ?? (isPlain ? timezone : plan.timezone), now)
  const isSingle = isOnce(plan) || plan.maxRuns === 1
  const hasDay = Object.keys(meaning).some((field) => !['times', 'part', 'isTonight'].includes(field)) || meaning.isTonight === true
  if (planned.moments.length === 0 || (!hasDay && !isEnglish)) return undefined
  if (hasDay && isSingle !== (interval === undefined)) return text
  const days = text.replace(hours, ' ').replace(/\s+/g, ' ').trim() || text
  if (hasDay && interval === undefined && isWrongDay(phrase, planned, now)) return days
  if (isWrongHour(phrase, planned.seconds, tolerance)) return hours || text
  if (interval === undefined || !hasDay) return undefined
  const meant = await parseSchedule({ interval: phrase.text }, { timezone, now }).catch(() => undefined)
  return meant !== undefined && isOtherRhythm(interval, plannedTimes(meant, timezone, now), planned) ? days : undefined
}

/** Returns the planned times of a schedule, and for each its local day (counted from 1970-01-01) and its local second of the day. */
function plannedTimes (plan: Plan, zone: string, now: number) {
  const moments = slotsBetween(plan, now, Infinity, MOST_TIMES)
  const local = moments.map((at) => localTime(zone, at))
  return { moments, days: local.map((at) => Math.floor(at / DAY)), seconds: local.map((at) => Math.floor(at % DAY / 1_000)) }
}

function isWrongDay ({ meaning, once }: Phrase, planned: PlannedTimes, now: number): boolean {
  const { moments: [moment], days: [day], seconds: [second] } = planned
  const { wait, weekdays, daysOfMonth, isTonight } = meaning
  if (wait?.period.unit === 'exact') {
    return Math.abs(moment - now - wait.period.everyMs) > Math.max(wait.period.everyMs * WAIT_SHARE, WAIT_MS)
  }
  const read = once?.once === undefined ? undefined : Date.parse(`${String(once.once).slice(0, 10)}T00:00Z`) / DAY
  const days = meaning.day ?? weekdays?.coming ?? daysOfMonth?.coming ?? (read === undefined ? undefined : [read])
  if (days === undefined) return false
  // A time "tonight" can be after midnight, and midnight can count to the day before.
  return !(isTonight ? days.slice(0, 1) : days).includes(day) && !(days[0] === day - 1 && second < (isTonight ? 6 * 3_600 : 60))
}

function isWrongHour ({ meaning, interval }: Phrase, planned: number[], tolerance: number): boolean {
  const { times, part, window } = meaning
  /** True unless each planned time is one of the meant times and each meant time is planned. */
  const areWrong = <T>(meant: T[], isMeant: (second: number, each: T) => boolean) =>
    !planned.every((second) => meant.some((each) => isMeant(second, each))) ||
    !meant.every((each) => planned.some((second) => isMeant(second, each)))
  if (window !== undefined) {
    const [from, to] = [secondsOf(window[0])[0], secondsOf(window[1]).at(-1)! || 86_400]
    return planned.some((second) => second < from || second > to)
  }
  if (times !== undefined) {
    const near = (second: number, other: number) => Math.min(Math.abs(second - other), 86_400 - Math.abs(second - other)) <= tolerance
    const meant = interval?.at?.map((second) => [second]) ?? times.map(secondsOf)
    return areWrong(meant, (second, each) => each.some((other) => near(second, other)))
  }
  return part !== undefined && areWrong(part.names, (second, name) => isInPart(name, second, 'planned'))
}

const gapsOf = (list: number[]): number[] => list.slice(1).map((each, at) => each - list[at])
const same = (...lists: number[][]) => new Set(lists.map((list) => [...new Set(list)].toSorted((a, b) => a - b).join())).size === 1

/** Whether the planned times come more or less often than the words say, or on other days. */
function isOtherRhythm (interval: Interval, meant: PlannedTimes, planned: PlannedTimes): boolean {
  const { period, weekdays, window, minute } = interval
  if (period.unit === 'exact' || period.unit === 'hour') {
    const [each, real] = [meant, planned].map(({ moments }) => gapsOf(moments).toSorted((a, b) => a - b))
    // Equal except for rounding and for clock changes.
    const isNear = Math.abs(each[0] - real[0]) <= Math.max(1_000, each[0] * 0.02, each[0] >= DAY / 2 ? 3_600_000 : 0)
    return !isNear || (window !== undefined && !same(meant.days.slice(0, 99), planned.days.slice(0, 99))) ||
      (minute !== undefined && !same(meant.seconds.map((second) => second % 3_600), planned.seconds.map((second) => second % 3_600)))
  }
  const perDay = planned.days.filter((day) => day === planned.days.at(-2)).length
  const [first, second] = [meant, planned].map(({ days }) => [...new Set(days)].slice(1, MOST_DAYS))
  if (perDay > Math.max(1, meant.days.filter((day) => day === meant.days.at(-2)).length)) return true
  if (period.unit === 'year' ? hasDays(interval) : period.every === 1 && (hasDays(interval) || period.unit === 'day')) {
    // Only one of the two schedules can still run today, so both are compared from the later first day on.
    const from = Math.max(first[0], second[0])
    const [ours, theirs] = [first, second].map((days) => days.filter((day) => day >= from).slice(0, 6))
    return ours.join() !== theirs.join()
  }
  if (period.unit === 'month' || period.unit === 'year') return !same(...[first, second].map((days) => gapsOf(days.map(monthOf))))
  return !same(gapsOf(first), gapsOf(second)) || (weekdays !== undefined && !same(first.map(weekdayOf), second.map(weekdayOf)))
}
