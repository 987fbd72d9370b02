import type { When } from '../contracts/task-control.ts'
import { isFiller } from '../lib/fillers.ts'
import { SCHEDULE_LIMITS, type Schedule } from '../../schemas/schedule.ts'
import { looksLikeCron } from './cron-line.ts'
import { timesOfDay } from './calendar.ts'
import { findContradiction } from './contradiction.ts'
import { describe } from './describe.ts'
import { upcoming } from './due.ts'
import { parseSchedule } from './parse-schedule.ts'
import { type Phrase, readPhrase } from './phrase.ts'
import { BadSchedule, check, hintOf } from './schedule-errors.ts'
import { readField } from './time-rules.ts'
import type { Machine, Plan } from './schedule-plan.ts'

/** The number of planned times that a preview shows. */
const SHOWN = 5
/** A schedule with shorter gaps than this, in milliseconds, must be confirmed. */
const OFTEN_MS = 60 * 60_000
const DAY_MS = 24 * OFTEN_MS
const HALF_YEAR_MS = 183 * DAY_MS

/** A parsed schedule. `words`: its description. `next`: the next planned times, milliseconds since the Unix epoch. */
interface ReadSchedule {
  schedule: Schedule
  plan: Plan
  words: string
  zone: string
  next: number[]
}

/** Parses a schedule and describes when it runs. Throws BadSchedule (400). */
export async function readSchedule (schedule: Schedule, { timezone, now }: Machine): Promise<ReadSchedule> {
  const plan = await parseSchedule(schedule, { timezone, now })
  const zone = plan.kind === 'calendar' ? plan.timezone : schedule.timezone ?? timezone
  return { schedule, plan, words: describe(plan, schedule, zone), zone, next: upcoming(plan, now, SHOWN) }
}

/**
 * Parses a person's text about a single time or repeated times to a schedule. Throws BadSchedule (400) for a text that cannot
 * be parsed or is ambiguous; the message says what can be written. `zone`: the time zone, if one is stated beside the text.
 */
export async function readText (written: string, { zone: stated, ...machine }: Machine & { zone?: string }): Promise<ReadSchedule> {
  if (written.length > SCHEDULE_LIMITS.text) throw unread(`${written.slice(0, 40)}…`)
  // Throws for a time zone that does not exist, before the zone is used.
  if (stated !== undefined) await parseSchedule({ interval: 'daily', timezone: stated }, machine)
  const moment = momentOf(written)
  if (moment !== undefined) return readSchedule({ once: moment, timezone: stated }, machine)
  if (looksLikeCron(written)) return readSchedule({ interval: written.trim(), timezone: stated }, machine)
  const phrase = phraseOf(written.replace(FRACTION, ''), { ...machine, timezone: stated ?? machine.timezone })
  const { once, zone: timezone = stated, start } = phrase
  if (once !== undefined) return readSchedule({ ...once, timezone }, machine)
  const interval = phrase.zone === undefined && start === undefined ? written.trim() : phrase.text
  const read = await readSchedule({ interval, timezone }, machine)
  return start === undefined ? read : readSchedule({ ...read.schedule, startAt: await startOf(phrase, read, machine) }, machine)
}

function phraseOf (written: string, machine: Machine): Phrase {
  const phrase = readPhrase(written, machine)
  if (phrase === undefined) throw unread(written)
  return phrase
}

/**
 * Returns when a repeated schedule starts: the time that the words for its first day name or, if the schedule
 * itself has times of day, one of these on that day.
 */
async function startOf (repeated: Phrase, { zone, plan }: ReadSchedule, machine: Machine): Promise<number> {
  const { start = '', interval } = repeated
  const { once = {}, meaning } = readStart(repeated, { ...machine, timezone: zone })
  const [first] = (await readSchedule({ ...once, timezone: zone }, machine)).next
  check(meaning.date === undefined || first <= machine.now + HALF_YEAR_MS, 'text',
    `"${start}" is over in this year: write the first day with its year, as in "2027-03-02".`)
  if (interval?.at === undefined) return first
  const day = String(once.once).slice(0, 10)
  const clock = new Date(upcoming(plan, machine.now, 1)[0]).toLocaleTimeString('sv', { timeZone: zone })
  return (await readSchedule({ once: `${day}T${clock}`, timezone: zone }, { ...machine, now: machine.now - DAY_MS })).next[0]
}

/**
 * Parses the words for the first day of repeated times. An hour alone means today; if it is over, throws
 * BadSchedule (400), which says what to write instead.
 */
function readStart ({ text, start = '', interval }: Phrase, machine: Machine): Phrase {
  const [, hour] = /^(?:at )?(\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|noon|midnight)(?= |$)/.exec(start) ?? []
  try {
    const first = phraseOf(start, machine)
    if (first.once === undefined) throw unread(start)
    return first
  } catch (error) {
    if (!(error instanceof BadSchedule) || hour === undefined) throw error
    const clock = /^\d+$/.test(hour) ? `${hour}:00` : hour
    const isShort = interval?.period.unit === 'exact' || interval?.period.unit === 'hour'
    const other = isShort ? `with its end, as in "${text} between 8am and 6pm"` : `"${text} at ${clock}"`
    throw new BadSchedule('text', `"${start}" is not a start that is still to come: write "${text} from ${clock} tomorrow", or ${other}.`)
  }
}

/**
 * Parses the time that a model extracted from the user's words. Throws BadSchedule (400) for a time that cannot
 * be parsed. Returns undefined if the model gave no time, as for work that has to be done now.
 */
export async function readWhen ({ at = '', every = '', zone = '' }: When, machine: Machine): Promise<ReadSchedule | undefined> {
  const place = { ...machine, zone: NO_ZONE.test(zone.trim()) || isFiller(zone) ? undefined : zone.trim() }
  const [first, often] = [at, every].map((text) => NO_TIME.test(text.trim()) || isFiller(text) ? '' : text.trim())
  if (often === '') return first === '' ? undefined : readText(first, place)
  const read = await readText(often.replace(/^(?=\d+ (?:day|week|month)s? on )/, 'every '), place)
  const { interval } = read.schedule
  if (first === '' || interval === undefined) return read
  if (Object.keys(readField('at', `at ${first}`) ?? {}).join() !== 'times') {
    return readSchedule({ ...read.schedule, startAt: (await readText(first, place)).next[0] }, machine)
  }
  return readPhrase(interval, machine)?.interval?.at === undefined ? readSchedule({ ...read.schedule, at: first }, machine) : read
}

const NO_TIME = /^(?:(?:right )?now|right away|immediately|at once|as soon as possible|asap|in the background|once|no|never)[.!]?$/i
const NO_ZONE = /^\W*(?:(?:the |your )?(?:local|user'?s?|system|machine|default|current|auto|same)\b.*|time ?zone|zone|iana\b.*)\W*$/i
/** Matches milliseconds, which models write after local times. */
const FRACTION = /(?<=^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)\.\d+$/

/** Returns the moment of an ISO time with Z or an offset, in milliseconds since the Unix epoch; undefined for other texts. */
function momentOf (text: string): number | undefined {
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d|[+-]\d\d)$/i.exec(text.trim())
  const [, date, time, offset = ''] = iso ?? []
  const at = Date.parse(`${date}T${time}${offset.length === 3 ? `${offset}:00` : offset.toUpperCase()}`)
  return Number.isNaN(at) ? undefined : at
}

/**
 * Returns why a person should confirm a schedule, as a sentence: the schedule contradicts the text that the
 * person has `written`, or runs more often than hourly. Returns undefined if neither is the case.
 */
export async function whyConfirm (read: ReadSchedule, written: string | undefined, machine: Machine): Promise<string | undefined> {
  const contradicted = written === undefined ? undefined : await findContradiction(written, read.plan, machine)
  if (contradicted !== undefined) return `It would run ${read.words}, but the words are ${JSON.stringify(contradicted)}.`
  const gaps = read.next.slice(1).map((at, n) => at - read.next[n])
  return gaps.some((gap) => gap < OFTEN_MS)
    ? `It would run ${read.words}, which is ${timesADay(read.plan).toLocaleString('en')} times a day.`
    : undefined
}

/** Returns how often a plan runs on each day on which it runs at all. */
function timesADay (plan: Plan): number {
  if (plan.kind === 'calendar') return timesOfDay(plan.times).length
  return plan.kind === 'exact' ? Math.round(DAY_MS / plan.everyMs) : 1
}

const unread = (text: string) => new BadSchedule('text',
  `${JSON.stringify(text)} cannot be read as a time. ${hintOf(text)}Say it in English, like "tomorrow at 5pm", "in 2 hours", ` +
    '"on 24 december at 9:00", "daily at 9", "every weekday at 8", "every other friday", "first monday of the month", ' +
    '"every 10 minutes between 9 and 17 on weekdays", "except sundays", or as a cron line.')
