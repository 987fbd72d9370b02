import type { Schedule } from '../../schemas/schedule.ts'
import { dateOf, dayNumber, isPlainTime, isTimes, PARTS, timeOfDay, weekdayNamed } from './day-words.ts'
import { DAY, weekdayOf } from './days.ts'
import { readDuration } from './durations.ts'
import { splitParts, takePart } from './interval.ts'
import { BadSchedule } from './schedule-errors.ts'
import { localTime } from './zone.ts'

/**
 * Reads a text that means one time ("tomorrow at 5pm", "on friday at 9", "in 2 hours", "2026-12-24 at 9:00") as a schedule; undefined
 * for other texts. Throws BadSchedule (400) for times that are over, that do not exist, or that may mean two things.
 */
export function readOnce (text: string, { timezone, now }: { timezone: string, now: number }): Pick<Schedule, 'once' | 'in'> | undefined {
  const parts = splitParts(text.replace(/^\s*(?:just )?once,? (?!an? |per |each |every )/i, ''))
  if (parts === undefined || parts.except !== undefined) return undefined
  const { head = '' } = parts
  const isAlone = Object.keys(parts).length === 2
  const wait = isAlone && parts.between === 'now' ? head : isAlone && head === '' ? parts.in : undefined
  if (wait !== undefined && readDuration(wait, 'in') !== undefined) return { in: wait }

  if (parts.between !== undefined) return undefined
  const local = localTime(timezone, now)
  const today = Math.floor(local / DAY)
  const named: string[] = []
  const withoutPart = (words: string) => {
    const { rest, part } = takePart(words)
    if (part !== undefined) named.push(part)
    return rest
  }
  if (parts.in !== undefined && withoutPart(parts.in) !== '') return undefined
  const at = parts.at && withoutPart(parts.at)
  const on = parts.on && withoutPart(parts.on)
  // "tomorrow 5pm" and "5pm tomorrow" without "at"; the date may hold blanks.
  const said = head.toLowerCase().replace(/^tonight\b/, 'today night').replace(/^this (?=morning|afternoon|evening)/, 'today ')
  const words = withoutPart(said).split(' ')
  const time = at === undefined || at === '' ? [words.at(-1)!, words[0]].find(isPlainTime) : undefined
  const day = words.filter((word) => word !== '' && word !== time).join(' ').replace(/,$/, '')
  if (named.length > 1 || (on !== undefined && day !== '')) return undefined

  const found = dayNamed(on ?? day, today, on !== undefined)
  const clock = at || time
  if (clock !== undefined && !isTimes(clock)) return undefined
  const part = named[0]
  // "at 9" alone may be any morning's.
  const isBare = on === undefined && day === '' && clock !== undefined && !isPlainTime(clock) && part === undefined
  if (found === undefined || isBare) return undefined
  if (clock === undefined && part === undefined && found.isToday) return undefined
  if (clock === 'midnight') throw doubtful(text, 'write the date and "00:00" or "23:59"')
  const second = clock === undefined ? PARTS[part ?? 'morning'] : timeOfDay(clock, part, 'once')
  // A weekday is the next one whose time is still to come, a date without a year likewise.
  const days = found.days.map((each) => each * DAY + second * 1_000)
  const ahead = days.find((each) => each > local)
  if (ahead === undefined) throw new BadSchedule('once', `"${text.trim()}" is over: say a time that is still to come, with its date.`)
  return { once: new Date(ahead).toISOString().slice(0, second % 60 === 0 ? 16 : 19) }
}

/** The days that a text can mean, earliest first; undefined when it is none. Counted from 1970-01-01. */
function dayNamed (text: string, today: number, isOn: boolean): { days: number[], isToday?: boolean } | undefined {
  const words = text.toLowerCase().trim()
  if (words === '' || words === 'today') return isOn ? undefined : { days: [today], isToday: true }
  if (words === 'tomorrow') return isOn ? undefined : { days: [today + 1] }
  if (/^(?:the )?day after tomorrow$/.test(words)) return isOn ? undefined : { days: [today + 2] }
  const [, which, name] = /^(this |coming |next )?([a-z]{3,})$/.exec(words) ?? []
  const weekday = name === undefined || name.endsWith('s') ? -1 : weekdayNamed(name)
  if (weekday >= 0) {
    if (which === 'next ') throw doubtful(text, `write "on ${name}" for the coming one, or the date`)
    const ahead = (weekday - weekdayOf(today) + 7) % 7
    return { days: [today + ahead, today + ahead + 7] }
  }
  const date = dateOf(words, 'once')
  if (date === undefined) return undefined
  if (date.year !== undefined) return { days: [dayNumber({ ...date, year: date.year })] }
  const year = new Date(today * DAY).getUTCFullYear()
  const exists = (each: number) => date.month !== 2 || date.day !== 29 || each % 4 === 0
  return { days: [0, 1, 2, 3, 4].map((n) => year + n).filter(exists).map((each) => dayNumber({ ...date, year: each })) }
}

const doubtful = (text: string, advice: string) => new BadSchedule('once', `"${text.trim()}" may mean several things: ${advice}.`)
