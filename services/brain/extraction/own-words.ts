import { LIMITS } from '../../../schemas/brain.ts'
import { readable, type ReadableMessage, sentencesOf, type Sentence } from './sentences.ts'
import { holdsSecret } from './secret-words.ts'

/** Why words are not taken as what the user says. */
export type WordsProblem =
  | 'the words stand in no message of the user'
  | 'the words are too few to tell where they stand'
  | 'the words stand in a quotation, in code or in quoted lines'
  | 'the words are a question'
  | 'the words span too many sentences'
  | 'the words hold what looks like a key, a card number or a password'

/** Whole sentences of the user's own. */
export interface OwnWords {
  text: string
  sentences: Sentence[]
  /** Whether the message may hold what others wrote, so that a person has to confirm it. */
  isUnsure: boolean
}

/** A message whose words can be looked up. */
export interface SearchableMessage extends ReadableMessage {
  sentences: Sentence[]
}

/** Sentences that one span may hold: a statement, and what limits it. */
const MAX_SENTENCES = 3
const END_MARKS = /[\s.!\u2026\u3002\uFF01\u0964\u061F?\uFF1F]+$/u

/** Prepares a message of the user for `findOwnWords`. */
export function searchable (message: string): SearchableMessage {
  const words = readable(message)
  return { ...words, sentences: sentencesOf(words) }
}

/**
 * Finds the whole sentences of a message in which a span stands. The sentences are the user's own: no quotation, code or
 * quoted line, and nothing that looks like a secret. A question is no statement; `mayAsk` admits it, because a wish can be
 * put as one.
 */
export function findOwnWords (
  { text, sentences, materialFrom, isMixed }: SearchableMessage,
  span: string,
  { mayAsk = false } = {}
): OwnWords | { problem: WordsProblem } {
  const places = placesOf(text, span)
  if (places.length === 0) return { problem: 'the words stand in no message of the user' }
  const found = places.map(({ from, to }) => sentences.filter(({ start, end }) => start < to && end > from))
  const own = found.filter((each) => each.length > 0 && each.every(({ isQuoting }) => !isQuoting))
  if (own.length === 0) return { problem: 'the words stand in a quotation, in code or in quoted lines' }
  const [whole] = own
  const words = text.slice(whole[0].start, whole.at(-1)!.end)
  if (own.some((each) => text.slice(each[0].start, each.at(-1)!.end) !== words)) {
    return { problem: 'the words are too few to tell where they stand' }
  }
  if (whole.length > MAX_SENTENCES || [...words].length > LIMITS.fact) return { problem: 'the words span too many sentences' }
  if (holdsSecret(words)) return { problem: 'the words hold what looks like a key, a card number or a password' }
  if (!mayAsk && whole.some(({ isQuestion }) => isQuestion)) return { problem: 'the words are a question' }
  return { text: words, sentences: whole, isUnsure: isMixed || whole.at(-1)!.end > materialFrom }
}

/** Where a span stands in a text. Its apostrophes may be straightened, and the mark at its end left out or changed. */
function placesOf (text: string, span: string): Array<{ from: number, to: number }> {
  const straight = (words: string) => words.toWellFormed().normalize('NFC').replaceAll('\u2019', "'")
  const [message, words] = [straight(text), straight(span).trim()]
  for (const wanted of [words, words.replace(END_MARKS, '')]) {
    if (!/[\p{L}\p{N}]/u.test(wanted) || wanted.length < 2) continue
    const places: Array<{ from: number, to: number }> = []
    for (let from = message.indexOf(wanted); from >= 0; from = message.indexOf(wanted, from + 1)) {
      if (isWhole(message, from, wanted)) places.push({ from, to: from + wanted.length })
    }
    if (places.length > 0) return places
  }
  return []
}

/** Whether the words begin and end at the bounds of words, in scripts that write blanks. */
function isWhole (text: string, from: number, words: string): boolean {
  const cuts = (before: string, after: string) => SPACED.test(before) && SPACED.test(after)
  return !cuts(text[from - 1] ?? '', words[0]) && !cuts(words.at(-1)!, text[from + words.length] ?? '')
}
const SPACED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{N}]/u
