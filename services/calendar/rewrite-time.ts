import { BadSchedule } from './schedule-errors.ts'
import { localTime } from './zone.ts'
import { takeZone } from './zone-in-words.ts'

// People write times in many ways that mean the same. Each rule here puts one of them as the grammar has it. What no rule knows stays, and
// is refused there.

const DAY = 24 * 60 * 60 * 1_000
const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
const MINUTES: Record<string, number> = { five: 5, ten: 10, twenty: 20, 'twenty five': 25, 'twenty-five': 25 }
const HOUR = `(?:\\d{1,2}|${NUMBERS.slice(1).join('|')})`
const HOUR_IN_WORDS = new RegExp(`(?<=\\bat |^)(${NUMBERS.slice(1).join('|')})(?= (?:in the|every|each|tomorrow|today|on)\\b|$)`, 'g')
const PARTS_BESIDE = new RegExp(`\\b(half|(?:a )?quarter) (past|to|after) (${HOUR})\\b`, 'g')
const MINUTE = `${Object.keys(MINUTES).reverse().join('|')}|\\d{1,2}`
const MINUTES_BESIDE = new RegExp(`(\\bat )?\\b(${MINUTE})( minutes)? (past|to) (${HOUR})\\b(?! (?:minutes|hours))`, 'g')
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const FEASTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bchristmas eve\b/g, '24 december'], [/\bchristmas(?: day)?\b/g, '25 december'], [/\bboxing day\b/g, '26 december'],
  [/\bvalentine['’]?s day\b/g, '14 february'], [/\bhalloween\b/g, '31 october'],
  [/\bnew year['’]?s eve\b/g, '31 december'], [/\bnew year['’]?s day\b/g, '1 january']
]
const numberOf = (text: string): number => NUMBERS.includes(text) ? NUMBERS.indexOf(text) : Number(text)
const two = (n: number | string) => String(n).padStart(2, '0')
const dateText = (day: number) => new Date(day * DAY).toISOString().slice(0, 10)

/** "half past seven" is "7:30", "quarter to nine" is "8:45", "9.30am" is "9:30am", "6 o'clock in the evening" is "6pm". */
function rewriteClock (text: string): string {
  return text
    .replace(HOUR_IN_WORDS, (hour) => String(numberOf(hour)))
    .replace(/(?<=\bat )(\d{1,2})h(\d\d)?\b|\b(\d{1,2})h(\d\d)\b/g, (_all, hour, minute = '00', other, minutes) =>
      `${hour ?? other}:${minutes ?? minute}`)
    .replace(/(?<=\bat )([01]\d|2[0-3])([0-5]\d)\b/g, '$1:$2')
    .replace(PARTS_BESIDE, (all, part: string, side: string, hour: string) => {
      if (part === 'half' && side === 'to') return all
      const minute = part === 'half' ? 30 : side === 'to' ? 45 : 15
      const full = numberOf(hour) - (side === 'to' ? 1 : 0)
      return full > 23 ? all : `${full === 0 && numberOf(hour) === 1 ? 12 : full}:${minute}`
    })
    .replace(MINUTES_BESIDE, (...found: string[]) => {
      const [all, at = '', part, minutes = '', side, hour] = found
      const minute = MINUTES[part] ?? Number(part)
      const full = numberOf(hour) - (side === 'to' ? 1 : 0)
      // "9 to 5" and "ten to five" may be spans.
      const isSpan = side === 'to' && minutes === '' && (at === '' || MINUTES[part] === undefined)
      if (isSpan || minute === 0 || minute > 30 || full > 23) return all
      return `${at}${full === 0 && numberOf(hour) === 1 ? 12 : full}:${two(side === 'to' ? 60 - minute : minute)}`
    })
    .replace(/\b(\d{1,2})\.(\d\d) ?([ap])\.?m\b\.?/g, '$1:$2$3m')
    .replace(new RegExp(`\\b(${HOUR}) o['’]?clock\\b`, 'g'), (_all, hour: string) => `${numberOf(hour)}:00`)
    .replace(/\b(\d{1,2})(:\d\d)? in the (morning|afternoon|evening)\b/g, (all, hour: string, minutes = '', part: string) => {
      const isFitting = part === 'morning' ? Number(hour) < 12 : Number(hour) > 0 && Number(hour) < 12
      return isFitting ? `${hour}${minutes}${part === 'morning' ? 'am' : 'pm'}` : all
    })
}

/** A time of day in an afternoon, an evening or a night is one of the second half of the day. */
const secondHalf = (text: string): string => text
  .replace(/\b(afternoons?|evenings?|nights?|tonight) at (\d{1,2}):(\d\d)(?! ?[ap]m)/g, (all, part, hour, minute) => {
    const least = part.startsWith('afternoon') ? 1 : part.startsWith('evening') ? 4 : 6
    return Number(hour) >= least && Number(hour) < 12 ? `${part} at ${hour}:${minute}pm` : all
  })

/** Other words for what the grammar has. */
const SYNONYMS: ReadonlyArray<readonly [RegExp, string]> = [
  [/ & |(?<=day)\/(?=[a-z]+day)/g, ' and '], [/\bbi-weekly\b/g, 'biweekly'], [/^all (?=weekdays)/, ''], [/\beveryday\b/g, 'every day'],
  [/\bweds\b/g, 'wed'], [/\b(?:tmrw|tmr)\b/g, 'tomorrow'], [/(?<=\d(?:am|pm)?) (?:sharp|hrs)\b|\b(?:exactly|sharp) (?=\d)/g, ''],
  [/(?: at)? ?@ ?(?=\d)/g, ' at '], [/\b12 noon\b/g, 'noon'], [/^once (?=every )/, ''], [/^twice a month on /, 'monthly on '],
  [/(?<=^in .{1,30}(?:hour|day|week|minute))(?:['’]s|s['’]) time\b/, ''], [/^(.+) from now (?=at )/, 'in $1 '],
  [/^after (?=\d|an? )/, 'in '],
  [/^in (.+) from now$/, 'in $1'], [/^this (?=coming )/, ''], [/(?<=[a-z]+day): ?(?=\d)/, ' at '],
  [/^(daily|weekly),? (?:on )?([a-z]{3,9}),? (?:at )?(?=\d)/, 'every $2 at '],
  [/^(?:the )?first of (?=[a-z]{3,})(?!the|each|every)/, '1 '],
  [/^([a-z]{3,9}) (?:the )?first (?=at |\d)/, '$1 1 '], [/^later today\b/, 'today'],
  [/^the (?=coming )/, ''], [/^one time,? /, 'once '], [/^(?:seven|7) days a week\b|^every day of the week\b/, 'daily'],
  [/^(?:once|twice|(?:three|four|five|six) times) a week(?: on|:) /, 'every '], [/^tonight (?=\d)/, 'tonight at '],
  [/^(?:at )?(\d{1,2}(?::\d\d)? ?(?:[ap]m)?) (every|each) (morning|afternoon|evening|night)$/, '$2 $3 at $1'],
  [/^at (.+) every day$/, 'daily at $1'], [/^(on [a-z]+day|tomorrow), (?=\d)/, '$1 at '], [/^every hour,? on the hour$/, '0 * * * *'],
  [/^(?:on )?(?:the )?first (?=of (?:each|every|the) month)/, '1st '], [/^(?:on )?day (\d{1,2})(?= of (?:each|every|the) month)/, '$1th'],
  [/^(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th) of (?:each|every|the) month,? (?:at )?/, 'monthly on the $1th at ']
]
const withSynonyms = (text: string): string => SYNONYMS.reduce((rest, [words, as]) => rest.replace(words, as), text)

/** "at noon today" is "today at noon", "at 4:15 this afternoon" is "this afternoon at 4:15". */
const dayFirst = (text: string): string => text
  .replace(/^(?:at )?(\d{1,2}(?::\d\d)?(?: ?[ap]m)?|noon) (today|tomorrow|this (?:morning|afternoon|evening)|tonight)$/, '$2 at $1')
  .replace(/^(?:at )?midnight tonight$|^tonight at midnight$/, 'tomorrow at 00:00')
  .replace(/^this (morning|afternoon|evening) at (\d{1,2})(:\d\d)?$/, (all, part: string, hour: string, minutes = '') =>
    Number(hour) > 0 && Number(hour) < 12 ? `today at ${hour}${minutes}${part === 'morning' ? 'am' : 'pm'}` : all)

/** A number of days or weeks ahead with a time of day is a date: "in three days at 14:00", "a week from tomorrow at 6pm". */
function rewriteDays (text: string, today: number): string {
  const ahead = (count: string, unit: string) =>
    (/^an?$/.test(count) ? 1 : numberOf(count)) * (unit.startsWith('fortnight') ? 14 : unit.startsWith('week') ? 7 : 1)
  return text
    .replace(/^in (an?|[a-z]+|\d+) (days?|weeks?|fortnights?) at /, (all, count: string, unit: string) => {
      const days = ahead(count, unit)
      return Number.isNaN(days) ? all : `on ${dateText(today + days)} at `
    })
    .replace(/^(an?|[a-z]+|\d+) (days?|weeks?|fortnights?) from (today|tomorrow)\b/, (all, count: string, unit: string, from: string) => {
      const days = ahead(count, unit)
      return Number.isNaN(days) ? all : `on ${dateText(today + days + (from === 'tomorrow' ? 1 : 0))}`
    })
    .replace(/^(?:on )?the (\d{1,2})(?:st|nd|rd|th)(?: of this month)?(?=,? (?:at )?\d|,? at )/, (all, day: string) => {
      const date = new Date(today * DAY)
      const month = date.getUTCMonth() + (Number(day) >= date.getUTCDate() ? 0 : 1)
      const meant = Date.UTC(date.getUTCFullYear(), month, Number(day))
      return new Date(meant).getUTCDate() === Number(day) && !all.includes('this month') ? `on ${dateText(meant / DAY)}` : all
    })
    .replace(/^(?:an? week on ([a-z]+day)|(?:on )?([a-z]+day) week)\b/, (all, first?: string, second?: string) => {
      const weekday = WEEKDAYS.indexOf(first ?? second ?? '')
      const ahead = (weekday - new Date(today * DAY).getUTCDay() + 6) % 7 + 1
      return weekday === -1 ? all : `on ${dateText(today + ahead + 7)}`
    })
    .replace(/^(?:on )?the last day of (?:this|the current) month\b/, () => {
      const date = new Date(today * DAY)
      return `on ${dateText(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0) / DAY)}`
    })
}

/** "13/4/2026" can only be 13 April; "4/5/2026" stays, as it may be two days. With dots the day stands first everywhere. */
const rewriteDates = (text: string): string => text
  .replace(/\b(\d{4})\/(\d\d)\/(\d\d)\b/g, '$1-$2-$3')
  .replace(/\b([0-3]?\d)\.([01]?\d)\.(\d{4})\b/g, (_all, day, month, year) => `${year}-${two(month)}-${two(day)}`)
  .replace(/\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g, (all, first: string, second: string, year: string) => {
    const [day, month] = Number(first) > 12 ? [first, second] : Number(second) > 12 ? [second, first] : []
    return day === undefined || Number(month) > 12 ? all : `${year}-${two(Number(month))}-${two(Number(day))}`
  })
  .replace(/^(\d{4}-\d\d-\d\d)t(\d\d:\d\d(?::\d\d)?)$/, '$1 $2')

const NTH = '(\\d{1,2})(?:st|nd|rd|th)?'
const DAY_AND_DATE =
  new RegExp(`^(?:on )?([a-z]{3,9})(?:day)?,? (?:the )?(?:${NTH}(?: of)? ([a-z]{3,9})|([a-z]{3,9}) (?:the )?${NTH})\\b(?:,? (\\d{4}))?,?`)

/** "sunday 29 march" is "29 march", and "wed, april 1, 2026" is "1 april 2026", where that is such a day. */
function dropWeekday (text: string, today: number): string {
  const [all, weekday, dayBefore, monthAfter, monthBefore, dayAfter, year] = DAY_AND_DATE.exec(text) ?? []
  const at = MONTHS.indexOf((monthAfter ?? monthBefore ?? '').slice(0, 3))
  const nth = WEEKDAYS.findIndex((name) => name.startsWith(weekday?.slice(0, 3) ?? '-'))
  if (all === undefined || at === -1 || nth === -1) return text
  const thisYear = new Date(today * DAY).getUTCFullYear()
  const years = year === undefined ? [thisYear, thisYear + 1] : [Number(year)]
  const date = years.map((each) => Date.UTC(each, at, Number(dayBefore ?? dayAfter)) / DAY).find((each) => each >= today)
  if (date === undefined || new Date(date * DAY).getUTCDay() !== nth) return text
  return `${dateText(date)}${text.slice(all.length)}`
}

/** "monday next week" is the date of it; weeks begin on Mondays. */
const rewriteWeek = (text: string, today: number): string =>
  text.replace(/^(?:on )?(?:([a-z]+day) (?:of )?next week|next week(?: on)? ([a-z]+day))\b/, (all, first?: string, second?: string) => {
    const weekday = WEEKDAYS.indexOf(first ?? second ?? '')
    const monday = today - (new Date(today * DAY).getUTCDay() + 6) % 7 + 7
    return weekday === -1 ? all : `on ${dateText(monday + (weekday + 6) % 7)}`
  })

/** Schedules that a cron line says. */
const rewriteCron = (text: string): string => text
  .replace(/^(?:hourly|every hour),? at (?:(half|quarter) past|:?(\d\d))(?: the hour)?$/, (_all, part?: string, minute?: string) =>
    `${part === 'half' ? 30 : part === 'quarter' ? 15 : Number(minute)} * * * *`)
  .replace(/^(?:on )?the first day of (?:each|every|the) quarter at (\d{1,2})(?::(\d\d))?(am|pm)?$/, (_all, hour, minute = '00', half) =>
    `${Number(minute)} ${Number(hour) % (half === undefined ? 24 : 12) + (half === 'pm' ? 12 : 0)} 1 1,4,7,10 *`)

const OFTEN = '(?:every|each|daily|weekly|monthly|fortnightly|biweekly)\\b'
const STARTS_LAST = new RegExp(`^(.*\\b${OFTEN}.*?),? (?:starting|beginning|from) (?:on )?(.+)$`)
const STARTS_FIRST = new RegExp(`^(?:starting|beginning|from) (?:on )?(.+?)(?: on| onwards?)?, (${OFTEN}.*)$`)

/** Takes the day of the first run off the end of a repeated time: "every 3 days at 8am starting tomorrow". */
function takeStart (text: string): { text: string, start?: string } {
  const [, repeated, start] = STARTS_LAST.exec(text) ?? []
  const [, early, rest] = STARTS_FIRST.exec(text) ?? []
  if (early !== undefined) return { text: rest, start: early }
  return start === undefined || / (?:to|until) /.test(start) ? { text } : { text: repeated, start }
}

const SAME_TIME = /^(?:at )?(?:this|the same|same) time tomorrow$|^tomorrow at (?:this|the same) time$/

/**
 * Returns a text about a time as the grammar has it, with the zone and the day of the first run that it names. Throws BadSchedule (400)
 * for what is over, and for a zone that may be several.
 */
export function rewriteTime (
  text: string,
  { timezone, now }: { timezone: string, now: number }
): { text: string, zone?: string, start?: string } {
  const plain = text.trim().toLowerCase().replace(/[.!]$/, '').replace(/\s+/g, ' ').replace(/,? please|^please |[()]/g, '')
  const moment = /^(\d{4}-\d\d-\d\d)t(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(z|[+-]\d\d:\d\d)$/.exec(plain)
  if (moment !== null) return { text: new Date(plain.toUpperCase()).toISOString().slice(0, 16).replace('T', ' '), zone: 'UTC' }
  if (/^(?:on )?last (?:[a-z]+day|week|month|year)\b(?! of)/.test(plain)) {
    throw new BadSchedule('text', `"${text.trim()}" is over: say a time that is still to come, or "the last … of every month".`)
  }
  const { text: zoneless, zone } = takeZone(plain)
  const clockNow = new Date(localTime(zone ?? timezone, now)).toISOString().slice(11, 16)
  const { text: body, start } = takeStart(zoneless.replace(SAME_TIME, `tomorrow at ${clockNow}`))
  const today = Math.floor(localTime(zone ?? timezone, now) / DAY)
  const feast = FEASTS.reduce((rest, [name, date]) => rest.replace(name, date), body)
  const counted = withSynonyms(feast).replace(/^(?:twice|(?:two|three|four|five|six|\d) times) a day: ?/, 'daily at ')
  const clock = dayFirst(secondHalf(withSynonyms(rewriteClock(rewriteDates(counted)))))
  const rewritten = rewriteCron(dropWeekday(rewriteWeek(rewriteDays(clock, today), today), today))
  return { text: rewritten === plain ? text : rewritten, zone, start }
}
