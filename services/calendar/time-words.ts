import type { Clock } from './clock-words.ts'
import type { NamedDate } from './day-words.ts'
import type { Period } from './durations.ts'
import type { CronDates } from './schedule-plan.ts'

/** A period of words. `year` and `hour` are set times of the calendar, as "daily" is. */
export type RhythmPeriod = Period | { unit: 'hour' } | { unit: 'year' }

/** What words say of a time. */
interface Said {
  words: string
}

/** What a text says of times. Days are counted from 1970-01-01, weekdays from Monday, 0. */
export interface TimeWords {
  /** What was not understood, with marks where words were. */
  rest: string
  /** Why words may mean several times, or none; sentences. */
  doubts: string[]
  /** Words that say once, or again and again. */
  once: string[]
  repeated: string[]
  /** How often: `count` times in a period. `isWord`: as "daily", with set times; other durations are counted from their start. */
  rhythms: Array<Said & { period?: RhythmPeriod, isWord: boolean, count?: number }>
  /** `isWhole`: each of the days is meant. `isSingle`: one day that lies ahead, where nothing makes it a repeated one. */
  weekdays: Array<Said & { days: number[], isWhole: boolean, isSingle: boolean, isEvery: boolean }>
  nths: Array<Said & { dates: CronDates }>
  /** Lists of weekdays and dates that are left out. */
  except: string[]
  /** One day, which may be one of these; `date` is one of each year, and a weekday or a day of the month may be one of each. */
  days: Array<Said & { days: number[], date?: NamedDate, isRepeatable?: boolean }>
  waits: Array<Said & { text: string, period: Period }>
  daysOfMonth: Array<Said & { days: number[], isEach: boolean }>
  /** Months from 0. */
  months: Array<Said & { month: number }>
  /** A list of times of day; `tolerance` in seconds. */
  times: Array<Said & { texts: string[], clocks: Clock[], tolerance: number }>
  /** Minutes of the hour. */
  minutes: number[]
  /** A span of the day: its ends as they were written, and in hours. */
  windows: Array<Said & { ends?: [string, string], from: number, to: number }>
  parts: Array<Said & { parts: string[] }>
}

/** Where words are noted; `today` is the day on which they were written. */
export interface Place {
  found: TimeWords
  today: number
}
type Groups = Record<string, string | undefined>
/** Words, and how they are noted. False leaves them where they are. */
export type Rule = [words: string, note: (place: Place, groups: Groups, words: string) => unknown]

/** Returns no words. */
const emptyWords = (): TimeWords => ({
  rest: '',
  doubts: [],
  once: [],
  repeated: [],
  rhythms: [],
  weekdays: [],
  nths: [],
  except: [],
  days: [],
  waits: [],
  daysOfMonth: [],
  months: [],
  times: [],
  minutes: [],
  windows: [],
  parts: []
})

/** Puts a text into small letters, with single blanks and one form of what has several. "M" may be months or minutes, and is neither. */
export const tidy = (text: string): string => text.replace(/(?<![\w.])([\d.]+ ?)M\b/g, '$1\u00B7').toLowerCase()
  .replace(/(\d{4}-\d\d-\d\d)t(?=\d)/, '$1 ').replace(/[\u2018\u2019]/g, "'").replace(/ ?[\u2013\u2014] ?/g, '-')
  .replace(/\b([ap])\.m\b\.?/g, '$1m').replace(/[()]|,? please\b|\bplease,? |\b(?:exactly|sharp|precisely) (?=(?:at )?\d)/g, ' ')
  .replace(/(?<=\d(?:[ap]m)?) sharp\b|(?<=\d\d:?\d\d) (?:hrs|hours)\b/g, '').replace(/ ?@ ?/g, ' at ')
  .replace(/ & |(?<=day|\b(?:mon|tue|wed|thu|fri|sat)) ?[/+] ?(?=[a-z]{3})/g, ' and ').replace(/\beach and every\b/g, 'every')
  .replace(/\bbi-weekly\b/g, 'biweekly').replace(/\b(?:tmrw|tmr|tmw)\b/g, 'tomorrow').replace(/\bhalf-hour\b/g, 'half hour')
  .replace(/:(?= |[a-z])|\s+/g, ' ').replace(/ {2,}/g, ' ').trim().replace(/[.!]+$/, '')
  .replace(/^(?:seven|7) days a week\b|\bevery day of the week\b/, 'daily').replace(/^once (?=every |each )/, '')

const compile = (rules: readonly Rule[]): Array<[pattern: RegExp, note: Rule[1]]> =>
  rules.map(([words, note]) => [new RegExp(`(?<![\\w'-]|\\d[.:])(?:${words})(?![\\w-]|'s)`, 'g'), note])

/**
 * Returns a reader of what a text says of times. Each rule takes the words out that it understands, so that what is left was not.
 * `today` is the day on which the text was written.
 */
export function readerOf (rules: readonly Rule[]): (text: string, today: number) => TimeWords {
  let compiled: ReturnType<typeof compile> | undefined
  return (text, today) => {
    const found = emptyWords()
    found.rest = text
    for (const [pattern, note] of compiled ??= compile(rules)) {
      const take = (words: string, ...groups: unknown[]) =>
        note({ found, today }, groups.at(-1) as Record<string, string | undefined>, words.trim()) === false ? words : ' ; '
      found.rest = found.rest.replace(pattern, take).replace(/\s+/g, ' ')
    }
    return found
  }
}
