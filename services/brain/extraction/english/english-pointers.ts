import type { Pointer } from '../../../models/index.ts'
import { ownSentences } from './own-sentences.ts'
import { sincereMessages } from './sincerity.ts'
import { readStatement, topicOf } from './statements.ts'

/** A known fact of which a statement on the same topic takes the place. */
export interface KnownText {
  id: string
  text: string
}

const DENIES = /\b(?:not|no longer|never|neither|forget|jok(?:e|ing)|kidding|lied|any ?more|mistaken|wrong)\b|n't\b/i
/** Signs of a message that puts right or changes what was said before, whatever it was. */
const CORRECTS = /\b(?:actually|correction|update|sorry|oops|i meant?|instead|moved|switched|changed|quit)\b/i
const COMMON = new Set('the and are was have has had for with from that this not any more longer'.split(' '))
const contentWords = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []).filter((word) => !COMMON.has(word))

/** Whether a later message may take a statement back: it corrects something, or denies something and shares a word with it. */
function mayBeDenied (statement: string, later: string[]): boolean {
  const words = new Set(contentWords(statement))
  return later.some((text) =>
    CORRECTS.test(text) || (DENIES.test(text) && contentWords(text).some((word) => words.has(word)))
  )
}

/**
 * Points at statements by the few rules for English, as a model does. `isPart` tells whether a role-play is under way before
 * the first message; in the result, after the last one.
 */
export function pointByRules (messages: string[], known: KnownText[], wasPart = false): { pointers: Pointer[], isPart: boolean } {
  const { isSincere, isPart } = sincereMessages(messages, wasPart)
  const topics = new Map<string, KnownText[]>()
  for (const fact of known) {
    const topic = topicOf(fact.text)
    if (topic !== undefined) topics.set(topic, [...topics.get(topic) ?? [], fact])
  }
  const statementsIn = (message: number) =>
    ownSentences(messages[message]).flatMap(({ text: span, ...sentence }) => {
      const statement = readStatement({ text: span, ...sentence })
      const isSure = statement !== undefined && !mayBeDenied(span, messages.slice(message + 1))
      return isSure ? [{ message, span, ...statement }] : []
    })
  const all = messages.flatMap((_text, message) => isSincere[message] ? statementsIn(message) : [])
  // Only the newest statement on a topic holds.
  const newest = all.filter(({ topic }, at) => topic === undefined || all.findLastIndex((other) => other.topic === topic) === at)
  return {
    isPart,
    pointers: newest.map(({ message, span, topic, preference }) => ({
      message,
      span,
      kind: preference ? 'preference' : 'fact',
      ...preference,
      about: 'user',
      lasting: true,
      sensitive: false,
      replaces: (topics.get(topic ?? '') ?? []).filter(({ text }) => text !== span).map(({ id }) => id)
    }))
  }
}
