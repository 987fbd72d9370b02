import { LIMITS } from '../../../schemas/brain.ts'
import type { Pointer, ShownMessage } from '../../models/index.ts'
import { foldCase, foldText, topicsIn } from '../fact-text.ts'
import type { Statement } from '../learning.ts'
import { findOwnWords, searchable, type SearchableMessage, type WordsProblem } from './own-words.ts'
import { holdsSecret } from './secret-words.ts'

/** Why an answer of the model, or one of its pointers (places in messages that the model names), is not learned. */
export type Problem =
  | WordsProblem
  | 'the pointer is malformed'
  | 'the message does not exist'
  | 'the id in "replaces" or "same" does not exist'
  | 'the model pointed at everything'
  | 'the model pointed at too much'

/** A verified pointer: the statement, and the number of the message that contains it. */
export type Found = Statement & { message: number }

/** A request that might recur. */
interface FoundHabit {
  /** The number of the message. Numbers from the count of messages on are those of goals. */
  message: number
  pattern: string
  same?: string
}

export interface Verified {
  found: Found[]
  habits: FoundHabit[]
  /** How often each check failed. */
  problems: Map<Problem, number>
}

/** The most pointers and habits in one answer. An answer with more is rejected as a whole. */
const MAX_POINTERS = 100
/**
 * A conversation with at least this many messages and sentences must contain some sentences without a lasting
 * statement, even if none is a question.
 */
const CONVERSATION = { messages: 3, sentences: 6 }

/**
 * Verifies the pointers of a model, in any language. Only whole sentences of the user are learned, never words
 * of the model. Statements about others, and passing or sensitive ones, are left out. In goals only habits
 * count. `ids` maps the short id that the model saw to the real id.
 */
export function verifyPointers (
  { messages, goals = [] }: { messages: ShownMessage[], goals?: string[] },
  answer: { pointers: unknown[], habits?: unknown[] },
  ids: (shown: string) => string | undefined
): Verified {
  const problems = new Map<Problem, number>()
  const reject = (problem: Problem): [] => {
    problems.set(problem, (problems.get(problem) ?? 0) + 1)
    return []
  }
  const { pointers, habits = [] } = answer
  const nothing = (problem: Problem): Verified => ({ found: [], habits: [], problems: new Map([[problem, 1]]) })
  if (pointers.length + habits.length > MAX_POINTERS) return nothing('the model pointed at too much')
  const shown = messages.map(({ text }) => searchable(text))
  const shownGoals = goals.map(searchable)
  const marked = new Set<object>()

  const found = pointers.flatMap((pointer): Found[] => {
    if (!isPointer(pointer)) return reject('the pointer is malformed')
    const message = shown[pointer.message]
    if (message === undefined) return reject('the message does not exist')
    const replaces = (pointer.replaces ?? []).flatMap((id) => ids(id) ?? (reject('the id in "replaces" or "same" does not exist')))
    const words = findOwnWords(message, pointer.span, { mayAsk: true })
    if ('problem' in words) return reject(words.problem)
    const isHealth = pointer.about === 'user' && pointer.health === true
    const isMeant = pointer.about === 'user' && pointer.lasting && (isHealth || !pointer.sensitive)
    if (isMeant) words.sentences.forEach((sentence) => marked.add(sentence))
    if (words.sentences.some(({ isQuestion }) => isQuestion) && (pointer.kind !== 'instruction' || !isMeant)) {
      return reject('the words are a question')
    }
    const isRetraction = !isMeant && pointer.about === 'user' && replaces.length > 0
    if (!isMeant && !isRetraction) return []
    const { text: fact, isUnsure } = words
    const content: Content = isRetraction ? { kind: 'fact' } : contentOf(pointer, fact)
    const isImportant = isMeant && (isHealth || pointer.important === true)
    const { asked, day } = messages[pointer.message]
    const on = isDayNear(pointer.on, day) ? pointer.on : undefined
    const topics = topicsIn(pointer.topics)
    return [{
      ...{ message: pointer.message, fact, ...content, replaces, isRetraction, isUnsure },
      ...(isImportant && { isImportant }),
      ...(pointer.isAnswer === true && asked !== undefined && !holdsSecret(asked) && { asked }),
      ...(on !== undefined && { on }),
      ...(topics.length > 0 && { topics })
    }]
  })
  // A model that marks most of the sentences cannot tell which of them are worth remembering, so a person decides.
  const isDoubtful = found.length > 0 && marksMost(shown, marked)
  if (pointsAtEverything(shown, marked)) return nothing('the model pointed at everything')

  const recurring = habits.flatMap((habit): FoundHabit[] => {
    if (!isHabit(habit)) return reject('the pointer is malformed')
    const message = shown[habit.message] ?? shownGoals[habit.message - shown.length]
    if (message === undefined) return reject('the message does not exist')
    const words = findOwnWords(message, habit.span, { mayAsk: true })
    if ('problem' in words) return reject(words.problem)
    const same = habit.same === undefined || habit.same === '' ? undefined : ids(habit.same)
    if (habit.same && same === undefined) reject('the id in "replaces" or "same" does not exist')
    return words.isUnsure ? [] : [{ message: habit.message, pattern: words.text, ...(same && { same }) }]
  })
  return { found: isDoubtful ? found.map((each) => ({ ...each, isUnsure: true })) : found, habits: recurring, problems }
}

/**
 * A larger share of marked sentences than MOST is doubtful, if at least `marked` sentences are marked and, for a
 * whole conversation, if it has at least `ofConversation` sentences.
 */
const MOST = 0.6
const SENTENCES = { marked: 3, ofConversation: 5 }

/**
 * True if the model pointed at most of one message, at most of the conversation, or at all of three or more messages. Questions
 * do not count. At least three sentences must be marked, because somebody might well write just two sentences about themselves.
 */
function marksMost (messages: SearchableMessage[], marked: Set<object>): boolean {
  const stated = messages.map(({ sentences }) => sentences.filter(({ isQuoting, isQuestion }) => !isQuoting && !isQuestion))
  const all = stated.flat()
  const count = (sentences: object[]) => sentences.filter((each) => marked.has(each)).length
  const isMost = (sentences: object[]) => count(sentences) >= SENTENCES.marked && count(sentences) > sentences.length * MOST
  return stated.some(isMost) || (all.length >= SENTENCES.ofConversation && isMost(all)) ||
    (messages.length >= CONVERSATION.messages && all.length >= SENTENCES.marked && count(all) === all.length)
}

const DAY_MS = 24 * 60 * 60 * 1000
/** The most days between a message and a day to which it refers, such as "next summer". */
const NEAR = 800

/** True if `day` is a valid date (YYYY-MM-DD) within NEAR days of `said`, the day of the message. */
function isDayNear (day: string | undefined, said: string | undefined): boolean {
  if (day === undefined || said === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return false
  const time = Date.parse(`${day}T00:00:00Z`)
  // Date turns a day that its month does not have, such as 31 April, into another day.
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
  return isDay && Math.abs(time - Date.parse(`${said}T00:00:00Z`)) <= NEAR * DAY_MS
}

/** True if the model pointed at every sentence of the messages although that cannot be right. */
function pointsAtEverything (messages: SearchableMessage[], marked: Set<object>): boolean {
  const all = messages.flatMap(({ sentences }) => sentences.filter(({ isQuoting }) => !isQuoting))
  const isConversation = messages.length >= CONVERSATION.messages && all.length >= CONVERSATION.sentences
  return all.every((sentence) => marked.has(sentence)) && (isConversation || (all.length > 1 && all.some(({ isQuestion }) => isQuestion)))
}

type Content = Pick<Statement, 'kind' | 'key' | 'value'>

/**
 * Returns the kind of a statement, with its key and value. A preference becomes a fact if its value is not in the words `fact`, or if its
 * key is not valid.
 */
export function contentOf ({ kind, key, value }: Content, fact: string): Content {
  if (kind !== 'preference') return { kind }
  const said = value?.normalize('NFC').trim() ?? ''
  const at = said === '' ? -1 : foldCase(fact).indexOf(foldCase(said))
  const name = key?.normalize('NFC').replace(/\s+/g, ' ').trim() ?? ''
  return at >= 0 && isKey(name, fact) ? { kind, key: name, value: fact.slice(at, at + said.length) } : { kind: 'fact' }
}

/**
 * True if a text can be the key of a preference: it names a thing in few words. A longer key must consist of
 * words of the user, because the key becomes a part of each prompt.
 */
function isKey (key: string, fact: string): boolean {
  if (key === '' || key.length > LIMITS.key || holdsSecret(key) || !/^[\p{L}\p{M}\p{N} '’_-]+$/u.test(key)) return false
  return foldText(fact).includes(foldText(key)) || (key.length <= 40 && key.split(' ').length <= 3)
}

const isPointer = (value: unknown): value is Pointer => {
  const pointer = value as Partial<Record<keyof Pointer, unknown>> | null
  return typeof pointer === 'object' && pointer !== null && Number.isInteger(pointer.message) && typeof pointer.span === 'string' &&
    ['fact', 'preference', 'instruction'].includes(pointer.kind as string) && ['user', 'other'].includes(pointer.about as string) &&
    typeof pointer.lasting === 'boolean' && typeof pointer.sensitive === 'boolean' && isOptionalText(pointer.key) &&
    isOptionalText(pointer.value) && isOptionalText(pointer.on) &&
    (pointer.replaces === undefined || (Array.isArray(pointer.replaces) && pointer.replaces.every((id) => typeof id === 'string')))
}

const isHabit = (value: unknown): value is { message: number, span: string, same?: string } => {
  const habit = value as { message?: unknown, span?: unknown, same?: unknown } | null
  return typeof habit === 'object' && habit !== null && Number.isInteger(habit.message) && typeof habit.span === 'string' &&
    isOptionalText(habit.same)
}

const isOptionalText = (value: unknown) => value === undefined || value === null || typeof value === 'string'
