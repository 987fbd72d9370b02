import { kindOfTime, type KindOfTime } from '../../../calendar/index.ts'
import { Clause } from './clause.ts'
import { tokenise } from './tokens.ts'

/** Work for a background task: its goal, and the user's words about its time in the notation of schedules. */
export interface Background {
  goal: string
  /** `doubt`: the words are about a time, and may mean several or none. */
  when?: { text: string, kind: KindOfTime }
}

/** Characters. A longer message is no wish for background work. */
const MAX_LENGTH = 4_000
/** Words of the longest text about a time. */
const MOST_WORDS = 24
/** Questions and prohibitions, which mention such work but do not ask for it. */
const ONLY_TALK =
  /^(?:what|why|how|when|where|who|which|is|are|was|were|does|did|do (?:i|we|you)|should|have|has)\b|\b(?:not|don['’]t|never|stop)\b/i
const DOUBTFUL = /^(?:every )?now and (?:then|again)\b/i
const CONDITION = /^(?:if|whenever|unless|in case|as soon as|as long as)\b/i
const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
/** "next" and "first" put commands in order, but not in front of a day. */
const ORDINAL = new RegExp(`\\b(?:next|first|second|third)\\s+((?:${WEEKDAY}|day|week|month|year|working|business)\\b[^]*)`, 'i')
/** The words with which a text about a time can begin. */
const FIRST = new RegExp(
  `^(?:every|each|hourly|daily|nightly|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually|weekdays|weekends|${WEEKDAY}|` +
    'once|twice|(?:two|three|four|five|six) times|at|on|in|from|this|next|coming|today|tonight|tomorrow|the|first|last|' +
    '\\d{1,2}(?:st|nd|rd|th|am|pm)|\\d{1,2}:\\d\\d|\\d{4}-\\d\\d-\\d\\d|\\w+ \\w+ from now|mornings?|evenings?)(?= |$)'
)
/** Words about times. */
const TIME_WORD = new RegExp(
  '\\b(?:every|each|hourly|daily|nightly|(?:bi)?weekly|fortnightly|(?:bi)?monthly|quarterly|yearly|annually|tomorrow|tonight|weekdays?|' +
    `weekends?|${WEEKDAY}|mornings?|afternoons?|evenings?|o'clock|noon|midnight|\\d{1,2} ?[ap]m|\\d{1,2}:\\d\\d|sometimes|often|` +
    'later|soon|regularly|whenever|twice|(?:hour|day|week|month|year|moon|minute|second)s?)\\b',
  'i'
)
/** Words beside a text about a time that would make another one of it, such as "yesterday" in front of "at 5pm". */
const BESIDE = new RegExp(
  '^(?:at|on|between|from|through|until|till|except|excluding|but|or|starting|beginning|before|after|since|by|not|of|unless|if|yesterday|' +
    `${TIME_WORD.source})$`
)
const LIMIT = /^for (?:the next |an? |\d+ |one |two |three |four |five |six )/
/** Words in front of names, which may be words about times: "the folder daily". */
const BEFORE_NAME = 'in|of|from|to|into|named|called|folder|directory|file|the|a|an'
const NAMED = new RegExp(`^(?:${BEFORE_NAME}|for|about|with)$`)
/** Commands with free text, which may be about a time. */
const FREE = /^(?:remember|forget|note|type|say|press|tell)$/
const SEARCH = /^(?:search|look|google|find|research)$/
const WRITE = /^(?:write|append|add|save|create|put|echo|make)$/
/** At the start, or at the end of a part of the message, but not as a name. */
const phrase = (words: string) =>
  new RegExp(`^${words},?|(?<!\\b(?:${BEFORE_NAME})),? ${words}(?=$|[.!?,;]| (?:and|then|to|until|so|for)\\b)`, 'i')
const IN_BACKGROUND = phrase('in the background')
const FOR_NEWS = phrase('for (?:any )?(?:changes|updates|news)')

/** Reads background work from a message: work at a time, work "in the background", or watching something. Undefined when there is none. */
export function readBackground (message: string): Background | undefined {
  if (message.length > MAX_LENGTH) return undefined
  const whole = message.trim()
  const { written } = clauseOf(message)
  const ordinal = ORDINAL.exec(whole)
  const asked = ordinal?.[1] === written ? ordinal[0] : written
  if (ONLY_TALK.test(withoutData(asked))) return undefined
  const timed = findTime(asked)
  if (DOUBTFUL.test(whole) || (timed && CONDITION.test(whole))) return { goal: whole, when: { text: whole, kind: 'doubt' } }
  if (timed?.kind === 'doubt') return { goal: whole, when: { text: timed.text, kind: 'doubt' } }
  const now = timed?.rest ?? asked
  const rest = without(now, IN_BACKGROUND)
  const clause = clauseOf(rest)
  const isWatch = clause.take('keep watching|checking|monitoring') || clause.take('keep an eye on') || clause.take('monitor')
  if (timed === undefined && rest === now && !isWatch) return undefined
  const goal = isWatch ? `look at ${without(clause.written, FOR_NEWS)}` : rest
  // Watching something means to look at it repeatedly.
  const when = timed ? { text: timed.text, kind: timed.kind } : isWatch ? { text: 'hourly', kind: 'repeated' as const } : undefined
  return { goal: goal || whole, ...when && { when } }
}

/** Whether a part of a message that is no command says something of a time. */
export const mentionsTime = (text: string): boolean => TIME_WORD.test(withoutData(text))

/** The words of a message about a time, and the message without them; in doubt when there is more than one time, or more is said of it. */
function findTime (asked: string): { text: string, kind: KindOfTime, rest: string } | undefined {
  const tokens = tokenise(asked)
  const words = tokens.map(({ kind, word }) => kind === 'line' ? '' : word)
  for (let at = 0; at < tokens.length; at++) {
    if (!FIRST.test(words.slice(at, at + 4).join(' '))) continue
    const found = longest(words, at)
    if (found === undefined || !isPhrase(words, at, found)) continue
    const { end, kind } = found
    const [from, to] = [tokens[at].start, tokens[end - 1].end]
    const text = asked.slice(from, to).replace(/\s+/g, ' ').trim()
    const rest = joined(asked.slice(0, from), asked.slice(to))
    const isDoubtful = kind === 'doubt' || BESIDE.test(words[at - 1] ?? '') || BESIDE.test(words[end] ?? '') ||
      LIMIT.test(words.slice(end, end + 3).join(' ')) || isInText(words, at, found) || findTime(rest) !== undefined
    // Words that are clear by themselves are quoted with what makes them doubtful.
    return isDoubtful ? { text: kind === 'doubt' ? text : asked, kind: 'doubt', rest } : { text, kind, rest }
  }
  return undefined
}

interface Found {
  end: number
  kind: KindOfTime
}

/** The longest text about a time that begins there. */
function longest (words: string[], at: number): Found | undefined {
  for (let end = Math.min(words.length, at + MOST_WORDS); end > at; end--) {
    const span = words.slice(at, end)
    if (span.includes('') || /^[,.;:!?]$/.test(span.at(-1)!)) continue
    const kind = kindOfTime(span.join(' ').replaceAll(' ,', ',').replace(/ (['’]s)\b/g, '$1'))
    if (kind !== undefined) return { end, kind }
  }
  return undefined
}

/** Whether words about a time are meant as such: at the start of the message, or at the end of a part of it. */
function isPhrase (words: string[], at: number, { end, kind }: Found): boolean {
  if (at === 0) return true
  if (FREE.test(words[0]) || NAMED.test(words[at - 1])) return false
  // "search for flights on friday" says what to search for.
  if (SEARCH.test(words[0]) && kind === 'once' && !/\d|noon|midnight|tomorrow/.test(words.slice(at, end).join(' '))) return false
  return kind === 'doubt' || end === words.length || BESIDE.test(words[end]) || /^(?:[.!?,;]|and|then|to|so|for|)$/.test(words[end])
}

/** Whether the words may belong to a text that a command writes or searches for. */
function isInText (words: string[], at: number, { end, kind }: Found): boolean {
  if (at === 0 || kind === 'doubt') return false
  if (SEARCH.test(words[0])) return kind === 'once'
  return WRITE.test(words[0]) && !words.slice(1, at).includes('') && words.slice(end).some((word) => /^(?:to|into|in|as)$/.test(word))
}

const clauseOf = (text: string) => new Clause(text, tokenise(text))

/** A text of the same length with a quote in the place of each sign of its quotations. */
const withoutData = (text: string) =>
  tokenise(text).reduce((all, { word, start, end }) =>
    word === '' ? all.slice(0, start) + '"'.repeat(end - start) + all.slice(end) : all, text)

/** Cuts the first phrase that a pattern finds outside of quotations. */
function without (text: string, pattern: RegExp): string {
  const found = pattern.exec(withoutData(text))
  return found ? joined(text.slice(0, found.index), text.slice(found.index + found[0].length)) : text
}

/** Joins what stands before and behind a phrase that was cut, without the punctuation that belonged to it. */
const joined = (before: string, behind: string) =>
  `${before.replace(/,?\s*$/, '')} ${behind.replace(/^[ ,]+|^[\s.,;:!?]+$/, '')}`.trim()
