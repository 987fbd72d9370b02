import { findTimes, type FoundTime, type KindOfTime } from '../../../calendar/index.ts'
import { withoutPoliteness } from './commands.ts'
import { type Excerpt, readMessage } from './excerpt.ts'

/** Work for a background task: its goal, and the user's words about its time. The tool that creates tasks parses these words. */
export interface Background {
  goal: string
  /** `doubt`: the words are about a time, and are ambiguous or cannot be read. */
  when?: { text: string, kind: KindOfTime }
}

/** The most characters of a message that can ask for background work. */
const MAX_LENGTH = 4_000
/** Matches questions and prohibitions, which mention background work but do not ask for it. */
const ONLY_TALK =
  /^(?:what|why|how|when|where|who|which|is|are|was|were|does|did|do (?:i|we|you)|should|have|has)\b|\b(?:not|don't|never|stop)\b/
const CONDITION = /^(?:if|whenever|unless|in case|as soon as|as long as)\b/i
const NOW_AND_THEN = /^(?:every )?now and (?:then|again)\b/i

/** Words that stand before a name. Words about a time that follow them are a name, such as "daily" in "the folder daily". */
const BEFORE_NAME = 'in|of|from|to|into|named|called|the|a|an'
const NAMED = new RegExp(`(?<!\\S)(?:${BEFORE_NAME}|for|about|with)$`)
const FOLDER = /(?<!\S)(?:folder|directory|file)$/
/** Commands whose free text can contain words about a time. */
const FREE = /^(?:remember|forget|note|type|say|press|tell)\b/
const SEARCH = /^(?:search|look|google|find|research)\b/
const WRITE = /^(?:write|append|add|save|create|put|echo|make)\b/
/** Matches the text that can follow words about a time. */
const PART_END = /^(?:\s*$|\s*[.!?,;\n\uE000]|\s+(?:and|then|to|so|for)\b)/
/** Returns an expression that matches the words at the start of the message, or at the end of one of its parts, but not as a name. */
const phrase = (words: string) =>
  new RegExp(`^${words},?|(?<!\\b(?:${BEFORE_NAME})),? ${words}(?=$|[.!?,;]| (?:and|then|to|until|so|for)\\b)`)
const IN_BACKGROUND = phrase('in the background')
const FOR_NEWS = phrase('for (?:any )?(?:changes|updates|news)')
const WATCH = /^(?:keep (?:watching|checking|monitoring|an eye on)|monitor)\s+(?=.)/

/**
 * Returns the background work that a message asks for: work at a time, work "in the background", or watching something. Undefined if there
 * is none.
 */
export function readBackground (message: string): Background | undefined {
  if (message.length > MAX_LENGTH) return undefined
  const whole = message.trim()
  const asked = withoutOpening(whole)
  if (ONLY_TALK.test(asked.mask)) return undefined
  const timed = findTime(asked)
  const isConditional = NOW_AND_THEN.test(whole) || (timed && CONDITION.test(whole))
  if (isConditional) return { goal: whole, when: { text: whole, kind: 'doubt' } }
  if (timed?.kind === 'doubt') return { goal: whole, when: { text: timed.text, kind: 'doubt' } }
  const now = timed?.rest ?? asked.written
  const rest = without(now, IN_BACKGROUND)
  const clause = withoutOpening(rest)
  const watched = WATCH.exec(clause.mask)
  if (timed === undefined && rest === now && !watched) return undefined
  const goal = watched ? `look at ${without(clause.written.slice(watched[0].length), FOR_NEWS)}` : rest
  // To watch something means to look at it repeatedly.
  const when = timed ? { text: timed.text, kind: timed.kind } : watched ? { text: 'hourly', kind: 'repeated' as const } : undefined
  return { goal: goal || whole, ...when && { when } }
}

function withoutOpening (text: string): Excerpt {
  const message = readMessage(text.trim())
  return message.part(withoutPoliteness(message).start)
}

/**
 * Returns the words about a time, and the message without them as `rest`; undefined if there are none. The kind is `doubt` if the words
 * might belong to other text, if other words change their meaning, or if there is a second time.
 */
function findTime (asked: Excerpt): { text: string, kind: KindOfTime, rest: string } | undefined {
  const time = firstTime(asked)
  if (time === undefined) return undefined
  const { from, to, kind } = time
  const { written } = asked
  const rest = joined(written.slice(0, from), written.slice(to))
  const isDoubtful = time.isTurned !== undefined || isInText(asked.mask, time) || firstTime(readMessage(rest)) !== undefined
  // Clear words are quoted together with the words that make them doubtful.
  if (kind !== 'doubt' && isDoubtful) return { text: written, kind: 'doubt', rest }
  return { text: written.slice(from, to).replace(/\s+/g, ' '), kind, rest }
}

/** Returns the first words that are meant as a time. */
function firstTime (asked: Excerpt): FoundTime | undefined {
  // Times of day such as 9.30 look like names of files.
  const text = asked.mask.replace(/\uE001+/g, (name, at) => {
    const written = asked.written.slice(at, at + name.length).toLowerCase()
    return /^(?:\d[\d.:/-]*\w{0,4}|[ap]\.m)$/.test(written) ? written : name
  })
  for (const time of findTimes(text)) if (isMeant(text, time)) return time
  return undefined
}

/** True if the words of `time` are meant as a time: at the start of the message, or at the end of one of its parts. */
function isMeant (text: string, { from, to, kind, isTurned }: FoundTime): boolean {
  if (from === 0) return true
  const [before, said] = [text.slice(0, from).trim(), text.slice(from, to)]
  if (FREE.test(text) || NAMED.test(before) || (FOLDER.test(before) && !/\s/.test(said))) return false
  // In "search for flights on friday" the day belongs to the text to search for.
  if (SEARCH.test(text) && kind === 'once' && !/\d|noon|midnight|tomorrow/.test(said)) return false
  return kind === 'doubt' || isTurned === 'behind' || PART_END.test(text.slice(to))
}

/** True if the words might belong to a text that a command writes or searches for. */
function isInText (text: string, { from, to, kind }: FoundTime): boolean {
  if (from === 0) return false
  if (SEARCH.test(text)) return kind === 'once'
  return WRITE.test(text) && !/[\uE000\uE001]/.test(text.slice(0, from)) && /\b(?:to|into|in|as)\b/.test(text.slice(to))
}

/** Removes the first phrase that a pattern finds outside of quotations. */
function without (text: string, pattern: RegExp): string {
  const found = pattern.exec(readMessage(text).mask)
  return found ? joined(text.slice(0, found.index), text.slice(found.index + found[0].length)) : text
}

/** Joins the text before and behind a removed phrase, without the punctuation that belonged to the phrase. */
function joined (before: string, behind: string): string {
  const [start, end] = [before.replace(/,?\s*$/, ''), behind.replace(/^[ ,:]+|^[\s.,;:!?]+$/, '')]
  return `${start} ${start === '' ? end.replace(/^[.;!?]\s/, '') : end}`.trim()
}
