import type { Store } from '../store/index.ts'
import { writtenForm } from './stored-answer.ts'
import { answerTexts, canonicalContent, markOf, type ThreadMessage } from './thread-message.ts'

type Digest = Store['digest']

/** Returns the digest of a message of the user. */
export const digestMessage = (message: ThreadMessage, digest: Digest): string => digest(`message ${canonicalContent(message)}`)

/** A turn: the digest of the user's message, and the messages after it up to the next one that begins a turn. */
interface DigestedTurn {
  own: string
  answer: readonly ThreadMessage[]
}

/**
 * Returns the digest of a conversation with one more turn. Each message that the user sent during the answer counts as a message of its
 * own.
 */
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

/** The index of the digest for which the user's messages during an answer count as messages of their own. */
const STEERED = 3

/**
 * Returns the digests of a conversation with one more turn, one for each way in which clients keep the answer: the whole answer, only the
 * text after the last call, the second version of that text, and the whole answer with the user's messages during it as messages of their
 * own. Digests at the end that equal the first one are left out.
 */
export function digestConversation (before: readonly string[], { own, answer: read }: DigestedTurn, digest: Digest): string[] {
  const answer = read.flatMap(writtenForm)
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
 * Returns the digests by which the last turn of a client's copy of a conversation can be found, given all digests of that copy. The copy
 * keeps all answers in one way, with or without the user's messages during them as messages of their own.
 */
export const digestsOfCopy = (found: readonly string[]): string[] => [...new Set([found[0], found[STEERED] ?? found[0]])]
