import { type Op, recentKey, type Store, threadKey, unreadKey } from '../store/index.ts'
import { excerpt, ownText, textOf, type ThreadMessage } from './thread-message.ts'

/** The stored state of a thread without its messages. Only a caller that has locked the conversation is allowed to write it. */
export interface ThreadHead {
  id: string
  createdAt: number
  /** When a message was last added or removed, milliseconds since the Unix epoch. */
  updatedAt: number
  /** The number of message records. An answer is one record, even if it has several messages. */
  messageCount: number
  /** How many messages the thread has in the form for its clients, beyond `messageCount`. */
  more?: number
  /** The number of turns: user messages without steering messages (those sent to an active run). */
  turns: number
  /** The beginning of the first user message. */
  words: string
  /** The beginning of the last message. */
  lastMessage: string
  /** Set if the service made the id and no client has used the id. */
  minted?: true
  /** The ids of the approvals that the thread's last message requests. */
  asked?: string[]
  /** Set if the thread contains a steering message. */
  steered?: true
  /** Set if the thread has versions of its messages. */
  hasVersions?: true
}

/** The most characters of `words` and of `lastMessage`. */
const WORDS = 60
const LAST_MESSAGE = 200

/** Returns the operations that replace a head and update its index entries. */
export function headOps (store: Pick<Store, 'digest'>, before: ThreadHead | undefined, after: ThreadHead | undefined): Op[] {
  const thread = store.digest((after ?? before)!.id)
  const ops: Op[] = []
  if (before !== undefined) {
    ops.push({ type: 'del', key: recentKey(before.updatedAt, thread) }, { type: 'del', key: unreadKey(before.updatedAt, thread) })
  }
  if (after === undefined) return [...ops, { type: 'del', key: threadKey(thread) }]
  ops.push({ type: 'put', key: threadKey(thread), value: after }, { type: 'put', key: recentKey(after.updatedAt, thread), value: {} })
  if (after.turns > 0) ops.push({ type: 'put', key: unreadKey(after.updatedAt, thread), value: {} })
  return ops
}

/** Return excerpts of the first user message and of the last message with text; '' if there is none. */
export const firstWords = (messages: ThreadMessage[]) =>
  excerpt(ownText(messages.find((message) => message.role === 'user' && textOf(message).trim() !== '') ?? { role: '' }), WORDS)
export const lastWords = (messages: ThreadMessage[]) =>
  excerpt(ownText(messages.findLast((message) => textOf(message).trim() !== '') ?? { role: '' }), LAST_MESSAGE)
