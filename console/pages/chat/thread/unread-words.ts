import type { UIMessage } from 'ai'
import type { Steer } from '../../../../client/generated/index.ts'

/** Returns the state of a message of the user that was said to a run; undefined for any other. */
export const steerStateOf = ({ role, metadata }: UIMessage): Steer['state'] | undefined =>
  role === 'user' ? (metadata as { steer?: Pick<Steer, 'state'> } | undefined)?.steer?.state : undefined

/** Returns what a part says for the user, of a message that the run of an answer was told. */
export const steerIn = (part: UIMessage['parts'][number]): Steer | undefined =>
  part.type === 'data-steer' ? part.data as Steer : undefined

const textOf = ({ parts }: UIMessage) => parts.flatMap((part) => part.type === 'text' ? part.text : []).join('')

/** Returns the messages without those at the end that no step of their run has read, and these. */
export function splitUnread (messages: UIMessage[]): { before: UIMessage[], unread: UIMessage[] } {
  const last = messages.findLastIndex((message) => steerStateOf(message) !== 'unread')
  return { before: messages.slice(0, last + 1), unread: messages.slice(last + 1) }
}

/** Returns what the last run has not read: it is offered again. `key` tells whether it is the same, `id` is that of the first words. */
export function unreadWords (messages: UIMessage[]): { key: string, id: string, text: string } | undefined {
  const { before, unread } = splitUnread(messages)
  const inAnswer = unread.length === 0 && before.at(-1)?.role === 'assistant'
    ? before.at(-1)!.parts.flatMap((part) => steerIn(part) ?? []).filter(({ state }) => state === 'unread')
    : []
  const words = [...inAnswer, ...unread.map((message) => ({ id: message.id, text: textOf(message) }))]
  if (words.length === 0) return undefined
  return { key: words.map(({ id }) => id).join(' '), id: words[0].id, text: words.map(({ text }) => text).join('\n\n') }
}
