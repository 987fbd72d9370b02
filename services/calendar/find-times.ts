import { PARTS } from './clock-words.ts'
import { MONTHS, WEEKDAYS } from './day-words.ts'
import { NUMBER } from './durations.ts'

import { OFTEN } from './time-rules.ts'
import { kindOfTime, type KindOfTime } from './read-schedule.ts'

/** Words about a time in a longer text, at these positions. */
export interface FoundTime {
  from: number
  to: number
  kind: KindOfTime
  /** Whether words beside it make another time of it, which is not understood, as "until" does or "yesterday". */
  isTurned: 'before' | 'behind' | undefined
}

const either = (words: string[]) => words.join('|')
/** Words that say a time. */
const SAYS = `every|each|twice|bimonthly|tonight|tomorrow|noon|midnight|o'clock|weekdays?|weekends?|${either(OFTEN)}|` +
  `(?:${either([...Object.keys(PARTS), ...WEEKDAYS])})s?|(?:second|minute|hour|day|week|month|year|moon)s?|\\d{1,2} ?[ap]m|\\d{1,2}:\\d\\d`
/** Words that make another time of the one beside them. */
const TURNS = 'between|from|through|until|till|except|excluding|but|or|starting|beginning|before|after|since|by|not|unless|yesterday'
const MONTH = `${either(MONTHS)}|(?:${either(MONTHS.map((name) => name.slice(0, 3)))})t?`
/** Words that stand between those, and numbers with and without units. */
const LINKS = 'at|on|in|to|and|the|of|an?|per|for|other|single|this|next|coming|first|second|third|fourth|last|once|times?|today|now|' +
  `half|working|business|workdays?|fortnight|quarter|holidays|[ap]\\.?m|(?:hr|min|sec)s?|${MONTH}|mon|tues?|wed|thu|thurs?|fri|sat|sun|` +
  `${NUMBER}|\\d+(?:[.:/-]\\d+)*(?:[ap]m|st|nd|rd|th|[smhdw]|mins?|hrs?)?`
const WORD = `(?:${SAYS}|${TURNS}|${LINKS})(?=[,.;:!?]*(?:\\s|$))`

/** Words about a time that stand together; more of them than this are not understood. */
const MOST_WORDS = 24
const RUN = new RegExp(`(?<!\\S)${WORD}(?:,?[^\\S\\n]+${WORD}){0,${MOST_WORDS - 1}}`, 'g')
/** Words at the start of a run that may belong to the sentence instead. */
const MOST_LEFT_OUT = 6
/** The words with which a text about a time can begin. */
const FIRST = new RegExp(
  `^(?:every|each|twice|tonight|tomorrow|today|once|weekdays|weekends|mornings?|evenings?|${either(OFTEN)}|bimonthly|` +
    `(?:${either(WEEKDAYS)})s?|\\w+ times|at|on|in|from|this|next|coming|the|first|last|` +
    '\\d+(?:st|nd|rd|th|am|pm)|\\d+:\\d\\d|\\d{4}-\\d\\d-\\d\\d|\\w+ \\w+ from now)(?![^\\s,])'
)
const SAYS_TIME = new RegExp(`\\b(?:${SAYS})\\b|\\d`)
const TURNED = `at|on|of|if|${TURNS}|${SAYS}|(?:and )?(?:${MONTH})`
const BEFORE = new RegExp(`(?<!\\S)(?:${TURNED}),?\\s*$`)
const BEHIND = new RegExp(`^,?\\s*(?:${TURNED}|for (?:the next|an?|one|two|three|four|five|six|\\d+))(?![^\\s,.!?])`)

/** Whether a text says something of a time, also such as "often" and "later". */
export const mentionsTime = (text: string): boolean =>
  new RegExp(`\\b(?:${SAYS}|sometimes|often|later|soon|regularly|whenever)\\b`, 'i').test(text)

/** Finds words about times in a text in lower case, in linear time: in each run of such words the first that can be read, the longest. */
export function * findTimes (text: string): Generator<FoundTime> {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const found = firstIn(run)
    if (found) yield { ...found, from: index + found.from, to: index + found.to }
  }
}

function firstIn (run: string): FoundTime | undefined {
  const words = [...run.matchAll(/[^\s,]+/g)]
  for (const { index: from } of words.slice(0, MOST_LEFT_OUT)) {
    for (const { 0: last, index } of words.filter((word) => word.index >= from).toReversed()) {
      const to = index + last.length
      const part = run.slice(from, to)
      const kind = FIRST.test(part) && SAYS_TIME.test(part) ? kindOfTime(part) : undefined
      if (kind === undefined) continue
      return { from, to, kind, isTurned: BEHIND.test(run.slice(to)) ? 'behind' : BEFORE.test(run.slice(0, from)) ? 'before' : undefined }
    }
  }
  return words.length < MOST_WORDS ? undefined : { from: 0, to: run.length, kind: 'doubt', isTurned: 'behind' }
}
