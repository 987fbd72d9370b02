import type { StreamEvent } from '../../schemas/events.ts'
import type { Thread } from '../../schemas/threads.ts'
import type { Attachments } from '../attachments/index.ts'
import type { Clock } from '../lib/clock.ts'
import { isDamage, type Op, ownerUsageKey, parseIndexKey, RECENT, type Store, threadKey, unlessDamaged } from '../store/index.ts'
import type { UsageRepository } from '../usage/index.ts'
import { NotRestorable, ThreadNotFound } from './thread-errors.ts'
import type { ThreadHead } from './thread-head.ts'
import type { createThreadMetadata } from './thread-metadata.ts'
import type { ThreadRepository } from './thread-repository.ts'
import { createThreadTrash, type ThreadTrash } from './thread-trash.ts'

/** The number of threads that are removed concurrently, so that their writes are grouped. */
const REMOVE_BATCH = 50

interface RemovalParts {
  store: Store
  clock: Clock
  /** Reports a change that is durable. */
  emit: (event: StreamEvent) => void
  threads: ThreadRepository
  undo: {
    /** Returns the operations that remove what belongs to a thread, by its digest. `sweepSoon` then removes the files. */
    removal(thread: string): Promise<Op[]>,
    sweepSoon(): void
  }
  usage: Pick<UsageRepository, 'forget'>
  attachments: Pick<Attachments, 'cleaned'>
  /** Ends the commands of a conversation and erases their home and /tmp. */
  endCommands: (owner: { threadId: string }) => Promise<void>
  /** Locks conversations against runs; see `createConversationGuard`. */
  agent: {
    isLive(id: string): boolean,
    exclusive<T>(id: string, work: () => Promise<T>): Promise<T>,
    removeWith<T>(id: string, work: (ops: Op[]) => Promise<T>): Promise<T>
  }
  metadata: ReturnType<typeof createThreadMetadata>
  view: (head: ThreadHead) => Promise<Thread>
}

/** Removes threads, for good or so that they can be brought back. */
export function createThreadRemovals (parts: RemovalParts) {
  const { store, clock, emit, threads, agent, metadata } = parts
  const trash = createThreadTrash({ store, clock })

  const remove = (id: string, isKept = false) => removeThread(id, isKept, { ...parts, trash })

  return {
    list: trash.list,

    /** Brings a deleted thread back; one that is there stays as it is. Throws NotRestorable (404). */
    async restore (id: string): Promise<void> {
      await agent.exclusive(id, async () => {
        if (await threads.get(id) !== undefined) return
        const ops = await trash.restore(id)
        if (ops === undefined) throw new NotRestorable(id)
        await store.transact(ops)
        emit({ type: 'thread:changed', threadId: id, at: clock.now() })
      })
    },

    /**
     * Removes a thread with its approvals and runs, and stops its active run. With `restorable`, the thread can be brought back for 30
     * days; without it, a deleted thread of this id is erased, too. Throws ThreadNotFound (404).
     */
    async remove (id: string, { restorable = false }: { restorable?: boolean } = {}): Promise<void> {
      if (!await remove(id, restorable)) throw new ThreadNotFound(id)
    },

    /** Erases the deleted threads that were kept for 30 days. */
    async sweep (signal?: AbortSignal): Promise<void> {
      for await (const ops of trash.erasures({ isAll: false })) {
        signal?.throwIfAborted()
        await store.transact(ops)
      }
    },

    /** Removes all threads, and erases the deleted ones. Resolves to the number of threads that were removed. */
    clear: () => clearThreads(remove, { ...parts, trash }),

    /**
     * Removes threads whose id, title and settings were not set by a client and that have not changed since `limit` (epoch
     * milliseconds).
     */
    async prune (limit: number, signal?: AbortSignal): Promise<number> {
      let removed = 0
      for await (const [key] of store.list(RECENT, { signal, damaged () {} })) {
        if (parseIndexKey(key).time > limit) break
        const head = await unlessDamaged(store.get<ThreadHead>(threadKey(parseIndexKey(key).thread)))
        if (!head?.minted || agent.isLive(head.id)) continue
        const { by, settings } = await metadata.get(head.id)
        if (by === 'user' || settings !== undefined) continue
        if (await remove(head.id)) removed++
      }
      return removed
    }
  }
}

/** Removes a thread, also one that is damaged; with `isKept` it can be brought back. False if there is none. */
async function removeThread (
  id: string,
  isKept: boolean,
  parts: RemovalParts & { trash: ThreadTrash }
): Promise<boolean> {
  const { store, clock, emit, threads, undo, usage, attachments, endCommands, agent, metadata, view, trash } = parts
  return agent.removeWith(id, async (ops) => {
    const head = await threads.get(id).catch((error): 'damaged' => {
      if (!isDamage(error)) throw error
      return 'damaged'
    })
    const before = isKept ? [] : await trash.erase(id)
    if (head === undefined) {
      if (before.length > 0) await store.transact(before)
      return before.length > 0
    }
    // Before the records, so that nothing is left if the service ends meanwhile.
    await endCommands({ threadId: id })
    const changes = await undo.removal(store.digest(id))
    const removal = [
      ...ops,
      ...head === 'damaged' ? await threads.removeDamaged(store.digest(id)) : await threads.remove(head, { keepsFiles: isKept }),
      metadata.remove(id),
      usage.forget({ kind: 'thread', id })
    ]
    const kept = isKept && head !== 'damaged' ? await trash.keep(await view(head), removal) : []
    await store.transact([...before, ...changes, ...removal, ...kept])
    if (changes.length > 0) undo.sweepSoon()
    await attachments.cleaned()
    emit({ type: 'thread:deleted', threadId: id, at: clock.now() })
    return true
  })
}

/** Removes all threads, see `clear`. */
async function clearThreads (
  remove: (id: string) => Promise<boolean>,
  { store, threads, attachments, trash }: RemovalParts & { trash: ThreadTrash }
): Promise<number> {
  let deleted = 0
  let batch: string[] = []
  const flush = async () => {
    deleted += (await Promise.all(batch.map((id) => remove(id)))).filter(Boolean).length
    batch = []
  }
  const damagedThreads: string[] = []
  const damaged = (key: string) => {
    damagedThreads.push(key.slice(threadKey('').length))
  }
  for await (const [, { id }] of store.list<ThreadHead>(threadKey(''), { damaged })) {
    batch.push(id)
    if (batch.length === REMOVE_BATCH) await flush()
  }
  await flush()
  for (const thread of damagedThreads) {
    await store.transact([...await threads.removeDamaged(thread), { type: 'del', key: ownerUsageKey('thread', thread) }])
  }
  for await (const ops of trash.erasures({ isAll: true })) await store.transact(ops)
  await attachments.cleaned()
  return deleted + damagedThreads.length
}
