import { newId } from '../../lib/ids.ts'
import { type Op, SEARCH_DUE, searchBlocksPrefix, searchDueKey, searchDuePrefix, type Store } from '../../store/index.ts'

/** A change of a thread that the index does not have yet. */
export interface DueChange {
  /** The position of the first message that changed; 0 for the title, too. */
  from: number
  /** Whether something that was there is gone: then its words leave the index soon. */
  removes: boolean
}

/** Returns the operation, to be written with a change of the texts or the title of a thread, that has the index follow. */
export const searchAgain = (thread: string, change: DueChange): Op => ({ type: 'put', key: searchDueKey(thread, newId()), value: change })

/** Returns the operations, to be written with the removal of a thread, that have its words leave the index, if any are there. */
export async function searchNoMore (store: Pick<Store, 'keys'>, thread: string): Promise<Op[]> {
  const ops: Op[] = []
  for await (const key of store.keys(searchDuePrefix(thread))) ops.push({ type: 'del', key })
  let isIndexed = false
  for await (const key of store.keys(searchBlocksPrefix(thread), { limit: 1 })) isIndexed = key !== ''
  return isIndexed ? [...ops, searchAgain(thread, { from: 0, removes: true })] : ops
}

/** A thread that changed, by its digest: the marks of its changes, and the position from which on it is searched in its texts. */
export interface DueThread {
  thread: string
  from: number
  marks: string[]
}

/** Yields the threads that the index does not have as they are. */
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
