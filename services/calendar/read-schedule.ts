import type { When } from '../contracts/task-control.ts'
import { isFiller } from '../lib/fillers.ts'
import { SCHEDULE_LIMITS, type Schedule } from '../../schemas/schedule.ts'
import { looksLikeCron } from './cron-line.ts'
import { clocksIn, readClock } from './clock-words.ts'
import { findContradiction } from './contradiction.ts'
import { describe } from './describe.ts'
import { upcoming } from './due.ts'
import { parseSchedule } from './parse-schedule.ts'
import { type Phrase, readPhrase } from './phrase.ts'
import { BadSchedule } from './schedule-errors.ts'
import type { Plan } from './schedule-plan.ts'

/** Times that a preview shows. */
const SHOWN = 5
/** What words ask for more often than this must be confirmed; milliseconds. */
const OFTEN_MS = 60 * 60_000
const DAY_MS = 24 * OFTEN_MS

interface Now {
  /** The machine's time zone. */
  timezone: string
  now: number
}

/** A schedule as it was understood. */
interface ReadSchedule {
  schedule: Schedule
  plan: Plan
  words: string
  zone: string
  next: number[]
}

/** Parses a schedule and says when it runs. Throws BadSchedule (400). */
export async function readSchedule (schedule: Schedule, { timezone, now }: Now): Promise<ReadSchedule> {
  const plan = await parseSchedule(schedule, { timezone, now })
  const zone = schedule.timezone ?? timezone
  return { schedule, plan, words: describe(plan, schedule, zone), zone, next: upcoming(plan, now, SHOWN) }
}

/**
 * Reads what a person wrote about a time, one or repeated, as a schedule. Throws BadSchedule (400), which says what can be written, for
 * what cannot be read or may mean two things.
 */
export async function readText (written: string, { zone: stated, ...machine }: Now & { zone?: string }): Promise<ReadSchedule> {
  if (written.length > SCHEDULE_LIMITS.text) throw unread(`${written.slice(0, 40)}…`)
  // A zone that does not exist is refused before it is counted in.
  if (stated !== undefined) await parseSchedule({ interval: 'daily', timezone: stated }, machine)
  const moment = momentOf(written)
  if (moment !== undefined) return readSchedule({ once: moment }, machine)
  if (looksLikeCron(written)) return readSchedule({ interval: written.trim(), ...place(stated) }, machine)
  const phrase = phraseOf(written, { ...machine, timezone: stated ?? machine.timezone })
  const zone = phrase.zone ?? stated
  if (phrase.once !== undefined) return readSchedule({ ...phrase.once, ...place(zone) }, machine)
  const interval = phrase.zone === undefined && phrase.start === undefined ? written.trim() : phrase.text
  const read = await readSchedule({ interval, ...place(zone) }, machine)
  if (phrase.start === undefined) return read
  const startAt = await startOf(phrase, read, machine)
  return readSchedule({ ...read.schedule, startAt }, machine)
}

const place = (zone: string | undefined) => zone === undefined ? {} : { timezone: zone }

function phraseOf (written: string, machine: Now): Phrase {
  const phrase = readPhrase(written, machine)
  if (phrase === undefined) throw unread(written)
  return phrase
}

/** Returns the first time of a repeated schedule on its first day, or the time of that day that is said with it. */
async function startOf ({ start = '', interval }: Phrase, { zone, plan }: ReadSchedule, machine: Now): Promise<number> {
  const { once } = phraseOf(start, { ...machine, timezone: zone })
  if (once === undefined) throw unread(start)
  if (interval?.at === undefined) return (await readSchedule({ ...once, timezone: zone }, machine)).next[0]
  const day = String(once.once).slice(0, 10)
  const clock = new Date(upcoming(plan, machine.now, 1)[0]).toLocaleTimeString('sv', { timeZone: zone })
  return (await readSchedule({ once: `${day}T${clock}`, timezone: zone }, { ...machine, now: machine.now - DAY_MS })).next[0]
}

/**
 * Reads what a model made of the user's words. A time that it gives in vain is doubt: throws BadSchedule. Undefined when nothing
 * is said about a time, as for work that is to be done now.
 */
export async function readWhen ({ at = '', every = '', zone = '' }: When, machine: Now): Promise<ReadSchedule | undefined> {
  const stated = NO_ZONE.test(zone.trim()) || isFiller(zone) ? undefined : zone.trim()
  const [first, often] = [at, every].map((text) => NO_TIME.test(text.trim()) || isFiller(text) ? '' : text.trim())
    .map((text, at) => at === 1 ? text.replace(/^(?=\d+ (?:day|week|month)s? on )/, 'every ') : text)
  if (often === '') {
    if (first === '') return undefined
    const moment = momentOf(first)
    const once = moment ?? first.replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?$/, '$1T$2')
    return moment !== undefined || isLocal(first)
      ? readSchedule({ once, ...place(stated) }, machine)
      : readText(first, { ...machine, zone: stated })
  }
  if (momentOf(often) !== undefined || isLocal(often)) return readWhen({ at: often, zone }, machine)
  const read = await readText(often, { ...machine, zone: stated })
  if (first === '' || read.schedule.interval === undefined) return read
  if (clocksIn(first).every((text) => readClock(text) !== undefined)) {
    const { interval } = phraseOf(read.schedule.interval, machine)
    return interval?.at === undefined ? readSchedule({ ...read.schedule, at: first }, machine) : read
  }
  const start = await readWhen({ at: first, zone }, machine)
  return readSchedule({ ...read.schedule, ...start !== undefined && { startAt: start.next[0] } }, machine)
}

const NO_TIME = /^(?:(?:right )?now|right away|immediately|at once|as soon as possible|asap|in the background|once|no|never)[.!]?$/i
const NO_ZONE = /^\W*(?:(?:the |your )?(?:local|user'?s?|system|machine|default|current|auto|same)\b.*|time ?zone|zone|iana\b.*)\W*$/i
const isLocal = (text: string) => /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(text)

/** Returns the moment of an ISO time with Z or an offset, in milliseconds since the Unix epoch; undefined for other texts. */
function momentOf (text: string): number | undefined {
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d|[+-]\d\d)$/i.exec(text.trim())
  if (iso === null) return undefined
  const [, date, time, offset] = iso
  const at = Date.parse(`${date}T${time}${offset.length === 3 ? `${offset}:00` : offset.toUpperCase()}`)
  return Number.isNaN(at) ? undefined : at
}

/**
 * Returns why a person should confirm a schedule, a sentence: it contradicts the words that they wrote, or runs more often than hourly.
 * Undefined for others.
 */
export function whyConfirm (read: ReadSchedule, written: string | undefined, machine: Now): string | undefined {
  const contradicted = written === undefined ? undefined : findContradiction(written, read.plan, machine)
  if (contradicted !== undefined) return `It would run ${read.words}, but the words are ${JSON.stringify(contradicted)}.`
  const gaps = read.next.slice(1).map((at, n) => at - read.next[n])
  const least = Math.min(...gaps)
  return least < OFTEN_MS
    ? `It would run ${read.words}, which is ${Math.round(DAY_MS / least).toLocaleString('en')} times a day.`
    : undefined
}

const unread = (text: string) =>
  new BadSchedule(
    'text',
    `${JSON.stringify(text)} cannot be read as a time. Say it like "tomorrow at 5pm", "in 2 hours", "on 24 december at 9:00", "daily ` +
      'at 9", "every weekday at 8", "every other friday", "first monday of the month", "every 10 minutes between 9 and 17 on weekdays", ' +
      '"except sundays", or as a cron line.'
  )

/** What a text says of a time: one, or repeated ones; in doubt when it means a time and may mean several, or none that exists. */
export type KindOfTime = 'once' | 'repeated' | 'doubt'

/** Returns what a text says of a time, over or not; undefined when it is no text about time, or says more than that. */
export function kindOfTime (text: string): KindOfTime | undefined {
  try {
    // At the beginning of time everything is still to come.
    const { once, start, interval } = readPhrase(text, { timezone: 'UTC', now: 0 }) ?? {}
    return start !== undefined ? 'doubt' : once !== undefined ? 'once' : interval && 'repeated'
  } catch (error) {
    if (error instanceof BadSchedule) return 'doubt'
    throw error
  }
}
