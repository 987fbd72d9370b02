import type { Thread, ThreadBody, ThreadView } from '../../schemas/threads.ts'
import type { Ledger } from '../approvals/ledger.ts'
import { newId } from '../lib/ids.ts'
import type { Op, Store } from '../store/store-types.ts'
import { isDamage, unlessDamaged } from '../store/store-errors.ts'
import { ThreadExists, ThreadNotFound } from './thread-errors.ts'
import { createThreadMetadata } from './thread-metadata.ts'
import { headKey, listed, RECENT, type ThreadHead } from './thread-head.ts'
import { checkMessages } from './thread-message.ts'
import type { ThreadRepository } from './thread-repository.ts'

export interface ThreadServiceParts {
  store: Store
  threads: ThreadRepository
  ledger: Pick<Ledger, 'all' | 'isOpen'>
  /** Keeps a conversation from runs while it is changed; see `createKeeper`. */
  agent: {
    isLive(id: string): boolean,
    alone<T>(id: string, work: () => Promise<T>): Promise<T>,
    forget<T>(id: string, work: (ops: Op[]) => Promise<T>): Promise<T>
  }
}

export type ThreadService = ReturnType<typeof createThreadService>

/** Threads that are removed side by side; their writes go out together. */
const TOGETHER = 50

/** The threads as callers see them. */
export function createThreadService ({ store, threads, ledger, agent }: ThreadServiceParts) {
  const faces = createThreadMetadata(store)

  async function statusOf ({ id, asked = [] }: ThreadHead): Promise<Thread['status']> {
    if (agent.isLive(id)) return 'running'
    return (await ledger.all(asked)).some(ledger.isOpen) ? 'pending_approval' : 'idle'
  }

  async function view (head: ThreadHead): Promise<Thread> {
    const { id, createdAt, updatedAt, messageCount, lastMessage, words } = head
    const { title } = await faces.get(id)
    return { id, title: title ?? words, createdAt, updatedAt, status: await statusOf(head), messageCount, lastMessage }
  }

  /** Throws ThreadNotFound (404). */
  async function require (id: string): Promise<ThreadHead> {
    const head = await threads.get(id)
    if (head === undefined) throw new ThreadNotFound(id)
    return head
  }

  async function remove (id: string): Promise<boolean> {
    return agent.forget(id, async (ops) => {
      const head = await threads.get(id).catch((error): 'damaged' => {
        if (!isDamage(error)) throw error
        return 'damaged'
      })
      if (head === undefined) return false
      await store.transact([
        ...ops,
        ...head === 'damaged' ? await threads.removeDamaged(store.digest(id)) : await threads.remove(head),
        faces.remove(id)
      ])
      return true
    })
  }

  return {
    /** The thread that changed last comes first. */
    async list ({ limit, cursor }: { limit: number, cursor?: string }): Promise<{ threads: Thread[], nextCursor?: string }> {
      const page: ThreadHead[] = []
      let last = ''
      for await (const [key] of store.list(RECENT, { reverse: true, after: cursor && RECENT + cursor, damaged () {} })) {
        if (page.length === limit) return { threads: await Promise.all(page.map(view)), nextCursor: last }
        const head = await unlessDamaged(store.get<ThreadHead>(headKey(listed(key).thread)))
        if (head !== undefined) page.push(head)
        last = key.slice(RECENT.length)
      }
      return { threads: await Promise.all(page.map(view)) }
    },

    /** A thread with its messages, as many as a page holds: all, or the newest `limit` of those before `cursor`. Throws ThreadNotFound (404). */
    async get (id: string, { limit = Infinity, cursor = '' }: { limit?: number, cursor?: string } = {}): Promise<ThreadView> {
      const head = await require(id)
      const end = cursor === '' ? head.messageCount : Math.min(Number(cursor), head.messageCount)
      const [{ fields }, summary, { messages, from }] = await Promise.all([
        faces.get(id),
        view(head),
        threads.lastMessages(id, { end, limit })
      ])
      return { ...fields, ...summary, messages, ...(from > 0 && { nextCursor: String(from) }) }
    },

    /** Throws BadMessages (400) and ThreadExists (409). */
    async create ({ id = newId(), messages = [], ...rest }: ThreadBody & { id?: string }): Promise<Thread> {
      checkMessages(messages)
      return agent.alone(id, async () => {
        if (await threads.get(id) !== undefined) throw new ThreadExists(id)
        await store.transact([...await threads.replace(id, messages), faces.put(id, faces.changed({}, rest))])
        return view(await require(id))
      })
    },

    /**
     * Makes a thread, or replaces what the body names of it: without `messages` those stay. Throws BadMessages (400) and,
     * for messages under a run, ConversationBusy (409).
     */
    async put (id: string, { messages, ...rest }: ThreadBody): Promise<Thread> {
      if (messages !== undefined) checkMessages(messages)
      const isNew = await threads.get(id) === undefined
      const put = (ops: Op[]) => faces.update(id, (face) => faces.changed(face, rest), ops)
      if (messages !== undefined || isNew) await agent.alone(id, async () => put(await threads.replace(id, messages ?? [])))
      else await put([])
      return view(await require(id))
    },

    /** Removes a thread with its approvals and runs; a run under way is stopped. Throws ThreadNotFound (404). */
    async remove (id: string): Promise<void> {
      if (!await remove(id)) throw new ThreadNotFound(id)
    },

    /** Removes all threads; resolves to how many those were. */
    async clear (): Promise<number> {
      let deleted = 0
      let some: string[] = []
      const flush = async () => {
        deleted += (await Promise.all(some.map(remove))).filter(Boolean).length
        some = []
      }
      const wrecks: string[] = []
      const damaged = (key: string) => {
        wrecks.push(key.slice(headKey('').length))
      }
      for await (const [, { id }] of store.list<ThreadHead>(headKey(''), { damaged })) {
        some.push(id)
        if (some.length === TOGETHER) await flush()
      }
      await flush()
      for (const thread of wrecks) await store.transact(await threads.removeDamaged(thread))
      return deleted + wrecks.length
    },

    /** Removes threads that no client has given an id or a title and that changed last before `limit`. */
    async prune (limit: number, signal?: AbortSignal): Promise<number> {
      let removed = 0
      for await (const [key] of store.list(RECENT, { signal, damaged () {} })) {
        if (listed(key).time > limit) break
        const head = await unlessDamaged(store.get<ThreadHead>(headKey(listed(key).thread)))
        if (!head?.minted || agent.isLive(head.id) || (await faces.get(head.id)).by === 'user') continue
        if (await remove(head.id)) removed++
      }
      return removed
    },

    /** Gives a thread a title, unless its user has given it one or it is gone. */
    async suggestTitle (id: string, title: string): Promise<void> {
      if (await threads.get(id) === undefined) return
      await faces.update(id, (face) => face.by === 'user' ? face : { ...face, title, by: 'model' })
    },

    /** Whether nobody has given the thread a title yet. */
    isUntitled: async (id: string): Promise<boolean> => (await faces.get(id)).title === undefined
  }
}
