import type { Brain, FactSource, Pattern } from '../../schemas/brain.ts'
import { foldText } from './fact-text.ts'

export type FactKind = 'fact' | 'preference' | 'instruction'
export type FactState = 'known' | 'proposed' | 'replaced'

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
  /** Only a proposal has it: accepted, it hides what it names and is gone. */
  retracts?: true
  /** Ids of what it replaced or, of a proposal, of what it would replace. */
  replaces?: string[]
  /** The text of the newest entry that it replaced. */
  supersedes?: string
  /** When a statement or a retraction hid it, and the entry that took its place. */
  replacedAt?: number
  replacedBy?: string
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
  /** When everything was cleared. Statements up to then are ignored. */
  clearedAt?: number
  updatedAt: number
}

/** A memory as earlier versions stored it: texts in `facts`, their sources in `entries` and `origins`. */
interface EarlierMemory {
  facts: string[]
  preferences: Record<string, string>
  entries?: Array<Pick<Entry, 'id' | 'fact' | 'createdAt' | 'said' | 'source' | 'supersedes'>>
  origins?: Record<string, Pick<Entry, 'said' | 'source'>>
  dropped?: Memory['dropped']
  clearedAt?: number
  updatedAt: number
}
export type StoredMemory = Memory | EarlierMemory

export const emptyMemory = (): Memory => ({ entries: [], habits: [], dropped: [], updatedAt: 0 })

/**
 * Returns the stored memory in its present form. Entries of earlier versions that have no id get one that depends on their
 * text alone, so that it stays the same until the next change stores it.
 */
export function readMemory (stored: StoredMemory, digest: (text: string) => string): Memory {
  if (!('facts' in stored)) return stored
  const { facts, preferences, entries = [], origins = {}, dropped = [], clearedAt, updatedAt } = stored
  const idOf = (text: string) => asId(digest(text))
  const base = { state: 'known', createdAt: updatedAt, said: updatedAt } as const
  return {
    entries: [
      ...facts.map((fact, n): Entry => {
        const known = entries[n]?.fact === fact ? entries[n] : { id: idOf(`fact ${fact}`), fact }
        return { ...base, kind: 'fact', ...known }
      }),
      ...Object.entries(preferences).map(([key, value]): Entry => ({
        ...base,
        id: idOf(`preference ${key}`),
        kind: 'preference',
        fact: origins[key]?.source?.span ?? `${key}: ${value}`,
        key,
        value,
        ...origins[key]
      }))
    ],
    habits: [],
    dropped,
    ...(clearedAt !== undefined && { clearedAt }),
    updatedAt
  }
}

/** Writes 32 hexadecimal digits in the form of a UUID; version 8 is free for such uses (RFC 9562). */
const asId = (hex: string) => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`

/** Threads and runs that must hold a request before it counts as a pattern. */
const PATTERN_EVIDENCE = 3

export const isPattern = ({ evidence }: Habit): boolean => evidence.length >= PATTERN_EVIDENCE

/** A pattern is the surer the more threads and runs hold it: 3 give 0.6, 8 give 0.8. */
export const patternOf = (habit: Habit): Pattern => ({ ...habit, confidence: habit.evidence.length / (habit.evidence.length + 2) })

export const ofKind = ({ entries }: Pick<Memory, 'entries'>, kind: FactKind, state: FactState = 'known'): Entry[] =>
  entries.filter((entry) => entry.kind === kind && entry.state === state)

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

/** Whether the user typed it or pinned it: then nothing that is learned takes its place unasked. */
export const isProtected = ({ source, pinned }: Entry): boolean => source === undefined || pinned === true
