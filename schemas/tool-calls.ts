import { Type, type Static } from '@sinclair/typebox'
import { enumOf, ref, Timestamp } from './common.ts'
import { TaskId, ThreadId, UUID } from './ids.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))
const Instance = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'An id that the instance of the application has chosen for itself'
})

const ClaimSchema = Type.Object({
  instance: Instance,
  until: Type.Integer({ description: 'Until then the claim must be renewed; milliseconds since the Unix epoch' })
}, { description: 'The instance of the application that executes the call' })

const fields = {
  toolCallId: Type.String(),
  toolName: Type.String(),
  input: Type.Unknown({ description: 'The complete input of the call; it fits the inputSchema of the tool' }),
  app: text('options.app of the run'),
  runId: Type.String(),
  threadId: text('The conversation of the run; absent for a task'),
  taskId: text('The task of the run; absent for a conversation'),
  claim: Type.Optional(ClaimSchema),
  createdAt: Timestamp,
  expiresAt: Type.Integer({ description: 'Until then the call can be answered; milliseconds since the Unix epoch' }),
  state: enumOf(
    ['open', 'claimed', 'done', 'error', 'unknown', 'expired', 'withdrawn'],
    'open → claimed → done or error; unknown: the claim was not renewed; expired: nobody answered; withdrawn: the run does not need it'
  )
}

/** A call of an application's tool. */
export const ToolCallSchema = Type.Object(fields, {
  $id: 'ToolCall',
  description: 'A call of a tool that the application executes'
})
export type ToolCallView = Static<typeof ToolCallSchema>

export const ToolCallListSchema = Type.Object({
  toolCalls: Type.Array(ref(ToolCallSchema)),
  nextCursor: Type.Optional(Type.String())
}, {
  $id: 'ToolCallList',
  description: 'A page of calls that applications execute; nextCursor is present when there are more'
})
export type ToolCallList = Static<typeof ToolCallListSchema>

export const ToolCallQuerySchema = Type.Object({
  state: Type.Optional(enumOf(['open', 'claimed'], 'open: nobody executes it yet; claimed: an instance does; absent: both')),
  app: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'options.app of the runs' })),
  threadId: Type.Optional(ThreadId),
  taskId: Type.Optional(TaskId),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: UUID, description: 'nextCursor of the previous page' }))
})
export type ToolCallQuery = Static<typeof ToolCallQuerySchema>

export const ToolCallParams = Type.Object({ id: Type.String({ description: 'toolCallId of the call' }) })

export const ToolCallAnswerSchema = Type.Object({
  claim: Type.Optional(Instance),
  output: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description: 'The result, an object' }))
  ),
  error: Type.Optional(
    Type.String({ minLength: 1, maxLength: 16_384, description: 'Why the call failed; the model is told' })
  )
}, {
  ...closed,
  minProperties: 1,
  $id: 'ToolCallAnswer',
  description: 'The claim of a call by an instance of the application, to be renewed within 60 s; or its output; or its error. With ' +
    'output or error, "claim" names the instance that claimed it',
  examples: [{ claim: 'window-1' }, { output: { pages: 12 } }, { error: 'There is no such document.' }]
})
export type ToolCallAnswer = Static<typeof ToolCallAnswerSchema>

export const AnsweredToolCallSchema = Type.Object({
  ...fields,
  continued: Type.Boolean({
    description: 'Whether the run went on: false after a claim, and while other calls of the same step are open'
  })
}, { $id: 'AnsweredToolCall', description: 'The call after a claim or an answer' })
export type AnsweredToolCall = Static<typeof AnsweredToolCallSchema>
