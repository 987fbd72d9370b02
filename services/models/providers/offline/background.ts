import { kindOfTime, type KindOfTime } from '../../../calendar/index.ts'
import { Clause } from './clause.ts'
import { tokenise, type Token } from './tokens.ts'

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
  /^(?:what|why|how|when|where|who|which|is|are|was|were|does|did|do (?:i|we|you)|should|have|has)\b|\b(?:not|don't|never|stop|no longer)\b/
const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
const OF_DAYS = new RegExp(`^(?:${WEEKDAY}|day|week|month|year|working|business)\\b`, 'i')
/** The words with which a text about a time can begin. */
const FIRST = new RegExp(
  `^(?:every|each|hourly|daily|nightly|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually|weekdays|weekends|${WEEKDAY}|` +
    'once|twice|(?:two|three|four|five|six) times|at|on|in|from|this|next|coming|today|tonight|tomorrow|the|first|last|' +
    '\\d{1,2}(?:st|nd|rd|th|am|pm)|\\d{1,2}:\\d\\d|\\d{4}-\\d\\d-\\d\\d|mornings?|evenings?)$'
)
/** Words in front of names, which may be words about times: "the folder daily". */
const BEFORE_NAME = /^(?:in|of|from|to|into|named|called|folder|directory|file|the|a|an|for|about|with)$/
/** Words that would make another time of the one before or behind them. */
const MORE = /^(?:at|on|between|from|through|until|till|except|excluding|but|or|starting|beginning|before|after|since|by|not|of|unless|if)$/
const LIMIT = /^for (?:the next |an? |\d+ |one |two |three |four |five |six )/
/** Commands with free text, which may be about a time. */
const FREE = /^(?:remember|forget|note|type|say|press|tell)$/
const SEARCH = /^(?:search|look|google|find|research)$/
const WRITE = /^(?:write|append|add|save|create|put|echo|make)$/
const BEHIND = 'in the background(?! (?:of|color|colour|image|picture) )'
const NO_NAME = '(?<!\\b(?:in|of|from|to|into|named|called|folder|directory|file|the|a|an))'
/** At the start, or within or at the end of a sentence, but not as a name. */
const phrase = (words: string) => [
  new RegExp(`^${words}(?: ,)?`),
  new RegExp(`${NO_NAME}(?: ,)? ${words}(?=$| (?:[.!?,;]|and|then|to|until|so|for)( |$))`)
]
const [IN_BACKGROUND, FOR_NEWS] = [phrase(BEHIND), phrase('for (?:any )?(?:changes|updates|news)')]

/** Reads background work from a message: work at a time, work "in the background", or watching something. Undefined when there is none. */
export function readBackground (message: string): Background | undefined {
  if (message.length > MAX_LENGTH) return undefined
  const asked = withOrdinal(message, clauseOf(message).written)
  if (ONLY_TALK.test(wordsOf(asked))) return undefined
  const timed = inDoubt(message, findTime(asked))
  if (timed?.kind === 'doubt') return { goal: message.trim(), when: { text: timed.text, kind: 'doubt' } }
  const { rest, found: isBehind } = without(timed?.rest ?? asked, IN_BACKGROUND)
  const clause = clauseOf(rest)
  const isWatch = clause.take('keep watching|checking|monitoring') || clause.take('keep an eye on') || clause.take('monitor')
  if (timed === undefined && !isBehind && !isWatch) return undefined
  // Watching something means to look at it repeatedly.
  const goal = isWatch ? `look at ${without(clause.written, FOR_NEWS).rest}` : rest
  const when = timed ?? (isWatch ? { text: 'hourly', kind: 'repeated' as const } : undefined)
  return { goal: goal || message.trim(), ...when !== undefined && { when: { text: when.text, kind: when.kind } } }
}

const NOW_AND_THEN = /^(?:every )?now and (?:then|again)\b/
const CONDITION = /^(?:if|whenever|unless|in case|as soon as|as long as)\b/

/** A time under a condition, and "now and then", are in doubt. */
function inDoubt (message: string, timed: TimedText | undefined): TimedText | undefined {
  const words = wordsOf(message)
  const isDoubtful = NOW_AND_THEN.test(words) || (timed !== undefined && CONDITION.test(words))
  return isDoubtful ? { text: message.trim(), kind: 'doubt', rest: '' } : timed
}

/** "next" and "first" put commands in order, but not in front of a day. */
function withOrdinal (message: string, asked: string): string {
  const [word] = /\b(?:next|first|second|third)\s+$/i.exec(message.slice(0, message.indexOf(asked))) ?? []
  return word !== undefined && OF_DAYS.test(asked) ? word + asked : asked
}

interface TimedText {
  text: string
  kind: KindOfTime
  rest: string
}

/** The words of a message about a time, and the message without them; in doubt when there is more than one time, or more is said of it. */
function findTime (asked: string): TimedText | undefined {
  const tokens = tokenise(asked)
  const words = tokens.map(({ kind, word }) => kind === 'line' ? '' : word)
  for (let at = 0; at < tokens.length; at++) {
    const first = `${words[at]} ${words[at + 1] ?? ''}`
    if (!FIRST.test(words[at]) && !FIRST.test(first) && !isAmount(words, at)) continue
    const found = longest(words, at)
    if (found === undefined || !isPhrase(words, at, found)) continue
    const { end, kind } = found
    const text = clean(asked.slice(tokens[at].start, tokens[end - 1].end))
    const rest = textWithout(asked, tokens, at, end)
    const beside = [words[at - 1] ?? '', words[end] ?? '']
    const isDoubtful = kind === 'doubt' || beside.some((word) => MORE.test(word) || isTimeWord(word)) ||
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

/** "10 minutes from now" and "9am and 5pm" begin with a number. */
const isAmount = (words: string[], at: number) => /^\d|^(?:ten|five|two|three|half)$/.test(words[at]) && words.indexOf('now', at) > at

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
  const verb = words[0]
  const text = words.slice(at, end).join(' ')
  if (at === 0) return true
  if (FREE.test(verb) || BEFORE_NAME.test(words[at - 1])) return false
  // "search for flights on friday" says what to search for.
  if (SEARCH.test(verb) && kind === 'once' && !/\d|noon|midnight|tomorrow/.test(text)) return false
  if (kind === 'doubt' || MORE.test(words[end] ?? '')) return true
  return end === words.length || /^(?:[.!?,;]|and|then|to|so|for|)$/.test(words[end])
}

/** Whether the words may belong to a text that a command writes or searches for. */
function isInText (words: string[], at: number, { end, kind }: Found): boolean {
  if (at === 0 || kind === 'doubt') return false
  if (SEARCH.test(words[0])) return kind === 'once'
  return WRITE.test(words[0]) && !words.slice(1, at).includes('') && words.slice(end).some((word) => /^(?:to|into|in|as)$/.test(word))
}

/** The text in the notation of schedules. */
const clean = (text: string) => text.replace(/\s+/g, ' ').trim()

function textWithout (text: string, tokens: Token[], from: number, to: number): string {
  const behind = tokens.slice(to)
  const start = behind.findIndex(({ kind, text: mark }) => !(kind === 'mark' && mark === ','))
  const [before, next] = [tokens[from - 1], start < 0 ? undefined : behind[start]]
  const isAny = behind.some(({ kind }) => kind !== 'mark')
  return `${before ? text.slice(0, before.end).replace(/,$/, '') : ''} ${next && isAny ? text.slice(next.start) : ''}`.trim()
}

/** Words about times. */
const TIME_WORD = new RegExp(
  '\\b(?:every|each|hourly|daily|nightly|(?:bi)?weekly|fortnightly|(?:bi)?monthly|quarterly|yearly|annually|tomorrow|tonight|weekdays?|' +
    `weekends?|${WEEKDAY}|mornings?|afternoons?|evenings?|o'clock|noon|midnight|\\d{1,2} ?[ap]m|\\d{1,2}:\\d\\d|sometimes|often|` +
    'later|soon|regularly|whenever|twice|(?:hour|day|week|month|year|moon|minute|second)s?)\\b',
  'i'
)

const ONLY_TIME = new RegExp(`^(?:yesterday|${TIME_WORD.source})$`, 'i')
/** "yesterday" in front of "at 5pm" makes another time of it. */
const isTimeWord = (word: string) => ONLY_TIME.test(word)

/** Whether a part of a message that is no command says something of a time. */
export const mentionsTime = (text: string): boolean => TIME_WORD.test(wordsOf(text))

const clauseOf = (text: string) => new Clause(text, tokenise(text))
/** The words in lower case with a blank between them; a quotation is a quote. */
const wordsOf = (text: string) => tokenise(text).map(({ word }) => word || '"').join(' ')

/** Cuts the first phrase that one of the patterns finds in the words of a text. */
function without (text: string, patterns: RegExp[]) {
  const words = wordsOf(text)
  const found = patterns.map((pattern) => pattern.exec(words)).find((each) => each !== null)
  if (!found) return { rest: text }
  const tokens = tokenise(text)
  const first = words.slice(0, found.index + 1).trim().split(' ').length - (found.index === 0 ? 1 : 0)
  const behind = tokens.slice(first + found[0].trim().split(' ').length)
  const [before, [next]] = [tokens[first - 1], behind.some(({ kind }) => kind !== 'mark') ? behind : []]
  return { found, rest: `${before ? text.slice(0, before.end) : ''} ${next ? text.slice(next.start) : ''}`.trim() }
}
