import type { Brain, FactSource } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'

/** A fact with where it comes from. */
export interface Entry {
  id: string
  fact: string
  createdAt: number
  /** When the user said it; 0 when nobody knows. */
  said: number
  source?: FactSource
  supersedes?: string
}

/** What is stored of the brain. */
export interface Memory extends Brain {
  /** One a fact, in their order. */
  entries?: Entry[]
  /** Where preferences come from, by key. */
  origins?: Record<string, { said: number, source?: FactSource }>
  /** Statements that count no more if they were said by then: removed by the user, or superseded. Digests, since they are to be forgotten. */
  dropped?: Array<{ key: string, at: number }>
  /** Everything was forgotten then, and what had been said stays so. */
  clearedAt?: number
}

export const emptyMemory = (): Memory => ({ facts: [], preferences: {}, patterns: [], updatedAt: 0 })

export const entriesOf = ({ facts, entries = [], updatedAt }: Memory): Entry[] =>
  facts.map((fact, n) => entries[n]?.fact === fact ? entries[n] : { id: newId(), fact, createdAt: updatedAt, said: updatedAt })

export const withEntries = (entries: Entry[]) => ({ entries, facts: entries.map(({ fact }) => fact) })

/** Texts that differ in case, blanks and their last mark only have the same. */
export const foldedText = (fact: string): string =>
  fact.normalize('NFC').toLowerCase().replaceAll('\u2019', "'").replace(/\s+/g, ' ').replace(/[\s.!]+$/, '').trim()
