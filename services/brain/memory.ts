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
  /** The words of the user: whole sentences of a message, or the typed text. For a typed preference `key: value`. */
  fact: string
  key?: string
  value?: string
  createdAt: number
  /** When the user said it, milliseconds since the Unix epoch; 0 when unknown. */
  said: number
  /** Absent if it was typed through the API. */
  source?: FactSource
  pinned?: true
  /** Set if a person has accepted or restored it. */
  confirmed?: true
  /** It matters in every conversation, as a diet does. In a prompt only pinned entries come before it. */
  important?: true
  /** The assistant's question that it answers, if it cannot be understood without the question. */
  asked?: string
  /** The day that its words mean by their distance from the day of the message, YYYY-MM-DD. */
  on?: string
  /** Words under which the entry may be needed, from the model of role `fast`. They find the entry for a message. */
  topics?: string[]
  /** Only a proposal has it: when accepted, it hides the entries that it names and is removed. */
  retracts?: true
  /** Ids of the entries that it replaced; for a proposal, of those that it would replace. */
  replaces?: string[]
  /** The text of the newest entry that it replaced. */
  supersedes?: string
  /** When a statement or a retraction hid it, and the entry that replaced it. */
  replacedAt?: number
  replacedBy?: string
  /** When the user had it forgotten. */
  forgottenAt?: number
}

/** A request that recurs, or may turn out to: it is a pattern once enough threads or runs contain it. */
export type Habit = Omit<Pattern, 'confidence'>

/** Everything that is remembered. */
export interface Memory {
  entries: Entry[]
  habits: Habit[]
  /**
   * Statements that the user removed: they are ignored if they were made up to `at`. Stored as digests, because their text must be
   * forgotten.
   */
  dropped: Array<{ key: string, at: number }>
  /** Subjects that the user had forgotten, as digests of the beginnings of their words: statements about them up to `at` are ignored. */
  forgotten?: Array<{ words: string[], at: number }>
  /** When everything was cleared. Earlier statements are ignored. */
  clearedAt?: number
  updatedAt: number
}

/** Returns the ids under which items are stored one by one, so that a changed fact writes no other one. */
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

/** Returns the brain in its public form. */
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

/** Returns the text by which duplicates are found, and from which digests of removed entries are made. */
export function foldEntry (entry: Content): string {
  const known = folded.get(entry)
  if (known !== undefined) return known
  const { kind, fact, key, value } = entry
  const text = kind === 'preference' && key !== undefined ? `${foldText(key)}: ${foldText(value!)}` : foldText(fact)
  folded.set(entry, text)
  return text
}

/** True if a person typed, confirmed or pinned it: then no learned statement replaces it without a confirmation. */
export const isProtected = ({ source, confirmed, pinned }: Entry): boolean => source === undefined || confirmed === true || pinned === true

/** The effect of a change of the memory on its entries. */
export interface BrainChange {
  /** Entries that became known. */
  learned: Entry[]
  /** Entries that became proposals. */
  proposed: Entry[]
  /** Ids of entries that are no longer known: forgotten, replaced or erased. */
  forgotten: string[]
}

/** Returns a function that finds the entries which a change has brought into a state. */
export function freshIn (before: Memory, after: Memory): (state: Entry['state']) => Entry[] {
  const had = new Map(before.entries.map(({ id, state }) => [id, state]))
  return (wanted) => after.entries.filter(({ id, state }) => state === wanted && had.get(id) !== wanted)
}

/** Compares a memory before and after a change. */
export function changeBetween (before: Memory, after: Memory): BrainChange {
  const known = new Set(after.entries.flatMap(({ id, state }) => state === 'known' ? id : []))
  const fresh = freshIn(before, after)
  return {
    learned: fresh('known'),
    proposed: fresh('proposed'),
    forgotten: before.entries.flatMap(({ id, state }) => state === 'known' && !known.has(id) ? id : [])
  }
}
