import type { Steer } from '../../schemas/steering.ts'
import { markOf, partsOf, type SteerMark, textOf, type ThreadMessage } from './thread-message.ts'

// Messages that the user sends while a run is active are a part of its thread. In the form for models, each is a message of the user with
// the mark `steer`. In a chat's thread it is a part of the answer's message, between two steps; if no step has read it when the run ends,
// it follows the answer as a message of the user with the mark in its metadata.

/** The most unread messages at the end of a thread that a request is compared with. */
export const MAX_UNREAD = 20

/** Returns the message of the user for what the user said to a run. */
export const steerMessage = ({ text, ...mark }: Steer, isChat: boolean): ThreadMessage =>
  isChat
    ? { id: mark.id, role: 'user', parts: [{ type: 'text', text }], metadata: { steer: mark } }
    : { id: mark.id, role: 'user', content: text, steer: mark }

/** Returns the part of a chat's message for what the user said to a run. */
export const steerPart = (steer: Steer): { type: 'data-steer', id: string, data: Steer } =>
  ({ type: 'data-steer', id: steer.id, data: steer })

/** Returns the message with the mark `steer`. */
export const marked = (message: ThreadMessage, mark: SteerMark): ThreadMessage =>
  message.parts === undefined
    ? { ...message, steer: mark }
    : { ...message, metadata: { ...message.metadata as object | undefined, steer: mark } }

/** Returns the message without the mark `steer`, as one that begins a turn. */
export function unmarked (message: ThreadMessage): ThreadMessage {
  if (markOf(message) === undefined) return message
  const { steer, ...rest } = message
  if (message.parts === undefined) return rest
  const { steer: _, ...metadata } = message.metadata as Record<string, unknown>
  return { ...message, metadata }
}

/** Returns the part for newest 7.x clients for what the user said to a run and a step has read. */
export const steeringMessagePart = ({ id, text }: Pick<Steer, 'id' | 'text'>) =>
  ({ type: 'steering-message', id, parts: [{ type: 'text', text }] })

/** Returns what the user said to a run, from a part of a chat's message in our own form or in that of the AI SDK 7. */
export function saidIn (part: any): Steer | undefined {
  if (part?.type === 'data-steer' && typeof part.data?.text === 'string') return { state: 'read', ...part.data, id: String(part.data.id) }
  if (part?.type !== 'steering-message' || !Array.isArray(part.parts)) return undefined
  return { id: String(part.id), text: textOf({ role: 'user', parts: part.parts }), state: 'read' }
}

/** Returns everything in a message that the user said to a run. */
export function steeringIn (message: ThreadMessage): Steer[] {
  const mark = markOf(message)
  if (mark !== undefined) return [{ ...mark, text: textOf(message) }]
  return message.role === 'assistant' && message.parts !== undefined ? partsOf(message).flatMap((part) => saidIn(part) ?? []) : []
}

/**
 * Returns how many messages at the end are unread messages to a run that `message` repeats, because chat clients offer unread words for
 * sending again. A message with the id of one of them replaces it, and those after it.
 */
export function saidAgain (messages: readonly ThreadMessage[], message: ThreadMessage): number {
  const text = textOf(message)
  let count = 0
  for (const [n, before] of messages.toReversed().entries()) {
    const mark = markOf(before)
    if (mark?.state !== 'unread') break
    if (mark.id === message.id) return n + 1
    if (n === count && repeats(text, textOf(before).trim())) count++
  }
  return count
}

/** Whether a message contains something that the model of a step said or did: a step that failed at once may also leave a message. */
export const isAnswer = (message: ThreadMessage): boolean =>
  message.role === 'assistant' && partsOf(message).some((part) => /^(text$|tool-|dynamic-tool$)/.test(part?.type))

/** Returns the indexes of the unread messages after the last answer. */
export function unreadIn (messages: readonly ThreadMessage[]): number[] {
  const begin = messages.findLastIndex(isAnswer) + 1
  return messages.flatMap((message, n) => n >= begin && markOf(message)?.state === 'unread' ? [n] : [])
}

/** Whether a text begins with these words, or contains them as paragraphs. */
const repeats = (text: string, words: string): boolean =>
  (text.startsWith(words) && !/^[\p{L}\p{N}]/u.test(text.slice(words.length))) || `\n\n${text}\n\n`.includes(`\n\n${words}\n\n`)
