import type { Schedule } from '../../../client/generated/index.ts'
import { say, type TextKey } from '../../lib/say.ts'
import { visibleText } from '../../lib/visible-characters.ts'

/** The words of intervals that have a sentence, and the time of day that they take when the schedule names none. */
const WORDS: Record<string, { text: TextKey, at?: string }> = {
  hourly: { text: 'tasks.schedule.hourly' },
  daily: { text: 'tasks.schedule.daily', at: '09:00' },
  weekdays: { text: 'tasks.schedule.weekdays', at: '09:00' },
  weekends: { text: 'tasks.schedule.weekends', at: '09:00' },
  weekly: { text: 'tasks.schedule.weekly', at: '09:00' },
  monthly: { text: 'tasks.schedule.monthly', at: '09:00' },
  yearly: { text: 'tasks.schedule.yearly', at: '09:00' }
}
const SAME: Record<string, string> = {
  'every hour': 'hourly',
  'every day': 'daily',
  'every weekday': 'weekdays',
  'every weekend': 'weekends',
  'every week': 'weekly',
  'every month': 'monthly',
  'every year': 'yearly',
  annually: 'yearly'
}
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const DURATION = /^(?:every )?(\d+(?:\.\d+)?)? ?(s|m|h|d|w|seconds?|minutes?|hours?|days?|weeks?|months?|years?)$/
const UNITS: Record<string, string> = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' }

const listed = new Intl.ListFormat(undefined, { type: 'conjunction' })
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' })
const clockTime = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' })

/** Returns the words of a schedule: "Every day at 09:00", "Every 30 minutes"; what has no words is shown as it was written. */
export function sayScheduleWords (schedule: Schedule): string {
  const { timezone, maxRuns } = schedule
  return [
    timesOf(schedule),
    ...timezone !== undefined && timezone !== Intl.DateTimeFormat().resolvedOptions().timeZone ? [`(${visibleText(timezone)})`] : [],
    ...maxRuns !== undefined ? [say('tasks.schedule.maxRuns', { count: maxRuns })] : []
  ].join(' ')
}

function timesOf ({ interval, at, on, startAt }: Schedule): string {
  const text = interval.trim().toLowerCase()
  const name = SAME[text] ?? text
  const word = WORDS[name]
  if (word !== undefined) {
    const begin = startAt === undefined ? undefined : new Date(startAt)
    const time = at ?? (begin ? `${begin.getHours()}:${String(begin.getMinutes()).padStart(2, '0')}` : word.at ?? '')
    // The service's own choice: what startAt gives, else Monday and the 1st.
    const days = daysOf(on ?? (name === 'weekly' ? WEEKDAYS[begin ? (begin.getDay() + 6) % 7 : 0] : begin?.getDate() ?? 1))
    return say(word.text, { at: sayTimeOfDay(time), days, day: days })
  }
  if (/^@|^[\d*,/-]+( \S+){4,5}$/.test(text)) return say('tasks.schedule.cron', { line: visibleText(interval.trim()) })
  const duration = durationOf(text)
  const times = duration ?? visibleText(interval.trim())
  const days = on === undefined ? '' : daysOf(on)
  return [times, days, at === undefined ? '' : sayTimeOfDay(at)].filter((part) => part !== '').join(', ')
}

/** "30m", "every 6 hours" and the like, in words; undefined for other texts. */
function durationOf (text: string): string | undefined {
  const [, amount, unit] = DURATION.exec(text) ?? []
  if (unit === undefined) return undefined
  const name = UNITS[unit] ?? unit.replace(/s$/, '')
  const count = Number(amount ?? 1)
  const shown = new Intl.NumberFormat(undefined, { style: 'unit', unit: name, unitDisplay: 'long' }).format(count)
  return say('tasks.schedule.every', { count, shown, unit: shown.replace(/^[\d\s.,]+/, '') })
}

/** The weekdays or the day of the month of a schedule, in words. */
function daysOf (on: NonNullable<Schedule['on']>): string {
  if (typeof on === 'number') return String(on)
  const days = Array.isArray(on) ? on : on.split(/\s*,\s*|\s+and\s+/)
  return listed.format(days.map((day) => sayWeekday(day)))
}

/** Returns the name of a weekday in the language of the browser, or the text itself when it names none. */
export function sayWeekday (day: string): string {
  const text = day.trim().toLowerCase()
  const index = text.length < 2 ? -1 : WEEKDAYS.findIndex((name) => name.startsWith(text.slice(0, 3)))
  // 5 January 1970 was a Monday.
  return index < 0 ? visibleText(day.trim()) : weekday.format(Date.UTC(1970, 0, 5 + index))
}

function sayTimeOfDay (at: string): string {
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(at) ?? []
  return hour === undefined ? visibleText(at) : clockTime.format(Date.UTC(1970, 0, 1, Number(hour), Number(minute)))
}
