import { Type, type Static } from '@sinclair/typebox'
import { enumOf, ref, Timestamp } from './common.ts'

const closed = { additionalProperties: false }

/** Limits of questions and answers: numbers of entries, and lengths in characters. */
export const QUESTION_LIMITS = { questions: 20, options: 50, text: 2_000, option: 500, answer: 10_000 } as const
const { questions: MOST, options: MOST_OPTIONS, text: LONGEST_TEXT, option: LONGEST_OPTION, answer: LONGEST_ANSWER } = QUESTION_LIMITS

const Option = Type.Object({
  value: Type.String({ minLength: 1, maxLength: LONGEST_OPTION, description: 'The answer when this option is chosen' }),
  label: Type.String({ minLength: 1, maxLength: LONGEST_OPTION, description: 'The option as the user reads it' })
}, closed)

export const QuestionSchema = Type.Object({
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.\\-]{0,127}$', description: 'Names the question in the answers' }),
  text: Type.String({ minLength: 1, maxLength: LONGEST_TEXT, description: 'The question as the user reads it' }),
  options: Type.Optional(
    Type.Array(Option, { minItems: 1, maxItems: MOST_OPTIONS, description: 'What the user can choose; without it the answer is a text' })
  ),
  multi: Type.Optional(Type.Boolean({ description: 'The user may give several answers' })),
  free: Type.Optional(Type.Boolean({ description: 'The user may also answer in own words, beside the options' })),
  required: Type.Optional(Type.Boolean({ description: 'The question cannot be left unanswered' }))
}, { ...closed, $id: 'Question', description: 'A question of the agent to its user' })
export type Question = Static<typeof QuestionSchema>

/** The input of the tool `askUser`. */
export const QuestionsSchema = Type.Object({
  questions: Type.Array(Type.Object(QuestionSchema.properties, closed), {
    minItems: 1,
    maxItems: MOST,
    description: 'Questions that the user answers together'
  })
}, closed)

const Text = Type.String({ minLength: 1, maxLength: LONGEST_ANSWER })
export const AnswersSchema = Type.Record(Type.String(), Type.Union([Text, Type.Array(Text, { maxItems: MOST_OPTIONS })]), {
  $id: 'Answers',
  maxProperties: MOST,
  description: 'The answers to questions by their ids: the value of an option or a text; a list where several answers are allowed'
})
export type Answers = Static<typeof AnswersSchema>

/** The budget that a question is about: the spent amount, the limit, and the amount that a yes adds. */
export const ReachedBudgetSchema = Type.Object({
  of: enumOf(['run', 'day'], 'run: `options.budget` of the run; day: `budget.day` in config.json, for all calls of the day'),
  unit: enumOf(['usd', 'tokens'], 'What the budget counts'),
  spent: Type.Number({ description: 'The amount spent when the run stopped to ask' }),
  limit: Type.Number({ description: 'The present limit' }),
  more: Type.Number({ description: 'The amount that a yes adds to the amount spent' }),
  day: Type.Optional(Type.String({ description: 'The day of the service that a yes holds for, such as 2026-01-31: until its midnight' }))
}, { ...closed, $id: 'ReachedBudget', description: 'A budget that is used up; the run goes on when its user allows more' })
export type ReachedBudget = Static<typeof ReachedBudgetSchema>

/** The field of the service's own questions about a budget. */
export const BUDGET_FIELD = { budget: Type.Optional(ref(ReachedBudgetSchema)) }

/** Open questions, as events and results show them. */
export const QUESTION_REQUEST = {
  approvalId: Type.String({ description: 'Id of the questions, for POST /approvals/{id}' }),
  toolCallId: Type.Optional(Type.String({ description: 'The call that asks' })),
  questions: Type.Array(ref(QuestionSchema)),
  ...BUDGET_FIELD,
  expiresAt: Timestamp
}

/** The additional fields of questions that a tool server asks. */
export const LIVE_FIELDS = {
  live: Type.Optional(Type.Literal(true, { description: 'A tool server asks, and its call goes on: no step waits for the answer' })),
  server: Type.Optional(Type.String({ description: 'The tool server that asks, and that gets the answers' })),
  url: Type.Optional(
    Type.String({ description: 'The address that the server wants the user to open: https, or http on this computer' })
  )
}
