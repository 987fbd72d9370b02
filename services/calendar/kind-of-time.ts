import { daysOfMonthOf, exceptionsOf, isTimes, nthDayOf, weekdaysOf } from './day-words.ts'
import { readInterval } from './interval.ts'
import { readOnce } from './once-words.ts'
import { BadSchedule } from './schedule-errors.ts'

/** What a text says of a time: one, or repeated ones; in doubt when it means a time and may mean several, or none that exists. */
export type KindOfTime = 'once' | 'repeated' | 'doubt'

/** Returns what a text says of a time, over or not; undefined when it is no text about time, or says more than that. */
export function kindOfTime (text: string): KindOfTime | undefined {
  try {
    // At the beginning of time everything is still to come.
    if (readOnce(text, { timezone: 'UTC', now: 0 }) !== undefined) return 'once'
    return isInterval(text) ? 'repeated' : undefined
  } catch (error) {
    if (error instanceof BadSchedule) return 'doubt'
    throw error
  }
}

/** Whether every part of the text is one of an interval. */
function isInterval (text: string): boolean {
  const read = readInterval(text)
  if (read === undefined) return false
  const { at, on, between, except } = read
  return (at === undefined || isTimes(at)) &&
    (on === undefined || (weekdaysOf(on) ?? daysOfMonthOf(on) ?? nthDayOf(on)) !== undefined) &&
    (between === undefined || isTimes(between.replace(/ (?:to|until|till|-) /i, ' and '))) &&
    (except === undefined || isExceptions(except))
}

function isExceptions (text: string): boolean {
  try {
    return exceptionsOf([text]) !== undefined
  } catch {
    return false
  }
}
