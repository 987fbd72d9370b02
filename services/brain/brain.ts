import { createError } from '@fastify/error'
import { LIMITS, type Brain, type BrainView, type KnownFact, type PreferenceBody } from '../../schemas/brain.ts'
import { newId } from '../lib/ids.ts'
import type { StoredRecord } from '../store/store-types.ts'
import { contextPreview } from './context-preview.ts'
import { emptyMemory, entriesOf, foldedText, withEntries, type Entry, type Memory } from './memory.ts'
import { mergeStatements, type Observed, type Retraction } from './merge.ts'
import { normalise, sameButForCase } from './fact-text.ts'

export { emptyMemory, type Memory } from './memory.ts'
export type { Observed, Retraction } from './merge.ts'

export const FactNotFound = createError('ERR_FACT_NOT_FOUND', 'No stored fact equals the one given. GET /memory/brain lists them.', 404)
export const TooManyFacts = createError(
  'ERR_TOO_MANY_FACTS',
  `${LIMITS.facts} facts are remembered, which is the most. Forget one with DELETE /memory/brain/fact first.`,
  409
)
export const TooManyPreferences = createError(
  'ERR_TOO_MANY_PREFERENCES',
  `${LIMITS.preferences} preferences are remembered, which is the most. Set one that exists, or clear everything with DELETE /memory/brain.`,
  409
)

export const BrainDamaged = createError(
  'ERR_RECORD_DAMAGED',
  'What is remembered of the user is damaged on the disk and cannot be read. DELETE /memory/brain clears it; only a backup from before has it whole.',
  500
)
const DAMAGED = 'What is remembered of the user is damaged on the disk and cannot be read; DELETE /memory/brain clears it.'

/** The user's long-term memory, one encrypted record. Every change is durable before it resolves, to the brain as it then is. */
export function createBrain (
  { record, now, digest }: { record: StoredRecord<Memory>, now: () => number, digest: (text: string) => string }
) {
  /** `edit` gives what changes, or nothing; only a change has a time. */
  const update = async (edit: (memory: Memory) => Partial<Memory> | undefined): Promise<Brain> =>
    brainOf(
      await record.update((memory) => {
        const changes = edit(memory)
        return changes ? { ...memory, ...changes, updatedAt: now() } : memory
      }).catch(inWords)
    )
  const load = () => record.get().catch(inWords)

  async function recall (): Promise<BrainView> {
    const brain = brainOf(await load())
    return { brain, contextPreview: contextPreview(brain) }
  }

  return {
    /** Throws BrainDamaged (500), as all of them do but `clear` and `told`. */
    recall,

    /** What a model is told of the user. A damaged memory keeps nobody from working; the model is told of that, too. */
    told: (): Promise<string> =>
      recall().then(({ contextPreview }) => contextPreview, (error) => {
        if (!(error instanceof BrainDamaged)) throw error
        return DAMAGED
      }),

    /** Adds a fact unless it is known, in whatever case. Throws TextLength (400) and TooManyFacts (409). */
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

    /** Removes the fact that equals `text` after normalisation, case and all. Throws TextLength (400) and FactNotFound (404). */
    async forget (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return update((memory) => {
        if (!memory.facts.includes(fact)) throw new FactNotFound()
        return {
          ...withEntries(entriesOf(memory).filter((known) => known.fact !== fact)),
          // What was said of it up to now is not heard again.
          dropped: [...memory.dropped ?? [], { key: digest(foldedText(fact)), at: now() }]
        }
      })
    },

    /** Sets or overwrites. Throws TextLength (400) and TooManyPreferences (409). */
    async prefer ({ key: text, value: given }: PreferenceBody): Promise<Brain> {
      const key = normalise('key', text, LIMITS.key)
      const value = given.toWellFormed()
      return update(({ preferences, origins }) => {
        const isKnown = Object.hasOwn(preferences, key)
        if (!isKnown && Object.keys(preferences).length >= LIMITS.preferences) throw new TooManyPreferences()
        if (isKnown && preferences[key] === value) return
        return { preferences: { ...preferences, [key]: value }, origins: { ...origins, [key]: { said: now() } } }
      })
    },

    /** Also the way out when the brain on disk is damaged. What was said up to now is not heard again. */
    async clear (): Promise<Brain> {
      const memory = await record.get().catch(() => undefined)
      const isEmpty = memory && memory.facts.length + Object.keys(memory.preferences).length + memory.patterns.length === 0
      return brainOf(await record.replace({ ...emptyMemory(), updatedAt: isEmpty ? memory.updatedAt : now(), clearedAt: now() }))
    },

    /** Takes in what the user was heard to say, and to say no more; see `take`. Resolves to how much of it was news. */
    async hear (heard: Observed[], unsaid: Retraction[] = []): Promise<number> {
      let added = 0
      await update((memory) => {
        const taken = mergeStatements(memory, [...heard, ...unsaid], { now: now(), digest })
        added = taken.added
        return taken.changes
      })
      return added
    },

    /** The facts with where they come from, the newest first. */
    async facts ({ limit, cursor }: { limit: number, cursor?: string }): Promise<{ facts: KnownFact[], nextCursor?: string }> {
      const all = entriesOf(await load()).toReversed()
      const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1
      const page = all.slice(from, from + limit).map(shown)
      return { facts: page, ...(from + limit < all.length && page.length > 0 && { nextCursor: page.at(-1)!.id }) }
    },

    /** What of it comes from one thread. */
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

function inWords (error: { code?: string }): never {
  throw error.code === 'ERR_RECORD_DAMAGED' ? new BrainDamaged() : error
}

const brainOf = ({ facts, preferences, patterns, updatedAt }: Memory): Brain => ({ facts, preferences, patterns, updatedAt })
const shown = ({ id, fact, source, createdAt, supersedes }: Entry): KnownFact => ({
  id,
  fact,
  ...(source && { source }),
  createdAt,
  ...(supersedes && { supersedes })
})

export type BrainService = ReturnType<typeof createBrain>
