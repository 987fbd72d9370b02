import { Type, type Static } from '@sinclair/typebox'

const closed = { additionalProperties: false }
const tokens = (description: string) => Type.Integer({ description })

export const UsageSchema = Type.Object({
  inputTokens: tokens('Tokens of the prompts, with the cached and the written ones'),
  cachedInputTokens: tokens('Input tokens that the provider read from its cache'),
  cacheWriteTokens: tokens('Input tokens that the provider wrote to its cache'),
  outputTokens: tokens('Tokens of the answers, with those of the reasoning'),
  reasoningTokens: tokens('Output tokens of the reasoning'),
  costUsd: Type.Optional(Type.Number({ description: 'US dollars; absent when the price of a call is unknown' })),
  costEstimateOf: Type.Optional(Type.String({
    description: 'The date of the price table, as 2026-01-31, if a part of the cost is estimated: of calls whose providers name no cost'
  }))
}, { $id: 'Usage', description: 'Tokens and cost of model calls, as their providers count them' })
export type Usage = Static<typeof UsageSchema>

const USAGE_GROUPINGS = ['day', 'model', 'role', 'task', 'thread'] as const
export type UsageGrouping = typeof USAGE_GROUPINGS[number]

const Day = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description: "A day of this machine's time zone, as 2026-01-31" })

export const UsageQuerySchema = Type.Object({
  from: Type.Optional({
    ...Day,
    description: 'The first day, as 2026-01-31, in the time zone of this machine; by default 29 days before `to`'
  }),
  to: Type.Optional({ ...Day, description: 'The last day; by default today' }),
  by: Type.Unsafe<UsageGrouping>({
    type: 'string',
    enum: [...USAGE_GROUPINGS],
    default: 'day',
    description: 'What the calls are grouped by'
  })
}, closed)
export type UsageQuery = Static<typeof UsageQuerySchema>

export const UsageReportSchema = Type.Object({
  from: Day,
  to: Day,
  groups: Type.Array(Type.Object({
    key: Type.String({
      description: 'The day, model, role, task id or thread id. `""` groups the calls whose task or thread was deleted, and what is ' +
        'beyond ' +
        'the 1,000 largest groups'
    }),
    calls: Type.Integer({ description: 'Number of model calls' }),
    ...UsageSchema.properties,
    costUsd: Type.Optional(Type.Number({ description: 'US dollars of the calls whose price is known; absent when it is of none' })),
    unpricedCalls: Type.Integer({ description: 'Number of calls whose price is unknown' })
  }))
}, {
  $id: 'UsageReport',
  description: 'The model calls of a range of days. Days are sorted by date, other groups by their tokens, the most first'
})
export type UsageReport = Static<typeof UsageReportSchema>
export type UsageGroup = UsageReport['groups'][number]
