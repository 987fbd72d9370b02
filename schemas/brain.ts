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
}, { description: "A pattern learned from the user's behaviour" })

/** The brain: facts, preferences and patterns that the service remembers of its user. */
export const BrainSchema = Type.Object({
  facts: Type.Array(Type.String(), { maxItems: LIMITS.facts, description: 'Statements about the user, newest last' }),
  // Not Type.Record: the serializer would drop keys with a line break, because they do not match its pattern.
  preferences: Type.Unsafe<Record<string, string>>(Type.Object({}, {
    additionalProperties: Type.String(),
    maxProperties: LIMITS.preferences,
    description: 'The preferences of the user: values by key'
  })),
  patterns: Type.Array(PatternSchema, { description: 'Learned patterns. The service learns none at present, so the list is empty' }),
  updatedAt: Type.Integer({ description: 'Time of the last change in milliseconds since the Unix epoch; 0 before the first change' })
}, { $id: 'Brain', description: 'The facts, preferences and patterns that the service remembers of its user', examples: [examples.brain] })
export type Brain = Static<typeof BrainSchema>

const BrainRef = Type.Unsafe<Brain>(Type.Ref('Brain'))

export const BrainViewSchema = Type.Object({
  brain: BrainRef,
  contextPreview: Type.String({
    description: 'The text that is added to the system prompt of every run; at most 4,000 tokens of 4 characters each'
  })
}, { $id: 'BrainView', description: 'The brain, and the text that it adds to the system prompt', examples: [examples.brainView] })
export type BrainView = Static<typeof BrainViewSchema>

/** The service checks the limits on facts and keys, after trimming and Unicode normalisation (NFC). */
export const FactBodySchema = Type.Object({
  fact: Type.String({ description: `A statement about the user, 1 to ${LIMITS.fact} characters after trimming` })
}, { $id: 'FactBody', additionalProperties: false, examples: [examples.fact] })

export const PreferenceBodySchema = Type.Object({
  key: Type.String({ description: `1 to ${LIMITS.key} characters after trimming` }),
  value: Type.String({ maxLength: LIMITS.value, description: `Stored unchanged, up to ${LIMITS.value} characters` })
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
  description: 'The brain was cleared',
  examples: [{ status: 'cleared' }]
})

export const FactSourceSchema = Type.Object({
  threadId: Type.String(),
  message: Type.Integer({ description: 'Index of the message in the thread, from 0' }),
  messageId: Type.Optional(Type.String()),
  span: Type.String({ description: 'The words of the user, verbatim' })
}, { description: 'The words of the user from which the fact was learned' })
export type FactSource = Static<typeof FactSourceSchema>

export const KnownFactSchema = Type.Object({
  id: Type.String(),
  fact: Type.String(),
  source: Type.Optional(FactSourceSchema),
  createdAt: Timestamp,
  supersedes: Type.Optional(Type.String({ description: 'The earlier fact that this one replaced' }))
}, {
  $id: 'KnownFact',
  description: 'A fact and its source; without `source` it was added through the API',
  examples: [examples.knownFact]
})
export type KnownFact = Static<typeof KnownFactSchema>

export const FactListSchema = Type.Object({
  facts: Type.Array(Type.Unsafe<KnownFact>(Type.Ref('KnownFact'))),
  nextCursor: Type.Optional(Type.String())
}, { $id: 'FactList', description: 'A page of facts, newest first; nextCursor is present when there are more', examples: [examples.factList] })

export const FactQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'nextCursor of the previous page' }))
})

export const ExtractionSchema = Type.Object({
  facts: Type.Array(Type.String(), { description: 'The facts that are known from this thread' }),
  preferences: Type.Unsafe<Record<string, string>>(Type.Object({}, { additionalProperties: Type.String() })),
  added: Type.Integer({ description: 'Number of facts and preferences that are new' })
}, { $id: 'Extraction', description: 'Facts and preferences from the statements of the user in a thread', examples: [examples.extraction] })
export type Extraction = Static<typeof ExtractionSchema>
