import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'

/** The kinds of effect that a report can claim. */
export const EFFECTS = ['file', 'deletion', 'command', 'message', 'other'] as const
/** The outcomes of a run, as the judge decides them. */
export const OUTCOMES = ['done', 'nothing_to_do', 'partly', 'failed', 'asks'] as const
const VERDICTS = ['confirmed', 'contradicted', 'unchecked'] as const
const EVIDENCE = [...VERDICTS, 'not_needed'] as const
const JUDGES = ['model', 'none'] as const

export const ClaimSchema = Type.Object({
  claim: Type.String(),
  effect: oneOf(EFFECTS, 'What kind of effect the report claims'),
  target: Type.Optional(Type.String({ description: 'The path, command or recipient' })),
  call: Type.Union([Type.String(), Type.Null()], { description: 'The id of the tool call that the judge named' }),
  count: Type.Optional(Type.Number({ description: 'How many files, messages or commands the report claims' })),
  succeeded: Type.Optional(Type.Boolean({ description: 'Whether the report says that the command succeeded' })),
  verdict: oneOf(VERDICTS, 'confirmed: a completed call can have had this effect, which does not say that the work is right; ' +
    'contradicted: no call can, or the record of the files says otherwise; unchecked: it cannot be checked'),
  reason: Type.Optional(Type.String({ description: 'Why the claim is contradicted or unchecked' }))
}, { description: 'An effect that the report says the run had' })
export type Claim = Static<typeof ClaimSchema>

/** The field that is false for a report that the recorded calls do not confirm. */
export const Verified = Type.Boolean({
  description: 'false: what the report claims could not all be checked, no effect is claimed although calls had effects or the plan ' +
    'expects one, or the effect that the plan expects is missing; the score is then 0.6 at most. Absent otherwise'
})

/** The field with the line of facts about one run. */
export const Facts = Type.String({
  description: 'What the run did by its recorded calls, written by code: calls by effect, files, commands with their exit codes, ' +
    'external calls. One line in English'
})

/** The fields of an evaluation other than its score. */
const judgement = {
  outcome: Type.Optional(oneOf(OUTCOMES, 'How the run ended. done, nothing_to_do and partly are completed; absent when nobody judged')),
  verified: Type.Optional(Verified),
  claims: Type.Optional(Type.Array(ClaimSchema)),
  evidence: Type.Optional(oneOf(EVIDENCE, 'All claims together; not_needed: the report claims no effect')),
  judge: Type.Optional(oneOf(JUDGES, 'none: no model judged the run, only its tool calls were looked at'))
}
const issues = Type.Array(Type.String({ description: 'One thing that is missing, wrong or not checked' }))

export const EvaluationSchema = Type.Object({
  satisfied: Type.Boolean({ description: 'Whether the answer does what was asked, all of it' }),
  score: Type.Number({ minimum: 0, maximum: 1 }),
  issues,
  ...judgement
}, {
  $id: 'Evaluation',
  additionalProperties: false,
  description: 'A judgement of an answer, from 0 to 1'
})
export type Evaluation = Static<typeof EvaluationSchema>

export const TaskEvaluationSchema = Type.Object({
  satisfied: Type.Boolean(),
  qualityScore: Type.Number({ minimum: 0, maximum: 1 }),
  issues,
  ...judgement
}, {
  $id: 'TaskEvaluation',
  description: 'The evaluation of a run. A model reads the report; each effect that the report claims is checked against the tool calls'
})
export type TaskEvaluation = Static<typeof TaskEvaluationSchema>

/** The fields of an evaluation that come from its judgement, for the schemas of events and digests. */
export const JudgementFields = judgement
