import type { Store } from '../store/index.ts'
import { answerTexts, canonicalContent, markOf, type ThreadMessage } from './thread-message.ts'

type Digest = Store['digest']

/** Returns the digest of a message of the user. */
export const digestMessage = (message: ThreadMessage, digest: Digest): string => digest(`message ${canonicalContent(message)}`)

/** A message of the user by its digest, and what follows up to the next one that begins a turn. */
interface DigestedTurn {
  own: string
  answer: readonly ThreadMessage[]
}

/** Returns the digest of a conversation with one more turn, of which each message counts that the user said while it was answered. */
function digestSteered (before: string, { own, answer }: DigestedTurn, digest: Digest): string {
  let result = before
  let message = own
  let begin = 0
  for (let at = 0; at <= answer.length; at++) {
    if (at < answer.length && markOf(answer[at]) === undefined) continue
    result = digest(`turn ${result} ${message} ${answerTexts(answer.slice(begin, at))[0]}`)
    if (at < answer.length) message = digestMessage(answer[at], digest)
    begin = at + 1
  }
  return result
}

/** The index of the digest that takes what was said while an answer was made as messages of its own. */
const STEERED = 3

/**
 * Returns the digests of a conversation with one more turn, for each way in which clients keep the answer: the whole, what follows the last
 * call, the second version of that, and the whole with what was said meanwhile as messages of its own. Those at the end that are the first
 * once more are left out.
 */
export function digestConversation (before: readonly string[], { own, answer }: DigestedTurn, digest: Digest): string[] {
  const plain = answer.filter((message) => markOf(message) === undefined)
  const texts = answerTexts(plain)
  const beforeOf = (n: number) => before[n] ?? before[0] ?? ''
  const isSame = (n: number) => beforeOf(n) === beforeOf(0) && (texts[n] ?? texts[0]) === texts[0]
  const first = digest(`turn ${beforeOf(0)} ${own} ${texts[0]}`)
  const result = texts.map((text, n) => isSame(n) ? first : digest(`turn ${beforeOf(n)} ${own} ${text}`))
  const isUnsteered = plain.length === answer.length && isSame(STEERED)
  result.push(isUnsteered ? first : digestSteered(beforeOf(STEERED), { own, answer }, digest))
  while (result.length > 1 && result.at(-1) === first) result.pop()
  return result
}

/**
 * Returns the digests by which a turn may be found that a client's copy of a conversation ends with, of the digests of that copy: it holds
 * the answers in one way, with or without what was said meanwhile as messages of its own.
 */
export const digestsOfCopy = (found: readonly string[]): string[] => [...new Set([found[0], found[STEERED] ?? found[0]])]
