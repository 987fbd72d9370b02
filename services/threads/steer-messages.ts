import type { Steer } from '../../schemas/steering.ts'
import { markOf, partsOf, type SteerMark, textOf, type ThreadMessage } from './thread-message.ts'

// Messages that the user sends while a run is active (steering messages) are a part of its thread. In the form for models, a steering
// message is a user message with the mark `steer`. In a chat's thread, it is a part of the answer's message, between two steps. If no step
// has read it when the run ends, it follows the answer as a user message with the mark in its metadata.

/** The most unread messages at the end of a thread that are compared with a request. */
export const MAX_UNREAD = 20

/** Returns a steering message as a user message of a thread. */
export const steerMessage = ({ text, ...mark }: Steer, isChat: boolean): ThreadMessage =>
  isChat
    ? { id: mark.id, role: 'user', parts: [{ type: 'text', text }], metadata: { steer: mark } }
    : { id: mark.id, role: 'user', content: text, steer: mark }

/** Returns a steering message as a part of a chat's message. */
export const steerPart = (steer: Steer): { type: 'data-steer', id: string, data: Steer } =>
  ({ type: 'data-steer', id: steer.id, data: steer })

/** Returns the message with the mark `steer`. */
export const marked = (message: ThreadMessage, mark: SteerMark): ThreadMessage =>
  message.parts === undefined
    ? { ...message, steer: mark }
    : { ...message, metadata: { ...message.metadata as object | undefined, steer: mark } }

/** Returns the message without the mark `steer`, so that it begins a turn. */
export function unmarked (message: ThreadMessage): ThreadMessage {
  if (markOf(message) === undefined) return message
  const { steer, ...rest } = message
  if (message.parts === undefined) return rest
  const { steer: _, ...metadata } = message.metadata as Record<string, unknown>
  return { ...message, metadata }
}

/** Returns a steering message that a step has read as a part of a chat's message, for the newest clients of AI SDK 7. */
export const steeringMessagePart = ({ id, text }: Pick<Steer, 'id' | 'text'>) =>
  ({ type: 'steering-message', id, parts: [{ type: 'text', text }] })

/**
 * Returns the steering message in a part of a chat's message, in the service's format or in that of AI SDK 7; undefined if the part is
 * none.
 */
export function saidIn (part: any): Steer | undefined {
  if (part?.type === 'data-steer' && typeof part.data?.text === 'string') return { state: 'read', ...part.data, id: String(part.data.id) }
  if (part?.type !== 'steering-message' || !Array.isArray(part.parts)) return undefined
  return { id: String(part.id), text: textOf({ role: 'user', parts: part.parts }), state: 'read' }
}

/** Returns the steering messages (the user's messages to an active run) in a message; none for other messages. */
export function steeringIn (message: ThreadMessage): Steer[] {
  const mark = markOf(message)
  if (mark !== undefined) return [{ ...mark, text: textOf(message) }]
  return message.role === 'assistant' && message.parts !== undefined ? partsOf(message).flatMap((part) => saidIn(part) ?? []) : []
}

/**
 * Returns how many unread steering messages at the end are repeated by `message`, because chat clients offer unread messages for sending
 * again. A message with the id of an unread one replaces it and those after it.
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

/** Whether a message contains a text or a call of the model. A step that failed at once can leave a message without these. */
export const isAnswer = (message: ThreadMessage): boolean =>
  message.role === 'assistant' && partsOf(message).some((part) => /^(text$|tool-|dynamic-tool$)/.test(part?.type))

/** Returns the indexes of the unread steering messages after the last answer. */
export function unreadIn (messages: readonly ThreadMessage[]): number[] {
  const begin = messages.findLastIndex(isAnswer) + 1
  return messages.flatMap((message, n) => n >= begin && markOf(message)?.state === 'unread' ? [n] : [])
}

/** Whether a text begins with `words`, or contains them as whole paragraphs. */
const repeats = (text: string, words: string): boolean =>
  (text.startsWith(words) && !/^[\p{L}\p{N}]/u.test(text.slice(words.length))) || `\n\n${text}\n\n`.includes(`\n\n${words}\n\n`)
