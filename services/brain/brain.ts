import { createError } from '@fastify/error'
import { LIMITS, type Brain, type BrainView, type PreferenceBody } from '../../schemas/brain.ts'
import type { StoredRecord } from '../store/contract.ts'
import { contextPreview } from './preview.ts'
import { normalise, sameButForCase } from './text.ts'

export const FactNotFound = createError('ERR_FACT_NOT_FOUND', 'No stored fact equals the one given. GET /memory/brain lists them.', 404)
export const TooManyFacts = createError('ERR_TOO_MANY_FACTS',
  `${LIMITS.facts} facts are remembered, which is the most. Forget one with DELETE /memory/brain/fact first.`, 409)
export const TooManyPreferences = createError('ERR_TOO_MANY_PREFERENCES',
  `${LIMITS.preferences} preferences are remembered, which is the most. Set one that exists, or clear everything with DELETE /memory/brain.`, 409)

export const emptyBrain = (): Brain => ({ facts: [], preferences: {}, patterns: [], updatedAt: 0 })

/** The user's long-term memory, one encrypted record. Every change is durable before it resolves, to the brain as it then is. */
export function createBrain ({ record, now }: { record: StoredRecord<Brain>, now: () => number }) {
  /** `edit` gives what changes, or nothing; only a change has a time. */
  const update = (edit: (brain: Brain) => Partial<Brain> | undefined) => record.update((brain) => {
    const changes = edit(brain)
    return changes ? { ...brain, ...changes, updatedAt: now() } : brain
  })

  return {
    async recall (): Promise<BrainView> {
      const brain = await record.get()
      return { brain, contextPreview: contextPreview(brain) }
    },

    /** Adds a fact unless it is known, in whatever case. Throws TextLength (400) and TooManyFacts (409). */
    async learn (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return update(({ facts }) => {
        if (facts.some(sameButForCase(fact))) return
        if (facts.length >= LIMITS.facts) throw new TooManyFacts()
        return { facts: [...facts, fact] }
      })
    },

    /** Removes the fact that equals `text` after normalisation, case and all. Throws TextLength (400) and FactNotFound (404). */
    async forget (text: string): Promise<Brain> {
      const fact = normalise('fact', text, LIMITS.fact)
      return update(({ facts }) => {
        if (!facts.includes(fact)) throw new FactNotFound()
        return { facts: facts.filter((known) => known !== fact) }
      })
    },

    /** Sets or overwrites. Throws TextLength (400) and TooManyPreferences (409). */
    async prefer ({ key: text, value: given }: PreferenceBody): Promise<Brain> {
      const key = normalise('key', text, LIMITS.key)
      const value = given.toWellFormed()
      return update(({ preferences }) => {
        const isKnown = Object.hasOwn(preferences, key)
        if (isKnown && preferences[key] === value) return
        if (!isKnown && Object.keys(preferences).length >= LIMITS.preferences) throw new TooManyPreferences()
        return { preferences: { ...preferences, [key]: value } }
      })
    },

    /** Also the way out when the brain on disk is damaged. */
    async clear (): Promise<Brain> {
      const brain = await record.get().catch(() => undefined)
      if (brain && brain.facts.length + Object.keys(brain.preferences).length + brain.patterns.length === 0) return brain
      return record.replace({ ...emptyBrain(), updatedAt: now() })
    }
  }
}

export type BrainService = ReturnType<typeof createBrain>
