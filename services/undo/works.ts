import type { FollowUp } from '../../schemas/undo.ts'
import { undoEntriesPrefix, undoEntryKey, undoWorksPrefix, type Op, type Store } from '../store/index.ts'
import { APPLY, type Entry } from './undo-entry.ts'

/** What an undo or an apply did: its entries, oldest first. One that was interrupted and completed has several. */
export interface Work {
  id: string
  entries: Entry[]
}

/** Reads the entries of a run, an undo or an apply, oldest first. */
export async function readEntries (store: Store, runId: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const [, entry] of store.list<Entry>(undoEntriesPrefix(runId), { damaged () {} })) entries.push(entry)
  return entries
}

/** Returns the undos of the changes of a run, and the applies of its copy, that changed something, oldest first. */
export async function worksOn (store: Store, runId: string): Promise<Work[]> {
  const works: Work[] = []
  const prefix = undoWorksPrefix(runId)
  for await (const key of store.keys(prefix)) {
    const id = key.slice(prefix.length)
    const entries = await readEntries(store, id)
    if (entries.some(({ ended }) => ended)) works.push({ id, entries })
  }
  return works
}

const isCut = ({ entries }: Work): boolean => entries.at(-1)!.isCut === true

/** Returns the public form of works, without those in progress. */
export const followUps = (works: readonly Work[]): FollowUp[] =>
  works.filter(({ entries }) => entries.every(({ ended }) => ended)).map((work) => {
    const { toolName, at } = work.entries[0]
    const paths = new Set(work.entries.flatMap(({ items }) => items.flatMap(({ path, isParent }) => isParent ? [] : [path])))
    return { id: work.id, kind: toolName === APPLY ? 'apply' : 'undo', at, paths: paths.size, ...isCut(work) && { isCut: true } }
  })

/**
 * Returns the newest undo or apply of a run if it was interrupted and nobody has undone it. A repeated request completes that one, and adds
 * to its record.
 */
export async function workToContinue (store: Store, runId: string, toolName: string): Promise<Work | undefined> {
  const last = (await worksOn(store, runId)).findLast(({ entries }) => entries[0].toolName === toolName)
  return last !== undefined && isCut(last) && (await worksOn(store, last.id)).length === 0 ? last : undefined
}

/** Returns the operations that record that the work is complete. */
export const completedOps = ({ entries }: Work): Op[] =>
  entries.flatMap(({ isCut, ...entry }) => isCut ? [{ type: 'put', key: undoEntryKey(entry.runId, entry.id), value: entry }] : [])
