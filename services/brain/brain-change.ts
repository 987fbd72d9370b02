import type { Entry, Memory } from './memory.ts'

/** What a change of the memory did to its entries. */
export interface BrainChange {
  /** Entries that are known since. */
  learned: Entry[]
  /** Entries that wait for a confirmation since. */
  proposed: Entry[]
  /** Ids of entries that are not known any more: forgotten, replaced or erased. */
  forgotten: string[]
}

/** Compares a memory before and after a change. */
export function changeBetween (before: Memory, after: Memory): BrainChange {
  const had = new Map(before.entries.map(({ id, state }) => [id, state]))
  const known = new Set(after.entries.flatMap(({ id, state }) => state === 'known' ? id : []))
  const fresh = (wanted: Entry['state']) => after.entries.filter(({ id, state }) => state === wanted && had.get(id) !== wanted)
  return {
    learned: fresh('known'),
    proposed: fresh('proposed'),
    forgotten: before.entries.flatMap(({ id, state }) => state === 'known' && !known.has(id) ? id : [])
  }
}
