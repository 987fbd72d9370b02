import { canonicalJson } from '../canonical.ts'
import type { Clock } from '../clock/clock.ts'
import { historyKey } from '../store/names.ts'
import type { Op, Store } from '../store/contract.ts'

/** A message as its client gave it, or as a run made it. */
export interface ThreadMessage { role: string, [field: string]: unknown }

/** What is stored of a thread beside its messages. */
export interface ThreadHead {
  id: string
  createdAt: number
  updatedAt: number
  /** Messages are stored under 0 to messageCount - 1. */
  messageCount: number
}

export type Threads = ReturnType<typeof createThreads>

/** Conversations as they were exchanged, message by message. Ids are callers' text, so the keys are digests. */
export function createThreads ({ store, clock }: { store: Store, clock: Clock }) {
  const headKey = (id: string) => `thread/${store.digest(id)}`
  const messageKey = (id: string, seq: number) => historyKey('message', store.digest(id), seq)

  async function head (id: string): Promise<ThreadHead> {
    const now = clock.now()
    return await store.get<ThreadHead>(headKey(id)) ?? { id, createdAt: now, updatedAt: now, messageCount: 0 }
  }

  async function messages (id: string): Promise<ThreadMessage[]> {
    const found: ThreadMessage[] = []
    for await (const [, message] of store.list<ThreadMessage>(`message/${store.digest(id)}/`)) found.push(message)
    return found
  }

  /** The operations that make the thread hold these messages from `from` on, and none behind them. */
  function put (thread: ThreadHead, from: number, fresh: ThreadMessage[]): Op[] {
    const messageCount = from + fresh.length
    const ops: Op[] = fresh.map((value, at) => ({ type: 'put', key: messageKey(thread.id, from + at), value }))
    for (let seq = messageCount; seq < thread.messageCount; seq++) ops.push({ type: 'del', key: messageKey(thread.id, seq) })
    ops.push({ type: 'put', key: headKey(thread.id), value: { ...thread, messageCount, updatedAt: clock.now() } })
    return ops
  }

  return {
    messages,

    /**
     * Takes over what a request says of its conversation: messages that the thread has are left as they are, new ones
     * are added, and where the user says something else than the thread has, what followed is gone. Resolves to the
     * operations and to the place of the answer.
     */
    async take (id: string, said: ThreadMessage[]): Promise<{ ops: Op[], answerAt: number }> {
      const thread = await head(id)
      const known = thread.messageCount === 0 ? [] : await messages(id)
      const [from, since] = divergence(known, said)
      const fresh = said.slice(since)
      return { ops: put(thread, from, fresh), answerAt: from + fresh.length }
    },

    /** The operations that put a run's answer in its place. */
    async answer (id: string, at: number, answer: ThreadMessage[]): Promise<Op[]> {
      return put(await head(id), at, answer)
    }
  }
}

/**
 * Where a request leaves the thread: positions in the thread and in the request. The user's own messages are compared
 * one by one; what the assistant said is the thread's to know, clients keep it in many forms.
 */
function divergence (known: ThreadMessage[], said: ThreadMessage[]): [number, number] {
  const isUser = ({ role }: ThreadMessage) => role === 'user'
  const theirs = positions(said, isUser)
  const ours = positions(known, isUser)
  const same = ours.findIndex((at, n) => theirs[n] === undefined || !isSame(known[at], said[theirs[n]]))
  const shared = same === -1 ? ours.length : same
  // The last message of a request is always new: a user who says the same again wants it done again.
  const next = Math.min(shared, theirs.length - 1)
  // Nothing in common: a client that keeps no history, and no reason to lose what the thread has.
  if (shared === 0 || next < 0) return [known.length, 0]
  return [next < ours.length ? ours[next] : known.length, theirs[next]]
}

function positions (messages: ThreadMessage[], holds: (message: ThreadMessage) => boolean): number[] {
  return messages.flatMap((message, at) => holds(message) ? [at] : [])
}

const isSame = (a: ThreadMessage, b: ThreadMessage) => canonicalJson(a.parts ?? a.content) === canonicalJson(b.parts ?? b.content)
