import type { Brain, FactSource, Pattern } from '../../schemas/brain.ts'
import type { ItemIds } from '../store/index.ts'
import { foldText } from './fact-text.ts'

export type FactKind = 'fact' | 'preference' | 'instruction'
type FactState = 'known' | 'proposed' | 'replaced'

/** A fact, preference or instruction, with where it comes from and what became of it. */
export interface Entry {
  id: string
  kind: FactKind
  state: FactState
  /** The words of the user: whole sentences of a message, or what was typed. Of a typed preference `key: value`. */
  fact: string
  key?: string
  value?: string
  createdAt: number
  /** When the user said it, milliseconds since the Unix epoch; 0 when unknown. */
  said: number
  /** Absent when it was typed through the API. */
  source?: FactSource
  pinned?: true
  /** A person has accepted, restored or put it back. */
  confirmed?: true
  /** It matters whatever is asked, as a diet does: only what is pinned comes before it in a prompt. */
  important?: true
  /** The question of the assistant that it answers, if it is understood only with it. */
  asked?: string
  /** The day that its words mean by its distance from the day on which it was said, YYYY-MM-DD. */
  on?: string
  /** Words under which it may be needed, which the model of role `fast` gave it: they find it for a message. */
  topics?: string[]
  /** Only a proposal has it: accepted, it hides what it names and is gone. */
  retracts?: true
  /** Ids of what it replaced or, of a proposal, of what it would replace. */
  replaces?: string[]
  /** The text of the newest entry that it replaced. */
  supersedes?: string
  /** When a statement or a retraction hid it, and the entry that took its place. */
  replacedAt?: number
  replacedBy?: string
  /** When the user had it forgotten. */
  forgottenAt?: number
}

/** A request that recurred, or may become one that recurs: a pattern once enough threads or runs hold it. */
export type Habit = Omit<Pattern, 'confidence'>

/** What is remembered. */
export interface Memory {
  entries: Entry[]
  habits: Habit[]
  /**
   * Statements that are ignored when they were said up to `at`, because the user removed them. They are stored as digests,
   * because their text must be forgotten.
   */
  dropped: Array<{ key: string, at: number }>
  /** Subjects that the user had forgotten, by digests of how their words begin: statements about them up to `at` are ignored. */
  forgotten?: Array<{ words: string[], at: number }>
  /** When everything was cleared. Statements up to then are ignored. */
  clearedAt?: number
  updatedAt: number
}

/** Returns the ids of what is stored item by item, so that a fact that changes writes no other one. */
export const memoryIds = (digest: (text: string) => string): ItemIds<Memory> => ({
  entries: ({ id }) => id,
  habits: ({ id }) => id,
  dropped: ({ key }) => key,
  forgotten: ({ words }) => digest(words.toSorted().join())
})

export const emptyMemory = (): Memory => ({ entries: [], habits: [], dropped: [], updatedAt: 0 })

/** Threads and runs that must hold a request before it counts as a pattern. */
const PATTERN_EVIDENCE = 3

export const isPattern = ({ evidence }: Habit): boolean => evidence.length >= PATTERN_EVIDENCE

/** A pattern is the surer the more threads and runs hold it: 3 give 0.6, 8 give 0.8. */
export const patternOf = (habit: Habit): Pattern => ({ ...habit, confidence: habit.evidence.length / (habit.evidence.length + 2) })

/** Returns the known entries of a kind. */
export const ofKind = ({ entries }: Pick<Memory, 'entries'>, kind: FactKind): Entry[] =>
  entries.filter((entry) => entry.kind === kind && entry.state === 'known')

/** The brain as its readers get it. */
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

/** The text by which duplicates are found, and digests of removed entries are made. */
export function foldEntry (entry: Content): string {
  const known = folded.get(entry)
  if (known !== undefined) return known
  const { kind, fact, key, value } = entry
  const text = kind === 'preference' && key !== undefined ? `${foldText(key)}: ${foldText(value!)}` : foldText(fact)
  folded.set(entry, text)
  return text
}

/** Whether a person typed it, confirmed it or pinned it: then nothing that is learned takes its place unasked. */
export const isProtected = ({ source, confirmed, pinned }: Entry): boolean => source === undefined || confirmed === true || pinned === true

/** What a change of the memory did to its entries. */
export interface BrainChange {
  /** Entries that are known since. */
  learned: Entry[]
  /** Entries that wait for a confirmation since. */
  proposed: Entry[]
  /** Ids of entries that are not known any more: forgotten, replaced or erased. */
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
