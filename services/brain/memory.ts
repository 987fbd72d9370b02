import type { Brain, FactSource, Pattern } from '../../schemas/brain.ts'
import type { ItemIds } from '../store/index.ts'
import { foldText } from './fact-text.ts'

export type FactKind = 'fact' | 'preference' | 'instruction'
type FactState = 'known' | 'proposed' | 'replaced'

/** A fact, preference or instruction, with its source and its state. */
export interface Entry {
  id: string
  kind: FactKind
  state: FactState
  /** The words of the user: whole sentences of a message, or the typed text; `key: value` for a typed preference. */
  fact: string
  key?: string
  value?: string
  createdAt: number
  /** When the user made the statement, milliseconds since the Unix epoch; 0 if unknown. */
  said: number
  /** The message that contains the statement. Absent for an entry that was typed through the API. */
  source?: FactSource
  pinned?: true
  /** Set if a person has accepted or restored the entry. */
  confirmed?: true
  /** The entry matters in every conversation, as a diet does. In a prompt only pinned entries come before important ones. */
  important?: true
  /** The assistant's question that the entry answers, if the entry cannot be understood without the question. */
  asked?: string
  /** The day (YYYY-MM-DD) that relative words of the entry mean, such as "next Friday". */
  on?: string
  /** Words by which the entry is found for a message, from the model of role `fast`. */
  topics?: string[]
  /** Proposals only: the entry is a retraction. When accepted, it hides the entries in `replaces` and is removed. */
  retracts?: true
  /** Ids of the entries that this entry replaced, or would replace if a proposal is accepted. */
  replaces?: string[]
  /** The text of the newest entry in `replaces`. */
  supersedes?: string
  /** When a statement or a retraction hid the entry, milliseconds since the Unix epoch. `replacedBy` is the id of the new entry. */
  replacedAt?: number
  replacedBy?: string
  /** When the user had the entry forgotten; milliseconds since the Unix epoch. */
  forgottenAt?: number
}

/** A request that might recur. It counts as a pattern once enough threads or runs contain it. */
export type Habit = Omit<Pattern, 'confidence'>

/** Everything that is remembered. */
export interface Memory {
  entries: Entry[]
  habits: Habit[]
  /**
   * Statements that the user removed. Statements with the same content made up to `at` are ignored. Stored as
   * digests, because the text itself must be forgotten.
   */
  dropped: Array<{ key: string, at: number }>
  /**
   * Subjects that the user had forgotten, as digests of the beginnings of their words. Statements about them made up to `at` are ignored.
   */
  forgotten?: Array<{ words: string[], at: number }>
  /** When the memory was cleared, milliseconds since the Unix epoch. Earlier statements are ignored. */
  clearedAt?: number
  updatedAt: number
}

/** Returns the functions that give each item an id of its own in the store, so that changing one fact does not rewrite the others. */
export const memoryIds = (digest: (text: string) => string): ItemIds<Memory> => ({
  entries: ({ id }) => id,
  habits: ({ id }) => id,
  dropped: ({ key }) => key,
  forgotten: ({ words }) => digest(words.toSorted().join())
})

export const emptyMemory = (): Memory => ({ entries: [], habits: [], dropped: [], updatedAt: 0 })

/** The number of threads and runs that must contain a request before it counts as a pattern. */
const PATTERN_EVIDENCE = 3

export const isPattern = ({ evidence }: Habit): boolean => evidence.length >= PATTERN_EVIDENCE

/** Returns a habit as a pattern. Its confidence grows with the number of threads and runs: 3 give 0.6, 8 give 0.8. */
export const patternOf = (habit: Habit): Pattern => ({ ...habit, confidence: habit.evidence.length / (habit.evidence.length + 2) })

/** Returns the known entries of a kind. */
export const ofKind = ({ entries }: Pick<Memory, 'entries'>, kind: FactKind): Entry[] =>
  entries.filter((entry) => entry.kind === kind && entry.state === 'known')

/** Returns the public form of the memory. */
export const brainOf = (memory: Memory): Brain => ({
  facts: ofKind(memory, 'fact').map(({ fact }) => fact),
  preferences: preferencesOf(ofKind(memory, 'preference')),
  patterns: memory.habits.filter(isPattern).map(patternOf),
  updatedAt: memory.updatedAt
})

export const preferencesOf = (entries: Entry[]): Record<string, string> =>
  Object.fromEntries(entries.map(({ key, value }) => [key!, value!]))

type Content = Pick<Entry, 'kind' | 'fact' | 'key' | 'value'>
const folded = new WeakMap<Content, string>()

/** Returns the folded text of an entry: it serves to find duplicates, and the digests of removed entries are computed from it. */
export function foldEntry (entry: Content): string {
  const known = folded.get(entry)
  if (known !== undefined) return known
  const { kind, fact, key, value } = entry
  const text = kind === 'preference' && key !== undefined ? `${foldText(key)}: ${foldText(value!)}` : foldText(fact)
  folded.set(entry, text)
  return text
}

/** True if a person typed, confirmed or pinned the entry. A learned statement replaces such an entry only after a confirmation. */
export const isProtected = ({ source, confirmed, pinned }: Entry): boolean => source === undefined || confirmed === true || pinned === true

/** The entries whose state a change of the memory has changed. */
export interface BrainChange {
  /** Entries that became known. */
  learned: Entry[]
  /** Entries that became proposals. */
  proposed: Entry[]
  /** Ids of entries that are no longer known, because they were forgotten, replaced or erased. */
  forgotten: string[]
}

/** Creates a function that returns the entries which are in the given state after a change and were not before. */
export function freshIn (before: Memory, after: Memory): (state: Entry['state']) => Entry[] {
  const had = new Map(before.entries.map(({ id, state }) => [id, state]))
  return (wanted) => after.entries.filter(({ id, state }) => state === wanted && had.get(id) !== wanted)
}

/** Compares the memory before and after a change. */
export function changeBetween (before: Memory, after: Memory): BrainChange {
  const known = new Set(after.entries.flatMap(({ id, state }) => state === 'known' ? id : []))
  const fresh = freshIn(before, after)
  return {
    learned: fresh('known'),
    proposed: fresh('proposed'),
    forgotten: before.entries.flatMap(({ id, state }) => state === 'known' && !known.has(id) ? id : [])
  }
}
