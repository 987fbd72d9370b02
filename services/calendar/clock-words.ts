import { mod } from './days.ts'
import { HOUR_WORD, numberOf, readDuration } from './durations.ts'
import { check } from './schedule-errors.ts'

/**
 * Parts of the day, in hours; each span excludes its end. `time`: the hour that the part stands for if no hour is given.
 * `named`: the hours that a person can mean with the part. `planned`: the hours at which a schedule for the part is allowed to run.
 */
const PART_HOURS: Record<string, { time: number, named: Span[], planned: Span[] }> = {
  morning: { time: 9, named: [[1, 12]], planned: [[3, 12]] },
  afternoon: { time: 14, named: [[12, 18]], planned: [[12, 18.01]] },
  evening: { time: 18, named: [[16, 24]], planned: [[16, 24]] },
  night: { time: 21, named: [[18, 24], [0, 5]], planned: [[18, 24], [0, 6.01]] }
}
type Span = [from: number, to: number]
export const PARTS = Object.keys(PART_HOURS)
/** Returns the second of the day for which a part of the day stands. */
export const timeOfPart = (part: string): number => PART_HOURS[part].time * 3600
/** Whether a second of the day lies in a part of the day. */
export const isInPart = (part: string, second: number, how: 'named' | 'planned'): boolean =>
  PART_HOURS[part][how].some(([from, to]) => second >= from * 3600 && second < to * 3600)

/**
 * A pattern of words before an hour: "half past", "twenty minutes to", "an hour before". "Ten to five" might be a span, so it needs "at"
 * before it.
 */
const BESIDE = '(?:half|(?:a )?quarter) (?:past|after)|(?:a )?quarter to|(?:five|ten|twenty|twenty[- ]five|\\d{1,2})(?: minutes)? past|' +
  '(?:five|ten|twenty|twenty[- ]five|\\d{1,2}) minutes (?:to|after)|(?<=\\bat )(?:five|ten|twenty|twenty[- ]five) to|' +
  '(?:half an hour|an hour|\\d+ minutes|(?:ten|fifteen|twenty|thirty) minutes) before'
const PLAIN = `(?:\\d{1,2}|${HOUR_WORD})(?: ?[ap]m| o'?clock| (?:fifteen|thirty|forty[- ]five))|` +
  '\\d{1,2}[:.]\\d\\d(?::[0-5]\\d)?(?: ?[ap]m)|\\d{1,2}:\\d\\d(?::[0-5]\\d)?|\\d{1,2}h[0-5]\\d|(?:12 )?noon|midday|midnight'
/** A pattern of times of day: those that are clear by themselves, and those that are clear only after "at". */
export const CLOCK = `(?:${BESIDE}) (?:${PLAIN}|\\d{1,2}|${HOUR_WORD})|${PLAIN}|(?<=\\bat )(?:[012]\\d[0-5]\\d|\\d{1,2}h|\\d{1,2}\\.\\d\\d)`

export const CLOCK_FORMS = 'Write it as "09:00", "17:30:15", "9am", "noon" or "midnight".'

/**
 * A parsed time of day, in seconds. `exact`: the time is certain. `either`: the time might be in the other half of
 * the day. `bare`: like `either`, and only an hour was given.
 */
export interface Clock {
  text: string
  second: number
  form: 'exact' | 'either' | 'bare'
}

/** Parses a time of day; undefined for other texts, and for times that do not exist. */
export function readClock (text: string): Clock | undefined {
  const [, size, side, base] = /^(.+?) (past|after|to|before) (.+)$/.exec(text) ?? []
  if (size !== undefined) return besideOf(text, size, side === 'past' || side === 'after' ? 1 : -1, readClock(base))
  if (/^(?:(?:12 )?noon|midday)$/.test(text)) return { text, second: 12 * 3600, form: 'exact' }
  if (text === 'midnight' || text === '24' || text === '24:00') return { text, second: text === 'midnight' ? 0 : 86_400, form: 'exact' }
  const words = text.replace(/ o'?clock$/, '').replace(/^(\d\d)(\d\d)$/, '$1:$2').replace(/(\d)h$/, '$1:00')
    .replace(/ (fifteen|thirty|forty[- ]five)$/, (_all, minutes: string) => `:${numberOf(minutes)}`)
  const [, hour, minute, second = '0', half] = /^(\d{1,2}|[a-z]+?)(?:[:.h]([0-5]\d)(?::([0-5]\d))?)? ?([ap]m)?$/.exec(words) ?? []
  const hours = numberOf(hour ?? '?')
  if (!(half === undefined ? hours <= 23 : hours >= 1 && hours <= 12)) return undefined
  const rest = Number(minute ?? 0) * 60 + Number(second)
  if (half !== undefined) return { text, second: (hours % 12 + (half === 'pm' ? 12 : 0)) * 3600 + rest, form: 'exact' }
  const isOfDay = hours === 0 || hours > 12 || hour.startsWith('0') || /h$|^\d{4}$/.test(text)
  return { text, second: hours * 3600 + rest, form: isOfDay ? 'exact' : minute === undefined || words !== text ? 'bare' : 'either' }
}

function besideOf (text: string, size: string, sign: number, base: Clock | undefined): Clock | undefined {
  const minutes = size.replace(/^a quarter$/, 'quarter').replace(/^half$/, '30').replace(/^quarter$/, '15')
  const shift = readDuration(/hour|minute/.test(minutes) ? minutes : `${minutes} minutes`)
  if (base === undefined || shift.unit !== 'exact') return undefined
  // "Half past two" uses a twelve-hour clock, even if the hour is written as a number.
  const second = mod(base.second + sign * shift.everyMs / 1000, 86_400)
  return base.form === 'exact' ? { text, second, form: 'exact' } : { text, second: second % 43_200 || 43_200, form: 'bare' }
}

/** Returns the seconds of the day that a parsed time can mean. */
export const secondsOf = ({ second, form }: Clock): number[] =>
  form === 'exact' ? [second] : [second % 43_200, second % 43_200 + 43_200]

/**
 * Returns the second of the day of a parsed time. `part`: the part of the day that was named with it. Throws
 * BadSchedule (400) if the time is ambiguous.
 */
export function resolveClock (clock: Clock, part?: string): number {
  const { text, second, form } = clock
  if (part === undefined) {
    const advice = /^\d+$/.test(text) ? `write "${text}am" or "${text}pm"` : 'write am or pm behind it'
    check(form !== 'bare' || second < 3600 || second >= 7 * 3600, 'at',
      `"${text}" may be in the morning or in the afternoon: ${advice}.`)
    return second
  }
  const seconds = secondsOf(clock)
  const found = [second, ...seconds.toReversed()].find((each) => isInPart(part, each, 'named') && seconds.includes(each))
  check(found !== undefined, 'at', `"${text}" is not in the ${part}: leave one of them out, or write the hour as "13:00" or "1pm".`)
  return found
}
