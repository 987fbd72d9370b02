import { CLOCK, HOUR, NO_HOUR, PART, readClock, secondsOf } from './clock-words.ts'
import { DATE, DAY, dayNumber, MONTHS } from './day-words.ts'
import { DAY as DAY_MS, daysIn, firstOf, monthOf, weekdayOf } from './days.ts'
import { NUMBER, UNIT } from './durations.ts'
import { addTimes, TIME_RULES, UP_TO } from './time-rules.ts'
import { readerOf, type Rule, tidy, type TimeWords } from './time-words.ts'

const QUOTED = /"[^"\n]*"|\u201C[^\u201D\n]*\u201D|\u00AB[^\u00BB\n]*\u00BB|`[^`\n]*`|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu
/** Paths and names of files; not "24/12" and "7.30". */
const NAMES = /(?<!\S)(?!\d+[./:-]\d)(?:\S*[/\\_@]\S*|\S+\.[a-z]\w{1,4}(?![\w.]))/gi
/** Words by which a text is English: its numbers are times only there. */
const ENGLISH = /\b(?:the|every|each|tomorrow|today|tonight|please|and|remind|check|send|tell|my|with|this|daily|weekly)\b/
/** A time that is counted from another, or is in a zone that is named. */
const RELATIVE = new RegExp(`(?:${UNIT}) (?:before|after|prior|ahead|earlier|later than)|\\b(?:[ecmp][sd]t|utc|gmt|ces?t|bst|jst|aest|` +
  '\\w+ (?<!(?:some|any|each|every|next|last|first|my|our|local|this|that|the|in|on) )time(?= |$|[,.;:!?]))\\b')
/** What these words stand before is an end or a start, or is over. */
const OPEN = '(?:by|before|(?<!day )after|until|till|since|from|starting|beginning|as of|no later than|last|(?<!half |quarter )past|' +
  'yesterday|than)(?: on| at| next| the| this)?'

const firstRules: Rule[] = [
  [`not (?:every|each) (?:${UNIT}|${DAY})|not (?:daily|weekly|monthly|again)`, ({ found }, _, words) => found.once.push(words)],
  [`(?:including|also on|even on) (?:${DAY})|(?:${DAY}),? (?:too|included|as well)`, () => {}],
  [`(?<=(?:day|morning|afternoon|evening|night|daily|tomorrow)s?,? )(?<side>before|by|after) (?<hour>${CLOCK}|\\d{1,2}${NO_HOUR})`,
    ({ found }, { side, hour }, words) => {
      const clock = readClock(hour!)
      const hours = clock === undefined ? [] : secondsOf(clock).map((second) => second / 3600)
      if (hours.length === 0) return false
      const [from, to] = side === 'after' ? [hours[0], 24] : [0, hours.find((each) => each >= 7)! - 1]
      found.windows.push({ words, from, to })
      return true
    }],
  [`${OPEN} (?!(?:${HOUR}) ?(?:and|${UP_TO}|-) ?(?:${HOUR}))(?:(?:${DAY})(?! of| ?(?:${UP_TO}|-) )|${DATE}|${CLOCK}|` +
    `(?:at )?\\d{1,2}${NO_HOUR}|${PART}|tomorrow|today|(?:${NUMBER}|an?) (?:${UNIT}))`, () => {}],
  ['(?:every|each) (?:few|couple of|several|so many) \\w+|(?:again and|over and) (?:again|over)|repeatedly|regularly|periodically|' +
    '(?:every|each) time|continu(?:al|ous)ly|constantly|from now on|now and then|from time to time|on a regular basis|whenever|recurring|' +
    'keep (?:on )?(?:check|watch|look|monitor)ing|' +
    '(?:at least |at most |no more than |up to |maybe |more than )(?:once|twice|\\w+ times) a \\w+|' +
    `(?:every|each) (?:${NUMBER}|an?)? ?(?:${UNIT}) or (?:so|two)`, ({ found }, _, words) => found.repeated.push(words)],
  ['on (?:the )?(?<first>\\d{1,2})[./](?<second>\\d{1,2})[./]?(?:\\d{4})?', ({ found, today }, { first, second }, words) => {
    const [a, b] = [Number(first), Number(second)]
    const dates = [[a, b], [b, a]].filter(([day, month]) => month >= 1 && month <= 12 && day >= 1 && day <= 31)
    const year = new Date(today * DAY_MS).getUTCFullYear()
    found.days.push({ words, days: dates.flatMap(([day, month]) => [0, 1].map((n) => dayNumber({ day, month, year: year + n }))) })
  }],
  ['(?:at |by |towards )?(?:the )?(?<part>end|start|beginning|middle) of (?:the|each|every) month', ({ found }, { part }, words) => {
    const [from, to] = part === 'end' ? [25, 31] : part === 'middle' ? [10, 20] : [1, 7]
    found.daysOfMonth.push({ words, days: Array.from({ length: to - from + 1 }, (_, n) => from + n), isEach: false })
    if (/(?:every|each) month$/.test(words)) found.repeated.push(words)
  }],
  [`(?:in|every|each) (?<month>${MONTHS.join('|')})(?! \\d)`, ({ found }, { month }, words) =>
    found.months.push({ words, month: MONTHS.indexOf(month!) })],
  ['(?<which>next|this) (?<unit>week|month)', ({ found, today }, { which, unit }, words) => {
    const month = monthOf(today) + (which === 'next' ? 1 : 0)
    const monday = today - weekdayOf(today) + (which === 'next' ? 7 : 0)
    const [from, length] = unit === 'week' ? [monday, 7] : [firstOf(month), daysIn(month)]
    found.days.push({ words, days: Array.from({ length }, (_, n) => from + n) })
  }],
  [`(?:at )?(?:around |about |roughly |approximately |~ ?)+(?:at )?(?<near>${HOUR})|(?:at )?(?<hour>${HOUR}) ?(?:-?ish| or so)`,
    ({ found }, { near, hour }, words) => addTimes(found, (near ?? hour)!, words)],
  ['first thing(?: in the morning)?', ({ found }, _, words) => found.parts.push({ words, parts: ['morning'] })],
  ['(?:at |during |over )?lunch(?:time| ?break)|at lunch', ({ found }, _, words) => found.parts.push({ words, parts: ['lunch'] })]
]
const readWords = readerOf([...firstRules, ...TIME_RULES])

/**
 * Reads what a text about other things says of times, in English. What is quoted, names of files, ends, and what is over say nothing, and
 * words that are not understood demand nothing.
 */
export function readProse (text: string, today: number): TimeWords {
  const words = tidy(text.replace(QUOTED, ' ; ').replace(NAMES, ' ; ').replace(/\beveryday\b/gi, ' '))
  const found = readWords(words, today)
  return ENGLISH.test(words) && !RELATIVE.test(words) ? found : { ...found, times: [] }
}
