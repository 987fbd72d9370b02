import { newId } from '../../lib/ids.ts'
import { type Op, SEARCH_DUE, searchBlocksPrefix, searchDueKey, searchDuePrefix, type Store } from '../../store/index.ts'

/** A change of a thread that is not in the index yet. */
export interface DueChange {
  /** The position of the first message that changed; 0 also for the title. */
  from: number
  /** Whether a text was removed, so that its words must soon be removed from the index. */
  removes: boolean
}

/**
 * Returns the operation that marks a thread for indexing. The operation must be in the transaction that changes the texts or the title of
 * the thread.
 */
export const searchAgain = (thread: string, change: DueChange): Op => ({ type: 'put', key: searchDueKey(thread, newId()), value: change })

/**
 * Returns the operations that mark a removed thread for indexing, if the index contains words of it. They must be in the transaction that
 * removes the thread.
 */
export async function searchNoMore (store: Pick<Store, 'keys'>, thread: string): Promise<Op[]> {
  const ops: Op[] = []
  for await (const key of store.keys(searchDuePrefix(thread))) ops.push({ type: 'del', key })
  let isIndexed = false
  for await (const key of store.keys(searchBlocksPrefix(thread), { limit: 1 })) isIndexed = key !== ''
  return isIndexed ? [...ops, searchAgain(thread, { from: 0, removes: true })] : ops
}

/**
 * A changed thread: its digest, the position from which its texts are searched without the index, and the keys of the marks of its changes.
 */
export interface DueThread {
  thread: string
  from: number
  marks: string[]
}

/**
 * Yields the threads whose search index is out of date, with the position from which they are to be indexed again. A damaged mark of a
 * change counts as a change of the whole thread.
 */
export async function * dueThreads (store: Pick<Store, 'list'>): AsyncGenerator<DueThread> {
  let due: DueThread | undefined
  const unreadable: string[] = []
  for await (const [key, { from }] of store.list<DueChange>(SEARCH_DUE, { damaged: (key) => unreadable.push(key) })) {
    const thread = threadOfMark(key)
    if (due !== undefined && due.thread !== thread) {
      yield due
      due = undefined
    }
    due ??= { thread, from, marks: [] }
    due.from = Math.min(due.from, from)
    due.marks.push(key)
  }
  if (due !== undefined) yield due
  for (const key of unreadable) yield { thread: threadOfMark(key), from: 0, marks: [key] }
}

export const threadOfMark = (key: string): string => key.slice(SEARCH_DUE.length, key.lastIndexOf('/'))
