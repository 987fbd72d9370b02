import { Type, type Static } from '@sinclair/typebox'
import { Timestamp } from './common.ts'
import * as examples from './examples/brain.ts'

/** Characters are Unicode code points, as everywhere in JSON Schema. */
export const LIMITS = { facts: 1_000, preferences: 1_000, fact: 2_000, key: 200, value: 2_000 } as const

const PatternSchema = Type.Object({
  id: Type.String(),
  pattern: Type.String(),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  updatedAt: Timestamp
}, { description: 'Something learned from what the user does' })

/** What the service remembers about its user. */
export const BrainSchema = Type.Object({
  facts: Type.Array(Type.String(), { maxItems: LIMITS.facts, description: 'Statements about the user, the newest last' }),
  // Not Type.Record: its pattern would lose keys that hold a line break on their way out.
  preferences: Type.Unsafe<Record<string, string>>(Type.Object({}, {
    additionalProperties: Type.String(),
    maxProperties: LIMITS.preferences,
    description: 'Values by key'
  })),
  patterns: Type.Array(PatternSchema, { description: 'Learned patterns; none are learned yet' }),
  updatedAt: Type.Integer({ description: 'Time of the last change in milliseconds since the Unix epoch; 0 before the first' })
}, { $id: 'Brain', description: 'What the service remembers about its user', examples: [examples.brain] })
export type Brain = Static<typeof BrainSchema>

const BrainRef = Type.Unsafe<Brain>(Type.Ref('Brain'))

export const BrainViewSchema = Type.Object({
  brain: BrainRef,
  contextPreview: Type.String({
    description: 'The text injected into the system prompt of every run; at most 4,000 tokens, counted as 4 characters each'
  })
}, { $id: 'BrainView', description: 'The brain, and what runs are told of it', examples: [examples.brainView] })
export type BrainView = Static<typeof BrainViewSchema>

/** Limits on facts and keys hold after trimming and Unicode normalisation (NFC); the service checks them. */
export const FactBodySchema = Type.Object({
  fact: Type.String({ description: `A statement about the user, 1 to ${LIMITS.fact} characters after trimming` })
}, { $id: 'FactBody', additionalProperties: false, examples: [examples.fact] })

export const PreferenceBodySchema = Type.Object({
  key: Type.String({ description: `1 to ${LIMITS.key} characters after trimming` }),
  value: Type.String({ maxLength: LIMITS.value, description: `Kept as it is given, up to ${LIMITS.value} characters` })
}, { $id: 'PreferenceBody', additionalProperties: false, examples: [examples.preference] })
export type PreferenceBody = Static<typeof PreferenceBodySchema>

const changed = <S extends string>(status: S, $id: string) =>
  Type.Object({ status: Type.Literal(status), brain: BrainRef }, {
    $id,
    description: 'The brain after the change',
    examples: [{ status, brain: examples.brain }]
  })
export const FactLearnedSchema = changed('learned', 'FactLearned')
export const FactRemovedSchema = changed('removed', 'FactRemoved')
export const PreferenceSetSchema = changed('set', 'PreferenceSet')
export const BrainClearedSchema = Type.Object({ status: Type.Literal('cleared') }, {
  $id: 'BrainCleared',
  description: 'The brain is empty',
  examples: [{ status: 'cleared' }]
})

export const FactSourceSchema = Type.Object({
  threadId: Type.String(),
  message: Type.Integer({ description: 'Its place in the thread, from 0' }),
  messageId: Type.Optional(Type.String()),
  span: Type.String({ description: 'What the user said, word for word' })
}, { description: 'The words of the user that it was learned from' })
export type FactSource = Static<typeof FactSourceSchema>

export const KnownFactSchema = Type.Object({
  id: Type.String(),
  fact: Type.String(),
  source: Type.Optional(FactSourceSchema),
  createdAt: Timestamp,
  supersedes: Type.Optional(Type.String({ description: 'The statement that it took the place of' }))
}, {
  $id: 'KnownFact',
  description: 'A fact, and where it comes from; without `source` it was taught by hand',
  examples: [examples.knownFact]
})
export type KnownFact = Static<typeof KnownFactSchema>

export const FactListSchema = Type.Object({
  facts: Type.Array(Type.Unsafe<KnownFact>(Type.Ref('KnownFact'))),
  nextCursor: Type.Optional(Type.String())
}, { $id: 'FactList', description: 'A page of facts, the newest first; with nextCursor there are more', examples: [examples.factList] })

export const FactQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'nextCursor of the page before' }))
})

export const ExtractionSchema = Type.Object({
  facts: Type.Array(Type.String(), { description: 'What is known from this thread' }),
  preferences: Type.Unsafe<Record<string, string>>(Type.Object({}, { additionalProperties: Type.String() })),
  added: Type.Integer({ description: 'How much of it is new' })
}, { $id: 'Extraction', description: 'What the user said of themselves in a thread', examples: [examples.extraction] })
export type Extraction = Static<typeof ExtractionSchema>
