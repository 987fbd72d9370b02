import { Type, type Static } from '@sinclair/typebox'
import { UUID } from './ids.ts'
import { oneOf, ref, Timestamp } from './common.ts'

/** Limits of the memory: entries of each kind, and characters of a text. Characters are Unicode code points, as in JSON Schema. */
export const LIMITS = { facts: 1_000, preferences: 1_000, instructions: 1_000, fact: 2_000, key: 200, value: 2_000 } as const

export const PatternSchema = Type.Object({
  id: Type.String(),
  pattern: Type.String({ description: "The user's request, in their own words" }),
  confidence: Type.Number({ minimum: 0, maximum: 1, description: 'Grows with the number of threads and runs in `evidence`' }),
  evidence: Type.Array(
    Type.Object({ threadId: Type.Optional(Type.String()), taskId: Type.Optional(Type.String()), at: Timestamp }),
    { description: 'The threads and tasks that hold the request, with the time of the message or of the run; the newest ones' }
  ),
  updatedAt: Timestamp
}, { $id: 'Pattern', description: 'A request that recurred in at least three threads or runs' })
export type Pattern = Static<typeof PatternSchema>

/** The brain: facts, preferences and patterns that the service remembers of its user. */
export const BrainSchema = Type.Object({
  facts: Type.Array(Type.String(), { maxItems: LIMITS.facts, description: 'Statements about the user that are known, newest last' }),
  // Not Type.Record: the serializer would drop keys with a line break, because they do not match its pattern.
  preferences: Type.Unsafe<Record<string, string>>(Type.Object({}, {
    additionalProperties: Type.String(),
    maxProperties: LIMITS.preferences,
    description: 'The preferences of the user: values by key'
  })),
  patterns: Type.Array(ref(PatternSchema), {
    description: 'Requests that recur; DELETE /memory/brain/facts/:id removes one'
  }),
  updatedAt: Type.Integer({ description: 'Time of the last change in milliseconds since the Unix epoch; 0 before the first change' })
}, { $id: 'Brain', description: 'The facts, preferences and patterns that the service remembers of its user' })
export type Brain = Static<typeof BrainSchema>

const BrainRef = ref(BrainSchema)

export const BrainViewSchema = Type.Object({
  brain: BrainRef,
  contextPreview: Type.String({
    description: 'The facts and preferences as the system prompt of a new conversation states them: what is pinned or important, then ' +
      'the newest. With accepted instructions and patterns, which stand in sections of their own, it has at most 1,500 tokens'
  })
}, { $id: 'BrainView', description: 'The brain, and the text that it adds to the system prompt' })
export type BrainView = Static<typeof BrainViewSchema>

/** The body of a new fact. The service checks the limits itself, after trimming and Unicode normalization (NFC). */
export const FactBodySchema = Type.Object({
  fact: Type.String({ description: `A statement about the user, 1 to ${LIMITS.fact} characters after trimming` })
}, { $id: 'FactBody', additionalProperties: false, examples: [{ fact: 'Prefers tea' }] })

export const PreferenceBodySchema = Type.Object({
  key: Type.String({ description: `1 to ${LIMITS.key} characters after trimming` }),
  value: Type.String({ maxLength: LIMITS.value, description: `Stored unchanged, up to ${LIMITS.value} characters` })
}, { $id: 'PreferenceBody', additionalProperties: false, examples: [{ key: 'editor', value: 'vim' }] })
export type PreferenceBody = Static<typeof PreferenceBodySchema>

const changed = <S extends string>(status: S, $id: string) =>
  Type.Object({ status: Type.Literal(status), brain: BrainRef }, {
    $id,
    description: 'The brain after the change'
  })
export const FactLearnedSchema = changed('learned', 'FactLearned')
export const FactRemovedSchema = changed('removed', 'FactRemoved')
export const PreferenceSetSchema = changed('set', 'PreferenceSet')
export const BrainClearedSchema = Type.Object({ status: Type.Literal('cleared') }, {
  $id: 'BrainCleared',
  description: 'The brain was cleared'
})

const FactSourceSchema = Type.Object({
  threadId: Type.String(),
  message: Type.Integer({ description: 'Index of the message in the thread, from 0' }),
  messageId: Type.Optional(Type.String()),
  span: Type.String({ description: 'The words of the user, verbatim' })
}, { description: 'The words of the user from which the fact was learned' })
export type FactSource = Static<typeof FactSourceSchema>

const KindSchema = oneOf(['fact', 'preference', 'instruction', 'pattern'], {
  description: 'What it is: a statement, a value by key, a standing wish, or a request that recurs'
})
const StateSchema = oneOf(['known', 'proposed', 'replaced'], {
  description: 'known: the models are told. proposed: waits for a person to accept it. replaced: hidden, can be restored'
})

export const KnownFactSchema = Type.Object({
  id: Type.String(),
  fact: Type.String({ description: 'The words of the user; of a preference that was set through the API, `key: value`' }),
  kind: KindSchema,
  state: StateSchema,
  pinned: Type.Optional(Type.Literal(true)),
  important: Type.Optional(Type.Literal(true, {
    description: 'It matters whatever is asked: only what is pinned comes before it in the prompt'
  })),
  key: Type.Optional(Type.String({ description: 'Of a preference' })),
  value: Type.Optional(Type.String({ description: 'Of a preference' })),
  asked: Type.Optional(Type.String({ description: 'The question of the assistant that it answers, if it needs it' })),
  on: Type.Optional(Type.String({ description: 'The day, YYYY-MM-DD, that words such as "next Friday" meant when they were said' })),
  source: Type.Optional(FactSourceSchema),
  createdAt: Timestamp,
  supersedes: Type.Optional(Type.String({ description: 'The earlier fact that this one replaced or, while proposed, would replace' })),
  replaces: Type.Optional(Type.Array(Type.String(), { description: 'Ids of what it replaced or, while proposed, would replace' })),
  replacedBy: Type.Optional(Type.String({ description: 'Id of what took its place; absent when it was only taken back' })),
  forgottenAt: Type.Optional({ ...Timestamp, description: 'When the user had it forgotten: it can be restored for 30 days from then' }),
  retracts: Type.Optional(Type.Literal(true, { description: 'Accepting it hides what it replaces, and adds nothing' })),
  confidence: Type.Optional(Type.Number({ description: 'Of a pattern' })),
  evidence: Type.Optional(PatternSchema.properties.evidence)
}, {
  $id: 'KnownFact',
  description: 'A fact, preference, instruction or pattern, and its source; without `source` it was added through the API'
})
export type KnownFact = Static<typeof KnownFactSchema>
const KnownFactRef = ref(KnownFactSchema)

export const FactListSchema = Type.Object({
  facts: Type.Array(KnownFactRef),
  nextCursor: Type.Optional(Type.String())
}, {
  $id: 'FactList',
  description: 'A page of facts, newest first; nextCursor is present when there are more'
})
export type FactList = Static<typeof FactListSchema>

export const FactQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: LIMITS.key, description: 'Words that the fact holds; case does not count' })),
  state: Type.Optional({ ...StateSchema, default: 'known' }),
  kind: Type.Optional({ ...KindSchema, description: 'Absent: facts of what is known, everything of what is proposed or replaced' }),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: UUID, description: 'nextCursor of the previous page' }))
})
export type FactFilter = Static<typeof FactQuery>

export const FactParams = Type.Object({ id: Type.String({ description: 'Id of a fact, preference, instruction or pattern' }) })

export const FactChangeSchema = Type.Object({
  fact: Type.Optional(Type.String({ description: `The text in the user's own words, 1 to ${LIMITS.fact} characters after trimming` })),
  pinned: Type.Optional(Type.Boolean({ description: 'A pinned entry stays in the prompt, and learning never replaces it without asking' })),
  important: Type.Optional(Type.Boolean({
    description: 'In the prompt, important entries come before newer ones. Unlike pinned entries, they can be replaced by learning'
  })),
  state: Type.Optional(StateSchema)
}, {
  $id: 'FactChange',
  additionalProperties: false,
  minProperties: 1,
  description: 'known accepts a proposal or restores what was replaced; replaced hides; proposed asks again',
  examples: [{ state: 'known', pinned: true }]
})
export type FactChange = Static<typeof FactChangeSchema>

export const FactChangedSchema = Type.Object({
  status: Type.Literal('changed'),
  fact: Type.Optional(KnownFactRef),
  brain: BrainRef
}, {
  $id: 'FactChanged',
  description: 'The fact and the brain after the change; `fact` is absent after a retraction was accepted'
})

export const PreferenceKeySchema = Type.Object({ key: Type.String({ description: `1 to ${LIMITS.key} characters after trimming` }) }, {
  $id: 'PreferenceKey',
  additionalProperties: false,
  examples: [{ key: 'editor' }]
})

export const ExtractionSchema = Type.Object({
  facts: Type.Array(Type.String(), { description: 'The facts that are known from this thread' }),
  preferences: Type.Unsafe<Record<string, string>>(Type.Object({}, { additionalProperties: Type.String() })),
  added: Type.Integer({ description: 'Number of facts and preferences that are new' }),
  proposed: Type.Integer({ description: 'Number of new proposals, which wait for a person: GET /memory/brain/facts?state=proposed' }),
  rejected: Type.Optional(
    Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() }), {
      description: 'Sentences that the model pointed at, and that the check of their words refused'
    })
  )
}, { $id: 'Extraction', description: 'Facts and preferences from the statements of the user in a thread' })
export type Extraction = Static<typeof ExtractionSchema>
