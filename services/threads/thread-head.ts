import type { Op, Store } from '../store/store-types.ts'
import { opening, textOf, type ThreadMessage } from './thread-message.ts'

/** What is stored of a thread beside its messages. It is written by whoever has the conversation to itself. */
export interface ThreadHead {
  id: string
  createdAt: number
  /** When a message was last added or taken away. */
  updatedAt: number
  /** Messages are stored under 0 to messageCount - 1. */
  messageCount: number
  /** Messages of the user among them. */
  turns: number
  /** The beginning of the first thing that was said. */
  words: string
  /** The beginning of the last. */
  lastMessage: string
  /** The id is of our making and no client has used it. */
  minted?: true
  /** Approval requests that the thread's last message ends with. */
  asked?: string[]
  /** Digests of what the thread holds, under which a request without an id finds it. */
  found?: string[]
}

const WORDS = 60
const LAST_MESSAGE = 200

/** How far a thread was looked through for facts. */
export const readKey = (thread: string) => `read/${thread}`
/** What stands for its older messages before a model. */
export const summaryKey = (thread: string) => `summary/${thread}`
/** What it is called. */
export const metadataKey = (thread: string) => `face/${thread}`
export const headKey = (thread: string) => `thread/${thread}`
/** Beside each thread, so that they are listed by time; the newest last. */
export const RECENT = 'recent/'
export const recentKey = (time: number, thread: string) => `${RECENT}${String(time).padStart(15, '0')}-${thread}`
/** Beside each thread that the user has said something in since facts were last looked for. */
export const UNREAD = 'unread/'
export const unreadKey = (time: number, thread: string) => `${UNREAD}${String(time).padStart(15, '0')}-${thread}`
/** The time and the thread of a key of either list. */
export function listed (key: string): { time: number, thread: string } {
  const [time, thread] = key.slice(key.indexOf('/') + 1).split('-')
  return { time: Number(time), thread }
}
export const foundPrefix = (digest: string) => `found/${digest}/`

/** The operations that put a head in the place of another, with its places in the lists. */
export function headOps (store: Pick<Store, 'digest'>, before: ThreadHead | undefined, after: ThreadHead | undefined): Op[] {
  const thread = store.digest((after ?? before)!.id)
  const ops: Op[] = []
  if (before !== undefined) {
    ops.push({ type: 'del', key: recentKey(before.updatedAt, thread) }, { type: 'del', key: unreadKey(before.updatedAt, thread) })
    for (const digest of before.found ?? []) ops.push({ type: 'del', key: foundPrefix(digest) + thread })
  }
  if (after === undefined) return [...ops, { type: 'del', key: headKey(thread) }]
  ops.push({ type: 'put', key: headKey(thread), value: after }, { type: 'put', key: recentKey(after.updatedAt, thread), value: {} })
  if (after.turns > 0) ops.push({ type: 'put', key: unreadKey(after.updatedAt, thread), value: {} })
  for (const digest of after.found ?? []) {
    ops.push({ type: 'put', key: foundPrefix(digest) + thread, value: { id: after.id, at: after.updatedAt } })
  }
  return ops
}

/** What a list shows of messages; '' when none of them says anything. */
export const firstWords = (messages: ThreadMessage[]) =>
  opening(textOf(messages.find((message) => message.role === 'user' && textOf(message).trim() !== '') ?? { role: '' }), WORDS)
export const lastWords = (messages: ThreadMessage[]) =>
  opening(textOf(messages.findLast((message) => textOf(message).trim() !== '') ?? { role: '' }), LAST_MESSAGE)
