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

/** Returns the digest of turns, of which each message counts that the user said, also while an answer was made. */
export function digestTurns (turns: readonly DigestedTurn[], digest: Digest, before = ''): string {
  let result = before
  for (const { own, answer } of turns) {
    let message = own
    let begin = 0
    for (let at = 0; at <= answer.length; at++) {
      if (at < answer.length && markOf(answer[at]) === undefined) continue
      result = digest(`turn ${result} ${message} ${answerTexts(answer.slice(begin, at))[0]}`)
      if (at < answer.length) message = digestMessage(answer[at], digest)
      begin = at + 1
    }
  }
  return result
}

/**
 * Returns the digests of a conversation with one more turn, for each way in which clients keep the answer: the whole, what follows the last
 * call, the second version of that, and the whole with what was said meanwhile as messages of its own. Those at the end that are the first
 * once more are left out.
 */
export function digestConversation (before: readonly string[], { own, answer }: DigestedTurn, digest: Digest): string[] {
  const texts = answerTexts(answer.filter((message) => markOf(message) === undefined))
  const result = texts.map((text, n) => digest(`turn ${before[n] ?? before[0] ?? ''} ${own} ${text}`))
  result.push(digestTurns([{ own, answer }], digest, before[texts.length] ?? before[0]))
  while (result.length > 1 && result.at(-1) === result[0]) result.pop()
  return result
}
