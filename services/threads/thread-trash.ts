import type { Thread } from '../../schemas/threads.ts'
import type { Clock } from '../lib/clock.ts'
import { changeUses } from '../attachments/index.ts'
import {
  isLocal,
  type Op,
  type Store,
  THREAD_TRASH,
  threadKey,
  threadTrashKey,
  threadTrashPartsPrefix,
  threadTrashPartKey,
  unlessDamaged
} from '../store/index.ts'
import { searchAgain } from './search/due-threads.ts'

/** How long a deleted conversation can be restored, milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
/** The most characters of JSON of one piece. A larger record is a piece of its own. */
const PIECE = 512 * 1024

/** The fields of a deleted conversation that a list shows. */
type Summary = Pick<Thread, 'id' | 'title' | 'createdAt' | 'updatedAt' | 'messageCount' | 'lastMessage'>
interface Trashed extends Summary {
  deletedAt: number
  pieces: number
}
type Piece = Array<[key: string, value: unknown]>

export type ThreadTrash = ReturnType<typeof createThreadTrash>

/**
 * Deleted conversations that can be restored. All records of a conversation are moved to its entry here, so that nothing else finds them:
 * no list, no search, no run. The files of its messages stay in use.
 */
export function createThreadTrash ({ store, clock }: { store: Store, clock: Clock }) {
  const entry = (thread: string) => unlessDamaged(store.get<Trashed>(threadTrashKey(thread)))
  const isOver = ({ deletedAt }: Trashed) => deletedAt + KEPT_MS <= clock.now()

  /** Returns the operations that remove the entry with its pieces, but not the files. */
  async function removeEntry (thread: string): Promise<Op[]> {
    const ops: Op[] = [{ type: 'del', key: threadTrashKey(thread) }]
    for await (const key of store.keys(threadTrashPartsPrefix(thread))) ops.push({ type: 'del', key })
    return ops
  }

  /** Returns the operations that erase the entry under the digest, with its files; none if there is no entry. */
  async function erase (thread: string): Promise<Op[]> {
    const isThere = await store.get(threadTrashKey(thread)).then((found) => found !== undefined, () => true)
    if (!isThere) return []
    // If there is a new conversation with the same id, that conversation has the files now.
    const hasNew = await store.get(threadKey(thread)).then((found) => found !== undefined, () => true)
    return [...await removeEntry(thread), ...hasNew ? [] : await changeUses(store, thread)]
  }

  return {
    /** Returns the operations that keep the records that `removal` deletes. */
    async keep (summary: Summary, removal: readonly Op[]): Promise<Op[]> {
      const thread = store.digest(summary.id)
      const ops = await removeEntry(thread)
      const pieces = await piecesOf(removal, store)
      for (const [n, value] of pieces.entries()) ops.push({ type: 'put', key: threadTrashPartKey(thread, n), value })
      const value: Trashed = { ...summary, deletedAt: clock.now(), pieces: pieces.length }
      return [...ops, { type: 'put', key: threadTrashKey(thread), value }]
    },

    /** Returns the operations that restore a conversation; undefined if it is not kept, or its time is over. */
    async restore (id: string): Promise<Op[] | undefined> {
      const thread = store.digest(id)
      const kept = await entry(thread)
      if (kept === undefined || isOver(kept)) return undefined
      const ops = await removeEntry(thread)
      for (let n = 0; n < kept.pieces; n++) {
        const piece = await unlessDamaged(store.get<Piece>(threadTrashPartKey(thread, n))) ?? []
        for (const [key, value] of piece) ops.push({ type: 'put', key, value })
      }
      return [...ops, searchAgain(thread, { from: 0, removes: false })]
    },

    erase: (id: string): Promise<Op[]> => erase(store.digest(id)),

    /** Returns the conversations that can be restored, the last deleted first. */
    async list (limit: number): Promise<Thread[]> {
      const kept: Trashed[] = []
      for await (const [, each] of store.list<Trashed>(THREAD_TRASH, { damaged () {} })) if (!isOver(each)) kept.push(each)
      const newest = kept.sort((one, other) => other.deletedAt - one.deletedAt).slice(0, limit)
      return newest.map(({ pieces, ...each }) => ({ ...each, status: 'idle' }))
    },

    /** Yields the operations that erase deleted conversations, for each of them: all (`isAll`), or those whose time is over. */
    async * erasures ({ isAll }: { isAll: boolean }): AsyncGenerator<Op[]> {
      const overdue: string[] = []
      for await (const [key, each] of store.list<Trashed>(THREAD_TRASH, { damaged: (key) => overdue.push(key) })) {
        if (isAll || isOver(each)) overdue.push(key)
      }
      for (const key of overdue) yield await erase(key.slice(THREAD_TRASH.length))
    }
  }
}

/** Returns the records that a removal deletes, in pieces of about the same size. */
async function piecesOf (removal: readonly Op[], store: Pick<Store, 'get'>): Promise<Piece[]> {
  const pieces: Piece[] = []
  let size = PIECE
  for (const { type, key } of removal) {
    // Grants and the copies for undo are not kept: they end with the conversation.
    if (type !== 'del' || isLocal(key)) continue
    const value = await unlessDamaged(store.get(key))
    if (value === undefined) continue
    size += JSON.stringify(value).length
    if (size > PIECE) {
      pieces.push([])
      size = 0
    }
    pieces.at(-1)!.push([key, value])
  }
  return pieces
}
