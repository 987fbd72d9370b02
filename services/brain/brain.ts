import { defineError } from '../lib/service-error.ts'
import { LIMITS, type Brain, type BrainView, type KnownFact, type PreferenceBody } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'
import type { StoredRecord } from '../store/store-types.ts'
import { contextPreview } from './context-preview.ts'
import { emptyMemory, entriesOf, foldedText, withEntries, type Entry, type Memory } from './memory.ts'
import { mergeStatements, type Observed, type Retraction } from './merge.ts'
import { normalise, sameButForCase } from './fact-text.ts'

export { emptyMemory, type Memory } from './memory.ts'
export type { Observed, Retraction } from './merge.ts'

export const FactNotFound = defineError('ERR_FACT_NOT_FOUND', 'No stored fact equals the one given. GET /memory/brain lists them.')
export const TooManyFacts = defineError(
  'ERR_TOO_MANY_FACTS',
  `${LIMITS.facts} facts are stored, which is the maximum. Remove a fact with DELETE /memory/brain/fact first.`
)
export const TooManyPreferences = defineError(
  'ERR_TOO_MANY_PREFERENCES',
  `${LIMITS.preferences} preferences are stored, which is the maximum. ` +
    'Overwrite an existing preference, or clear everything with DELETE /memory/brain.'
)

export const BrainDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored memory of the user is damaged and cannot be read. ' +
    'DELETE /memory/brain clears it; only an earlier backup can restore it.'
)
/** The text that models get instead of a damaged memory. */
const DAMAGED = 'What is remembered of the user is damaged on the disk and cannot be read; DELETE /memory/brain clears it.'

/** The user's long-term memory, one encrypted record. A change resolves to the new brain when it is durable. */
export function createBrain (
  { record, now, digest }: { record: StoredRecord<Memory>, now: () => number, digest: (text: string) => string }
) {
  /** Applies the changes that `edit` returns. When it returns undefined, `updatedAt` stays as it is. */
  const update = async (edit: (memory: Memory) => Partial<Memory> | undefined): Promise<Brain> =>
    brainOf(
      await record.update((memory) => {
        const changes = edit(memory)
        return changes ? { ...memory, ...changes, updatedAt: now() } : memory
      }).catch(toBrainError)
    )
  const load = () => record.get().catch(toBrainError)

  async function recall (): Promise<BrainView> {
    const brain = brainOf(await load())
    return { brain, contextPreview: contextPreview(brain) }
  }

  return {
    /** The brain, and its text for models. Throws BrainDamaged (500), like every operation here except `clear` and `promptText`. */
    recall,

    /** The brain as text for models. A damaged memory yields a sentence that says so, because it must not stop a run. */
    promptText: (): Promise<string> =>
      recall().then(({ contextPreview }) => contextPreview, (error) => {
        if (!(error instanceof BrainDamaged)) throw error
        return DAMAGED
      }),

    /** Adds a fact unless it is known, compared without case. Throws TextLength (400) and TooManyFacts (409). */
    async learn (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return update((memory) => {
        const entries = entriesOf(memory)
        if (memory.facts.some(sameButForCase(fact))) return
        if (memory.facts.length >= LIMITS.facts) throw new TooManyFacts()
        const time = now()
        return withEntries([...entries, { id: newId(), fact, createdAt: time, said: time }])
      })
    },

    /** Removes the fact that equals `text` after normalisation, compared with case. Throws TextLength (400) and FactNotFound (404). */
    async forget (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return update((memory) => {
        if (!memory.facts.includes(fact)) throw new FactNotFound()
        return {
          ...withEntries(entriesOf(memory).filter((known) => known.fact !== fact)),
          // Extraction must not learn the fact again from messages up to now.
          dropped: [...memory.dropped ?? [], { key: digest(foldedText(fact)), at: now() }]
        }
      })
    },

    /** Sets or overwrites a preference. Throws TextLength (400) and TooManyPreferences (409). */
    async prefer ({ key: text, value: rawValue }: PreferenceBody): Promise<Brain> {
      const key = normalise('key', text, LIMITS.key)
      const value = rawValue.toWellFormed()
      return update(({ preferences, origins }) => {
        const isKnown = Object.hasOwn(preferences, key)
        if (!isKnown && Object.keys(preferences).length >= LIMITS.preferences) throw new TooManyPreferences()
        if (isKnown && preferences[key] === value) return
        return { preferences: { ...preferences, [key]: value }, origins: { ...origins, [key]: { said: now() } } }
      })
    },

    /** Clears everything, also a damaged record. Extraction does not learn again from messages up to now. */
    async clear (): Promise<Brain> {
      const memory = await record.get().catch(() => undefined)
      const isEmpty = memory && memory.facts.length + Object.keys(memory.preferences).length + memory.patterns.length === 0
      return brainOf(await record.replace({ ...emptyMemory(), updatedAt: isEmpty ? memory.updatedAt : now(), clearedAt: now() }))
    },

    /** Merges statements and retractions into the memory, see `mergeStatements`. Resolves to the number of new entries. */
    async ingest (statements: Observed[], retractions: Retraction[] = []): Promise<number> {
      let added = 0
      await update((memory) => {
        const merged = mergeStatements(memory, [...statements, ...retractions], { now: now(), digest })
        added = merged.added
        return merged.changes
      })
      return added
    },

    /** A page of facts with their sources, newest first. */
    async facts ({ limit, cursor }: { limit: number, cursor?: string }): Promise<{ facts: KnownFact[], nextCursor?: string }> {
      const all = entriesOf(await load()).toReversed()
      const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1
      const page = all.slice(from, from + limit).map(factView)
      return { facts: page, ...(from + limit < all.length && page.length > 0 && { nextCursor: page.at(-1)!.id }) }
    },

    /** The facts and preferences that come from one thread. */
    async from (threadId: string): Promise<{ facts: string[], preferences: Record<string, string> }> {
      const memory = await load()
      return {
        facts: entriesOf(memory).filter(({ source }) => source?.threadId === threadId).map(({ fact }) => fact),
        preferences: Object.fromEntries(
          Object.entries(memory.preferences).filter(([key]) => memory.origins?.[key]?.source?.threadId === threadId)
        )
      }
    }
  }
}

function toBrainError (error: { code?: string }): never {
  throw error.code === 'ERR_RECORD_DAMAGED' ? new BrainDamaged() : error
}

const brainOf = ({ facts, preferences, patterns, updatedAt }: Memory): Brain => ({ facts, preferences, patterns, updatedAt })
const factView = ({ id, fact, source, createdAt, supersedes }: Entry): KnownFact => ({
  id,
  fact,
  ...(source && { source }),
  createdAt,
  ...(supersedes && { supersedes })
})

export type BrainService = ReturnType<typeof createBrain>
