import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'

/** The terms of a field with how often each occurs, and how many they are in all. */
export interface FieldTerms {
  counts: ReadonlyMap<string, number>
  length: number
}

/** What is indexed: its terms by field. */
export type Indexed<F extends string> = Readonly<Record<F, FieldTerms>>

/** Parameters of BM25: how soon further occurrences count less, and how much a long field counts less. */
const K = 1.2
const B = 0.75

export const fieldTerms = (terms: readonly string[]): FieldTerms => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return { counts, length: terms.length }
}

/** Returns fields that hold the terms of several. */
export const joinedTerms = (fields: readonly FieldTerms[]): FieldTerms => {
  const counts = new Map<string, number>()
  for (const field of fields) for (const [term, count] of field.counts) counts.set(term, (counts.get(term) ?? 0) + count)
  return { counts, length: fields.reduce((sum, { length }) => sum + length, 0) }
}

export type FieldIndex = Awaited<ReturnType<typeof createFieldIndex>>

/**
 * Indexes documents for the ranking BM25F: the occurrences of a term in all fields of a document are one weighted frequency, so that a term
 * that several fields repeat counts little more than in one. Lets other events in between.
 */
export async function createFieldIndex<F extends string> (documents: ReadonlyArray<Indexed<F>>, weights: Readonly<Record<F, number>>) {
  const fields = Object.keys(weights) as F[]
  const average = (field: F) => documents.reduce((sum, { [field]: { length } }) => sum + length, 0) / documents.length || 1
  const averages = fields.map((field) => [field, average(field)] as const)
  /** The weighted frequency of each term in the documents that have it. */
  const frequencies = new Map<string, Map<number, number>>()
  for (const [at, document] of documents.entries()) {
    for (const [field, mean] of averages) {
      const { counts, length } = document[field]
      const share = weights[field] / (1 - B + B * length / mean)
      for (const [term, count] of counts) {
        const found = frequencies.get(term) ?? new Map<number, number>()
        frequencies.set(term, found.set(at, (found.get(at) ?? 0) + share * count))
      }
    }
    await yieldToEventLoop()
  }
  const terms = [...frequencies.keys()].sort()
  const scored = new Map<string, ReadonlyMap<number, number>>()

  function score (term: string): ReadonlyMap<number, number> {
    const found = frequencies.get(term) ?? new Map<number, number>()
    const rarity = Math.log(1 + (documents.length - found.size + 0.5) / (found.size + 0.5))
    return new Map([...found].map(([at, frequency]) => [at, rarity * frequency * (K + 1) / (K + frequency)]))
  }

  return {
    has: (term: string): boolean => frequencies.has(term),

    /** Returns what a term says for the documents that have it, by their positions. */
    scores (term: string): ReadonlyMap<number, number> {
      if (!frequencies.has(term)) return new Map()
      const known = scored.get(term) ?? score(term)
      scored.set(term, known)
      return known
    },

    /** Returns the terms that begin with a term, without itself. */
    beginningWith (term: string): string[] {
      let [from, to] = [0, terms.length]
      while (from < to) {
        const middle = (from + to) >> 1
        if (terms[middle] <= term) from = middle + 1
        else to = middle
      }
      while (to < terms.length && terms[to].startsWith(term)) to++
      return terms.slice(from, to)
    }
  }
}
