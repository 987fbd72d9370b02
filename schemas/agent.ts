import { Type, type Static } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import * as examples from './examples/run.ts'
import { TaskStatusSchema, TaskTypeSchema } from './tasks.ts'

/** A message of the conversation: an AI SDK ModelMessage (`role`, `content`) or UIMessage (`role`, `parts`). Other keys are kept. */
const Message = Type.Unsafe<{ role: string, [field: string]: unknown }>(
  Type.Object({ role: Type.String({ description: 'system, user, assistant or tool' }) }, { additionalProperties: true })
)

export const ThreadId = Type.String({ pattern: '^[^/\\p{Cc}\\p{Cs}]{1,128}$', description: 'Up to 128 printable characters without "/"' })

export const RunBodySchema = Type.Object({
  messages: Type.Optional(
    Type.Array(Message, { minItems: 1, maxItems: 25_000, description: "The conversation so far, in the AI SDK's message format" })
  ),
  message: Type.Optional(Message),
  context: Type.Optional(Type.Object({
    cwd: Type.Optional(Type.String({ minLength: 1, description: 'Folder that relative paths and commands start from' }))
  }, { additionalProperties: true })),
  id: Type.Optional(ThreadId),
  resumable: Type.Optional(Type.Boolean({ description: 'The run lives on when its client goes away; GET /run/{id}/stream follows it' })),
  trigger: Type.Optional(Type.Unknown({ description: 'Of chat clients: "regenerate-message" never answers an approval request' })),
  messageId: Type.Optional(Type.Unknown({ description: 'Of chat clients: the message that is continued' }))
}, {
  $id: 'RunBody',
  additionalProperties: true,
  description: 'A conversation to answer',
  examples: [examples.runBody]
})
export type RunBody = Static<typeof RunBodySchema>

export const ApproveBodySchema = Type.Object(RunBodySchema.properties, {
  $id: 'ApproveBody',
  additionalProperties: true,
  description: 'The conversation so far, whose final message holds the decisions: role "tool", with a part ' +
    '{ type: "tool-approval-response", approvalId, approved, reason? } for each request that is answered',
  examples: [examples.approveBody]
})

export const ProtocolSchema = Type.Union([Type.Literal('documented'), Type.Literal('ui'), Type.Literal('ui5')], {
  description: "How the stream is written: as documented here, as the AI SDK's UI message stream, or as that for its 5.x clients. " +
    'By default "ui" when a message has `parts`, else "documented".'
})
export type Protocol = Static<typeof ProtocolSchema>

export const StreamQuery = Type.Object({ protocol: Type.Optional(ProtocolSchema) })
const INTERVAL =
  'Only for long_running work that repeats: how often, as in "daily at 9am", "weekdays at 17:30", "every monday at 9am", "every 30 minutes" or a cron line'
export const AnalysisSchema = Type.Object({
  complexity: Type.Union([Type.Literal('simple'), Type.Literal('standard'), Type.Literal('complex'), Type.Literal('long_running')]),
  goal: Type.String({
    description: 'What the user wants, in one sentence; of long_running work all that is to be done, without how often'
  }),
  thinking: Type.String({ description: 'How you read the request, in one or two sentences' }),
  qualityCriteria: Type.Array(Type.String({ description: 'What a good answer must hold' })),
  interval: Type.Optional(Type.String({ description: INTERVAL }))
}, { $id: 'Analysis', additionalProperties: false, description: 'How the fast model reads a request', examples: [examples.analysis] })
/** As models are asked for it: some providers refuse a property that may be left out. */
export const AnalysisQuestionSchema = Type.Object({
  ...AnalysisSchema.properties,
  interval: Type.String({ description: `${INTERVAL}; "" for all else` })
}, { additionalProperties: false })
export type Analysis = Static<typeof AnalysisSchema>

/** A judgement of an answer; `score` from 0 to 1. */
export const EvaluationSchema = Type.Object({
  satisfied: Type.Boolean({ description: 'Whether the answer does what was asked, all of it' }),
  score: Type.Number({ minimum: 0, maximum: 1 }),
  issues: Type.Array(Type.String({ description: 'One thing that is missing or wrong, so that it can be mended' }))
}, {
  $id: 'Evaluation',
  additionalProperties: false,
  description: 'A judgement of an answer, from 0 to 1',
  examples: [examples.evaluation]
})
export type Evaluation = Static<typeof EvaluationSchema>

/** What a run says of the background task that it made. */
export const RunTaskSchema = Type.Object({
  taskId: Type.String({ description: 'Of GET /tasks/{id} and all else about it' }),
  goal: Type.String(),
  taskType: TaskTypeSchema,
  status: TaskStatusSchema,
  interval: Type.Optional(Type.String({ description: 'How often it runs' })),
  nextRunAt: Type.Optional(Timestamp)
}, { $id: 'RunTask', description: 'A background task that a run made and started', examples: [examples.runTask] })
export type RunTask = Static<typeof RunTaskSchema>

/** What was done to make a conversation fit its model. */
export const CompactionSchema = Type.Object({
  before: Type.Integer({ description: 'Tokens of all of it, estimated' }),
  after: Type.Integer({ description: 'Tokens of what the model was sent' }),
  outputs: Type.Integer({ description: 'Outputs of tools that were left out' }),
  summarised: Type.Integer({ description: 'Messages in whose place a summary stood' }),
  dropped: Type.Integer({ description: 'Messages that were left out' })
}, {
  $id: 'Compaction',
  additionalProperties: false,
  description: 'What was done to make a conversation fit its model. The thread keeps everything',
  examples: [examples.compaction]
})

export const FinishReason = Type.Union(
  ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'].map((reason) => Type.Literal(reason)),
  { description: 'Why it ended; "tool-calls" when approvals are waited for' }
)

/** What `POST /run/sync` answers. */
export const RunResultSchema = Type.Object({
  text: Type.String({ description: 'The answer: what was said after the last tool call' }),
  messages: Type.Array(Message, { description: 'The messages to add to the conversation' }),
  steps: Type.Integer(),
  toolCalls: Type.Array(Type.Object({
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Optional(Type.Unknown()),
    output: Type.Optional(Type.Unknown()),
    errorText: Type.Optional(Type.String()),
    status: Type.Union(['pending', 'complete', 'error', 'denied'].map((status) => Type.Literal(status)))
  })),
  usage: Type.Object({ inputTokens: Type.Integer(), outputTokens: Type.Integer() }),
  finishReason: FinishReason,
  pendingApprovals: Type.Array(Type.Object({
    approvalId: Type.String(),
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Unknown(),
    cwd: Type.Optional(Type.String({ description: 'Real path of the folder the call works in' })),
    reason: Type.Optional(Type.String({ description: 'Why it is asked again' }))
  })),
  analysis: Type.Optional(ref(AnalysisSchema)),
  evaluation: Type.Optional(ref(EvaluationSchema)),
  task: Type.Optional(ref(RunTaskSchema)),

  compactions: Type.Optional(
    Type.Array(ref(CompactionSchema), { description: 'How the conversation was made to fit its model; absent when it did' })
  ),
  threadId: Type.String(),
  runId: Type.String()
}, { $id: 'RunResult', description: 'The whole answer', examples: [examples.runResult] })
export type RunResult = Static<typeof RunResultSchema>

export const LiveRunSchema = Type.Object({ ok: Type.Literal(true), threadId: Type.String(), runId: Type.String() }, {
  $id: 'LiveRun',
  description: 'The run that was reached',
  examples: [examples.liveRun]
})
export const SteerBodySchema = Type.Object({
  message: Type.String({ minLength: 1, maxLength: 20_000, description: 'What the agent should hear at its next step' })
}, { $id: 'SteerBody', additionalProperties: false, examples: [examples.steerBody] })
export const ThreadParams = Type.Object({ id: ThreadId })

export const ApprovalState = Type.Union(
  ['pending', 'approved', 'denied', 'executing', 'done', 'unknown', 'expired', 'withdrawn'].map((state) => Type.Literal(state))
)

/** A tool call that waits, or waited, for a person. */
export const ApprovalSchema = Type.Object({
  approvalId: Type.String(),
  runId: Type.String(),
  threadId: Type.String(),
  toolCallId: Type.String(),
  toolName: Type.String(),
  input: Type.Unknown({ description: 'The whole input the tool will get' }),
  digest: Type.String({ description: 'SHA-256 of the canonical input, hexadecimal' }),
  cwd: Type.String({ description: 'Real path of the folder the call works in. It runs there or not at all' }),
  note: Type.Optional(Type.String({ description: 'Why it is asked again' })),
  reason: Type.Optional(Type.String({ description: 'What the person said with the decision' })),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  state: ApprovalState
}, { $id: 'Approval', description: 'A tool call that waits, or waited, for a person', examples: [examples.approval] })
export type ApprovalView = Static<typeof ApprovalSchema>

export const ApprovalListSchema = Type.Object({
  approvals: Type.Array(Type.Unsafe<ApprovalView>(Type.Ref('Approval'))),
  nextCursor: Type.Optional(Type.String())
}, {
  $id: 'ApprovalList',
  description: 'A page of open approval requests; with nextCursor there are more',
  examples: [examples.approvalList]
})

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'nextCursor of the page before' }))
})
