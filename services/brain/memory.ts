import type { Brain, FactSource } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'

/** A fact with its source. */
export interface Entry {
  id: string
  fact: string
  createdAt: number
  /** When the user said it, milliseconds since the Unix epoch; 0 when unknown. */
  said: number
  source?: FactSource
  supersedes?: string
}

/** The brain as it is stored. */
export interface Memory extends Brain {
  /** One entry for each fact, in the same order. */
  entries?: Entry[]
  /** The sources of preferences, by key. */
  origins?: Record<string, { said: number, source?: FactSource }>
  /**
   * Statements that are ignored when they were said up to `at`, because the user removed them or newer statements superseded
   * them. They are stored as digests, because their text must be forgotten.
   */
  dropped?: Array<{ key: string, at: number }>
  /** When everything was cleared. Statements up to then are ignored. */
  clearedAt?: number
}

export const emptyMemory = (): Memory => ({ facts: [], preferences: {}, patterns: [], updatedAt: 0 })

/** The entries of a memory. Facts of older versions get new entries without a source. */
export const entriesOf = ({ facts, entries = [], updatedAt }: Memory): Entry[] =>
  facts.map((fact, n) => entries[n]?.fact === fact ? entries[n] : { id: newId(), fact, createdAt: updatedAt, said: updatedAt })

export const withEntries = (entries: Entry[]) => ({ entries, facts: entries.map(({ fact }) => fact) })

/** Folds a text for comparison: case, whitespace and the final punctuation mark do not count. */
export const foldedText = (fact: string): string =>
  fact.normalize('NFC').toLowerCase().replaceAll('\u2019', "'").replace(/\s+/g, ' ').replace(/[\s.!]+$/, '').trim()
