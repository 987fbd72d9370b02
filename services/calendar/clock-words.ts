import { DAY } from './day-words.ts'
import { mod } from './days.ts'
import { HOUR_WORD, numberOf, readDuration } from './durations.ts'
import { BadSchedule } from './schedule-errors.ts'

/** Parts of the day, and the time that each stands for when no other is given; seconds. */
export const PARTS: Record<string, number> = { morning: 9 * 3600, afternoon: 14 * 3600, evening: 18 * 3600, night: 21 * 3600 }
export const PART = `(?:${Object.keys(PARTS).join('|')})s?`
/** The hours of each part, from the first until before the last. */
const HOURS: Record<string, [from: number, to: number][]> = {
  morning: [[1, 12]],
  afternoon: [[12, 18]],
  evening: [[16, 24]],
  night: [[18, 24], [0, 5]]
}

/** "half past", "twenty minutes to" and "an hour before" stand before an hour. "Ten to five" may be a span, but behind "at". */
const BESIDE = '(?:half|(?:a )?quarter) (?:past|after)|(?:a )?quarter to|(?:five|ten|twenty|twenty[- ]five|\\d{1,2})(?: minutes)? past|' +
  '(?:five|ten|twenty|twenty[- ]five|\\d{1,2}) minutes (?:to|after)|(?<=\\bat )(?:five|ten|twenty|twenty[- ]five) to|' +
  '(?:half an hour|an hour|\\d+ minutes|(?:ten|fifteen|twenty|thirty) minutes) before'
const PLAIN = `(?:\\d{1,2}|${HOUR_WORD})(?: ?[ap]m| o'?clock| (?:fifteen|thirty|forty[- ]five))|` +
  '\\d{1,2}[:.]\\d\\d(?::[0-5]\\d)?(?: ?[ap]m)?|\\d{1,2}h[0-5]\\d|(?:12 )?noon|midday|midnight'
/** A time of day that is clear by itself, and one that needs "at" before it or another one beside it. */
export const CLOCK = `(?:${BESIDE}) (?:${PLAIN}|\\d{1,2}|${HOUR_WORD})|${PLAIN}`
export const HOUR = `${CLOCK}|(?<=\\bat )[012]\\d[0-5]\\d|\\d{1,2}h?|${HOUR_WORD}`

/** Behind a number that is an hour: no unit, and no word in the plural, as in "at 5 places". */
export const NO_HOUR = '(?![\\d.,:]*\\d| ?[%\u00B0\u20AC$]| (?:percent|degrees|star|of)\\b|' +
  ` (?!(?:this|always|as|is|us|${PART}|${DAY})\\b)[a-z']*[a-rt-z]s\\b)`

/** A time of day, in seconds; `either`: it may be in the other half of the day; `bare`: and the hour alone does not say which. */
export interface Clock {
  second: number
  form: 'exact' | 'either' | 'bare'
}

/** Reads a time of day; undefined for other texts, and for times that no clock shows. */
export function readClock (text: string): Clock | undefined {
  const [, size, side, base] = /^(.+?) (past|after|to|before) (.+)$/.exec(text) ?? []
  if (size !== undefined) return besideOf(size, side === 'past' || side === 'after' ? 1 : -1, readClock(base))
  if (/^(?:(?:12 )?noon|midday)$/.test(text)) return { second: 12 * 3600, form: 'exact' }
  if (text === 'midnight') return { second: 0, form: 'exact' }
  const words = text.replace(/ o'?clock$/, '').replace(/^(\d\d)(\d\d)$/, '$1:$2').replace(/(\d)h$/, '$1:00')
    .replace(/ (fifteen|thirty|forty[- ]five)$/, (_all, minutes: string) => `:${numberOf(minutes)}`)
  const [, hour, minute, second = '0', half] = /^(\d{1,2}|[a-z]+?)(?:[:.h]([0-5]\d)(?::([0-5]\d))?)? ?([ap]m)?$/.exec(words) ?? []
  const hours = numberOf(hour ?? '?')
  if (!(half === undefined ? hours <= 23 : hours >= 1 && hours <= 12)) return undefined
  const rest = Number(minute ?? 0) * 60 + Number(second)
  if (half !== undefined) return { second: (hours % 12 + (half === 'pm' ? 12 : 0)) * 3600 + rest, form: 'exact' }
  const isOfDay = hours === 0 || hours > 12 || hour.startsWith('0') || /h$|^\d{4}$/.test(text)
  return { second: hours * 3600 + rest, form: isOfDay ? 'exact' : minute === undefined || words !== text ? 'bare' : 'either' }
}

function besideOf (size: string, sign: number, base: Clock | undefined): Clock | undefined {
  const minutes = size.replace(/^a quarter$/, 'quarter').replace(/^half$/, '30').replace(/^quarter$/, '15')
  const shift = readDuration(/hour|minute/.test(minutes) ? minutes : `${minutes} minutes`)
  if (base === undefined || shift?.unit !== 'exact') return undefined
  // "Half past two" is an hour of twelve, however it is written.
  const second = mod(base.second + sign * shift.everyMs / 1000, 86_400)
  return base.form === 'exact' ? { second, form: 'exact' } : { second: second % 43_200 || 43_200, form: 'bare' }
}

/** The seconds of the day that a time can mean. */
export const secondsOf = ({ second, form }: Clock): number[] =>
  form === 'exact' ? [second] : [second % 43_200, second % 43_200 + 43_200]

/** The second of the day of a time; `part` is the part of the day that was named. Throws BadSchedule (400) in doubt. */
export function resolveClock (clock: Clock, text: string, part?: string, field = 'at'): number {
  const { second, form } = clock
  if (part === undefined) {
    if (form !== 'bare' || second < 3600 || second >= 7 * 3600) return second
    const advice = /^\d+$/.test(text) ? `write "${text}am" or "${text}pm"` : 'write am or pm behind it'
    throw new BadSchedule(field, `"${text}" may be in the morning or in the afternoon: ${advice}.`)
  }
  const found = [second, ...secondsOf(clock).toReversed()].find((each) => isPart(each, part) && secondsOf(clock).includes(each))
  if (found !== undefined) return found
  throw new BadSchedule(field, `"${text}" is not in the ${part}: leave one of them out, or write the hour as "13:00" or "1pm".`)
}

const isPart = (second: number, part: string) => HOURS[part].some(([from, to]) => second >= from * 3600 && second < to * 3600)

/** Splits a list of times of day. */
export const clocksIn = (list: string): string[] =>
  list.toLowerCase().replace(/\b([ap])\.m\b\.?/g, '$1m').split(/,? (?:and|&) (?:at )?|, ?(?:at )?/).map((each) => each.trim())

/** Parses times of day ("9:15 and 17:30"), ascending, without repetitions. Throws BadSchedule (400). */
export function timesOfDay (list: string, part?: string): number[] {
  const times = clocksIn(list).map((text) => {
    const clock = readClock(text)
    if (clock !== undefined) return resolveClock(clock, text, part)
    throw new BadSchedule(
      'at',
      `schedule.at ${JSON.stringify(list)} is not a time of day. Write it as "09:00", "17:30:15", "9am", "noon" or "midnight".`
    )
  })
  return [...new Set(times)].toSorted((a, b) => a - b)
}
