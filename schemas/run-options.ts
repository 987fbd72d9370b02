import { Type, type Static } from '@sinclair/typebox'
import * as examples from './examples/run.ts'

const closed = { additionalProperties: false }

/** The values of the call option `reasoning` of the AI SDK. */
export const EffortSchema = Type.Union(
  [
    Type.Literal('provider-default'),
    Type.Literal('none'),
    Type.Literal('minimal'),
    Type.Literal('low'),
    Type.Literal('medium'),
    Type.Literal('high'),
    Type.Literal('xhigh'),
    Type.Literal('max')
  ],
  { description: 'How much the model reasons before it answers. Providers take the nearest effort that their model has' }
)
export type Effort = Static<typeof EffortSchema>

export const MaxOutputTokens = Type.Integer({
  minimum: 1,
  maximum: 10_000_000,
  description: 'The greatest length of the answer of one model call, in tokens; providers count reasoning, too'
})

/** The longest working time that a run may be given, minutes. */
export const LONGEST_RUN = 24 * 60

export const BudgetSchema = Type.Object({
  usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'US dollars' })),
  tokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Tokens of input and output, over all model calls' })
  ),
  minutes: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: LONGEST_RUN,
      description: 'Working time in minutes, without the time of waiting for approvals; runs of tasks have 30 by default'
    })
  )
}, { ...closed, description: 'Limits of the run; it ends when it has reached one' })
export type Budget = Static<typeof BudgetSchema>

export const RunOptionsSchema = Type.Object({
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: '`<provider>/<model>`: the model of role `capable` for this run, instead of the active model'
    })
  ),
  effort: Type.Optional(EffortSchema),
  maxOutputTokens: Type.Optional(MaxOutputTokens),
  budget: Type.Optional(BudgetSchema)
}, {
  ...closed,
  $id: 'RunOptions',
  description: 'What is set for one run. It is kept with the run: the same applies after approvals and after a restart',
  examples: [examples.runOptions]
})
export type RunOptions = Static<typeof RunOptionsSchema>
