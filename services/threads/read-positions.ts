import { parseIndexKey, readKey, type Store, threadKey, unlessDamaged, UNREAD, unreadKey } from '../store/index.ts'
import type { Turns } from './turns.ts'
import { type ThreadHead } from './thread-head.ts'

/**
 * How far a thread was searched for facts: the first `read` of the user's `turns` messages, as the thread was at `updatedAt`. `words`: one
 * digest of all these messages.
 */
interface ReadPosition {
  read: number
  turns: number
  words: string
  updatedAt: number
}

/** Records for each thread up to which message it was searched for facts. */
export function createReadPositions ({ store, turns, get }: {
  store: Pick<Store, 'get' | 'list' | 'transact' | 'digest'>
  turns: Pick<Turns, 'list' | 'wordsOf'>
  get: (id: string) => Promise<ThreadHead | undefined>
}) {
  return {
    /**
     * Returns how many of the user's messages were searched for facts. If a searched message, or a message before it, was changed since,
     * the whole thread counts as unread.
     */
    async unread (id: string): Promise<ReadPosition> {
      const thread = store.digest(id)
      const [head, read] = await Promise.all([get(id), store.get<{ turns: number, words: string }>(readKey(thread))])
      const all = head === undefined ? [] : await turns.list(head)
      const isSame = read !== undefined && turns.wordsOf(all.slice(0, read.turns)) === read.words
      return { read: isSame ? read.turns : 0, turns: all.length, words: turns.wordsOf(all), updatedAt: head?.updatedAt ?? 0 }
    },

    /** Records that a thread was searched as far as `unread` described it. Does nothing if the thread was removed. */
    async markRead (id: string, { turns: count, words, updatedAt }: ReadPosition): Promise<void> {
      const thread = store.digest(id)
      if (await get(id) === undefined) return
      await store.transact([
        { type: 'put', key: readKey(thread), value: { turns: count, words } },
        { type: 'del', key: unreadKey(updatedAt, thread) }
      ])
    },

    /** Yields the threads that changed since they were last searched, each with the time of its change, the oldest change first. */
    async * unreadThreads (signal: AbortSignal): AsyncGenerator<{ id: string, time: number }> {
      for await (const [key] of store.list(UNREAD, { signal, damaged () {} })) {
        const { time, thread } = parseIndexKey(key)
        const head = await unlessDamaged(store.get<ThreadHead>(threadKey(thread)))
        if (head !== undefined) yield { id: head.id, time }
      }
    }
  }
}
