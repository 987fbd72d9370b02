import { slotsBetween } from './calendar.ts'
import { isInPart, secondsOf } from './clock-words.ts'
import { DAY, monthOf, weekdayOf } from './days.ts'
import { findTimes } from './find-times.ts'
import { parseSchedule } from './parse-schedule.ts'
import { hasDays, type Interval, type Phrase, readPhrase } from './phrase.ts'
import { BadSchedule } from './schedule-errors.ts'
import { isOnce, type Machine, type Plan } from './schedule-plan.ts'
import { localTime } from './zone.ts'

/** Longer texts are about much else; characters. */
const LONGEST_WORDS = 4_000
/** The planned times that are compared, and the days of them. */
const MOST_TIMES = 400
const MOST_DAYS = 14
/** How far a time "in two hours" may be from that, in its share, and at least; milliseconds. */
const WAIT_SHARE = 0.1
const WAIT_MS = 3 * 60_000
const QUOTED = /"[^"\n]*"|\u201C[^\u201D\n]*\u201D|\u00AB[^\u00BB\n]*\u00BB|`[^`\n]*`|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu
/** Paths and names of files; not "24/12" and "7.30". */
const NAMES = /(?<!\S)(?!\d+[./:-]\d)(?:\S*[/\\_@]\S*|\S+\.[a-z]\w{1,4}(?![\w.]))/gi
/** Words that stand for others. */
const SAME: Array<[words: RegExp, other: string]> = [
  [QUOTED, ' ; '],
  [NAMES, ' ; '],
  [/\bfirst thing(?: in the morning)?/g, 'in the morning'],
  [/\b(?:(?:at|by|towards) )?(?:the )?end of (?:each|every) month\b/g, 'on the last day of every month']
]
/** Words behind which the matter follows: "remind me at 8 that the meeting is at 3". */
const MATTER = /\s(?:that|about (?:the|my|our|his|her|their))\s.*/
/** Words by which a text is English: its numbers are hours only there. */
const ENGLISH = /\b(?:the|every|each|tomorrow|today|tonight|please|and|remind|check|send|tell|my|with|this|daily|weekly)\b/
/** An hour that is no text about a time by itself, and no number of things. */
const BARE_HOUR = new RegExp('(?<!\\S)at \\d{1,2}(?:(?:, | and )\\d{1,2}(?!\\d))*' +
  "(?![\\w%\u00B0\u20AC$]|[.:]\\d| (?:percent|degrees|star|of)\\b| (?!(?:always|this|as|is|us)\\b)[a-z']*[a-rt-z]s\\b)", 'g')
/** Behind these, words about a time are not all that was said of it. */
const MORE = /^,?\s*(?:except|but|or|between|not|unless|other)\b/

const NEAR = /\b(?:around|about|roughly|approximately)\b|~|\dish\b|\bor so\b/

/** A message: whether it is English, and how far an hour may be from the one that it names, in seconds. */
interface Written extends Machine {
  isEnglish: boolean
  tolerance: number
}

type PlannedTimes = ReturnType<typeof plannedTimes>

/**
 * Returns the words of a person that a schedule contradicts: its days, parts of the day, hours, rhythm, or whether it runs once or again
 * and again. Undefined where all of it can be meant. Only English is understood; what words leave open is free.
 */
export async function findContradiction (words: string, plan: Plan, machine: Machine): Promise<string | undefined> {
  if (words.length > LONGEST_WORDS) return undefined
  const written = { ...machine, isEnglish: ENGLISH.test(words.toLowerCase()), tolerance: NEAR.test(words) ? 3_600 : 60 }
  return firstIfAll(phrasesIn(words).map((text) => wrongWords(text, plan, written)))
}

/** The first of the contradictions, where each of the words or readings is one. */
async function firstIfAll (found: Array<Promise<string | undefined>>): Promise<string | undefined> {
  const wrong = await Promise.all(found)
  return wrong.includes(undefined) ? undefined : wrong[0]
}

/** The texts about a time in a message: all its words about it as one where they are, or those of each sentence, or each by itself. */
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

/** At the start of a day everything of it is still to come. */
const startOfDay = ({ timezone, now }: Machine) => now - localTime(timezone, now) % DAY

const isReadable = (text: string) => readings(text, { timezone: 'UTC', now: 0 }).length > 0

/** What a text may say: hours that may be in both halves of the day are read as both. */
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
  // A zone that stands for none is what models write without thinking.
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

/** The planned times of a schedule, and in local time their days (from 1970-01-01) and seconds of the day. */
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
  // What is done tonight may be done after midnight, and midnight is the end of a day, too.
  return !(isTonight ? days.slice(0, 1) : days).includes(day) && !(days[0] === day - 1 && second < (isTonight ? 6 * 3_600 : 60))
}

function isWrongHour ({ meaning, interval }: Phrase, planned: number[], tolerance: number): boolean {
  const { times, part, window } = meaning
  /** Whether each time is one of those, and each of those is there. */
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

/** Whether times come less or more often than words say, or on other days. */
function isOtherRhythm (interval: Interval, meant: PlannedTimes, planned: PlannedTimes): boolean {
  const { period, weekdays, window, minute } = interval
  if (period.unit === 'exact' || period.unit === 'hour') {
    const [each, real] = [meant, planned].map(({ moments }) => gapsOf(moments).toSorted((a, b) => a - b))
    // Equal but for what the clock loses, and for changes of the clocks.
    const isNear = Math.abs(each[0] - real[0]) <= Math.max(1_000, each[0] * 0.02, each[0] >= DAY / 2 ? 3_600_000 : 0)
    return !isNear || (window !== undefined && !same(meant.days.slice(0, 99), planned.days.slice(0, 99))) ||
      (minute !== undefined && !same(meant.seconds.map((second) => second % 3_600), planned.seconds.map((second) => second % 3_600)))
  }
  const perDay = planned.days.filter((day) => day === planned.days.at(-2)).length
  const [first, second] = [meant, planned].map(({ days }) => [...new Set(days)].slice(1, MOST_DAYS))
  if (perDay > Math.max(1, meant.days.filter((day) => day === meant.days.at(-2)).length)) return true
  if (period.unit === 'year' ? hasDays(interval) : period.every === 1 && (hasDays(interval) || period.unit === 'day')) {
    // One of them may still come today.
    const from = Math.max(first[0], second[0])
    const [ours, theirs] = [first, second].map((days) => days.filter((day) => day >= from).slice(0, 6))
    return ours.join() !== theirs.join()
  }
  if (period.unit === 'month' || period.unit === 'year') return !same(...[first, second].map((days) => gapsOf(days.map(monthOf))))
  return !same(gapsOf(first), gapsOf(second)) || (weekdays !== undefined && !same(first.map(weekdayOf), second.map(weekdayOf)))
}
