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

/** The number of threads that are removed at the same time, so that their writes are grouped. */
const REMOVE_BATCH = 50

interface RemovalParts {
  store: Store
  clock: Clock
  /** Reports a change that is on disk. */
  emit: (event: StreamEvent) => void
  threads: ThreadRepository
  undo: {
    /** Returns the operations that remove the undo records of a thread, given its digest. `sweepSoon` then removes the files. */
    removal(thread: string): Promise<Op[]>,
    sweepSoon(): void
  }
  usage: Pick<UsageRepository, 'forget'>
  attachments: Pick<Attachments, 'cleaned'>
  /** Ends the commands of a conversation and erases the commands' home folder and /tmp. */
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

/** Removes threads, either for good or in a way that lets the user restore them. */
export function createThreadRemovals (parts: RemovalParts) {
  const { store, clock, emit, threads, agent, metadata } = parts
  const trash = createThreadTrash({ store, clock })

  const remove = (id: string, isKept = false) => removeThread(id, isKept, { ...parts, trash })

  return {
    list: trash.list,

    /** Restores a deleted thread. If a thread with the id exists, it stays as it is. Throws NotRestorable (404). */
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
     * Removes a thread with its approvals and runs, and stops its active run. With `restorable`, the thread can be restored for 30 days.
     * Without it, an earlier deleted thread with this id is erased, too. Throws ThreadNotFound (404).
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

    /** Removes all threads, and erases those that were deleted before. Resolves to the number of threads that were removed. */
    clear: () => clearThreads(remove, { ...parts, trash }),

    /**
     * Removes threads that have not changed since `limit` (epoch milliseconds), if no client set their id, title or settings. Resolves to
     * the number of removed threads.
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

/** Removes a thread, even a damaged one. With `isKept` it can be restored. Resolves to false if there is no such thread. */
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
    // The commands end before the records are removed, so that nothing is left over if the service ends meanwhile.
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

/** Removes all threads, including damaged ones; see `clear`. */
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
