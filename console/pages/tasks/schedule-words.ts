import { sayClock } from '../../lib/time.ts'
import { visibleText } from '../../lib/visible-characters.ts'
import type { Task } from './task-queries.ts'

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** A time of day in the service's texts, with seconds or without. */
const CLOCK = /\b([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\b(?!:)/g

const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' })

/**
 * Returns the service's words for a schedule, such as "Every weekday at 09:00". The time zone is added if it differs from the browser's.
 */
export function sayScheduleWords ({ schedule, scheduleWords }: Pick<Task, 'schedule' | 'scheduleWords'>): string {
  return sayWords(scheduleWords ?? String(schedule?.interval ?? schedule?.in ?? ''), schedule?.timezone)
}

/** Returns the service's words as a sentence. The time zone is added if it differs from the browser's. */
export function sayWords (words: string, timezone?: string): string {
  const place = timezone === undefined || timezone === Intl.DateTimeFormat().resolvedOptions().timeZone ? '' : ` (${timezone})`
  const local = words.replace(CLOCK, (_, hours, minutes, seconds) => sayClock(Number(hours), Number(minutes), seconds && Number(seconds)))
  return visibleText(`${local.charAt(0).toUpperCase()}${local.slice(1)}${place}`)
}

/** Returns the name of a weekday in the browser's language. */
export function sayWeekday (day: string): string {
  // 5 January 1970 was a Monday.
  return weekday.format(Date.UTC(1970, 0, 5 + WEEKDAYS.indexOf(day)))
}
