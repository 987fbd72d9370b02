import type { UIMessage } from 'ai'
import type { Steer } from '../../../../client/generated/index.ts'

/** Returns the state of a steering message of the user; undefined for other messages. */
export const steerStateOf = ({ role, metadata }: UIMessage): Steer['state'] | undefined =>
  role === 'user' ? (metadata as { steer?: Pick<Steer, 'state'> } | undefined)?.steer?.state : undefined

/** Returns the steering message that a part of an answer holds; undefined for other parts. */
export const steerIn = (part: UIMessage['parts'][number]): Steer | undefined =>
  part.type === 'data-steer' ? part.data as Steer : undefined

const textOf = ({ parts }: UIMessage) => parts.flatMap((part) => part.type === 'text' ? part.text : []).join('')

/** Splits off the steering messages at the end that no step of their run has read. */
export function splitUnread (messages: UIMessage[]): { before: UIMessage[], unread: UIMessage[] } {
  const last = messages.findLastIndex((message) => steerStateOf(message) !== 'unread')
  return { before: messages.slice(0, last + 1), unread: messages.slice(last + 1) }
}

/**
 * Returns the unread steering messages of the last run as one text, which is offered again. `key` identifies the messages, `id` is that of
 * the first one.
 */
export function unreadWords (messages: UIMessage[]): { key: string, id: string, text: string } | undefined {
  const { before, unread } = splitUnread(messages)
  const inAnswer = unread.length === 0 && before.at(-1)?.role === 'assistant'
    ? before.at(-1)!.parts.flatMap((part) => steerIn(part) ?? []).filter(({ state }) => state === 'unread')
    : []
  const words = [...inAnswer, ...unread.map((message) => ({ id: message.id, text: textOf(message) }))]
  if (words.length === 0) return undefined
  return { key: words.map(({ id }) => id).join(' '), id: words[0].id, text: words.map(({ text }) => text).join('\n\n') }
}
