import { Type, type Static } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import * as examples from './examples/tasks.ts'
import { UpcomingQuery } from './schedule.ts'
import { PhaseSchema, RunStatusSchema, RunTriggerSchema, TaskId } from './tasks.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))

export const TaskEvaluationSchema = Type.Object({
  satisfied: Type.Boolean(),
  qualityScore: Type.Number({ minimum: 0, maximum: 1 }),
  issues: Type.Array(Type.String()),
  judge: Type.Unsafe<'model' | 'rules'>({
    type: 'string',
    enum: ['model', 'rules'],
    description: 'rules: no model could be asked, the score is the share of rules that hold'
  })
}, {
  $id: 'TaskEvaluation',
  description: 'What a run is worth. A broken rule cannot be outvoted by the model',
  examples: [examples.evaluation]
})
export type TaskEvaluation = Static<typeof TaskEvaluationSchema>

export const TaskToolCallSchema = Type.Object({
  tool: Type.String(),
  input: Type.Unknown(),
  output: Type.Optional(Type.Unknown({ description: 'What it answered; in lists of runs, shortened' })),
  error: Type.Optional(Type.String()),
  status: Type.Unsafe<'pending' | 'complete' | 'error' | 'denied'>({ type: 'string', enum: ['pending', 'complete', 'error', 'denied'] }),
  durationMs: Type.Optional(Type.Integer())
}, { $id: 'TaskToolCall', description: 'A tool call of a run', examples: [examples.toolCall] })
export type TaskToolCall = Static<typeof TaskToolCallSchema>

export const TaskQuestionSchema = Type.Object({
  approvalId: Type.String(),
  kind: Type.Unsafe<'tool' | 'result'>({ type: 'string', enum: ['tool', 'result'] }),
  tool: text('The tool that wants to run'),
  input: Type.Optional(Type.Unknown()),
  cwd: text('Real path of the folder the tool works in. It runs there or not at all'),
  reason: text('Why it is asked again'),
  output: text('The result that wants approval'),
  createdAt: Timestamp,
  expiresAt: Timestamp
}, { $id: 'TaskQuestion', description: 'What a run waits for a person to say', examples: [examples.question] })
export type TaskQuestion = Static<typeof TaskQuestionSchema>

export const TaskRunSchema = Type.Object({
  runId: Type.String(),
  id: Type.String({ description: 'The same as runId' }),
  taskId: Type.String(),
  runNumber: Type.Integer(),
  trigger: RunTriggerSchema,
  status: RunStatusSchema,
  queuedAt: Timestamp,
  startedAt: Type.Integer({ description: 'When it began to work, or was queued while it waits. Milliseconds since the Unix epoch' }),
  completedAt: Type.Optional(Timestamp),
  durationMs: Type.Optional(Type.Integer({ description: 'From start to end' })),
  output: text('The final text'),
  error: text('Why it did not complete'),
  phases: Type.Array(ref(PhaseSchema)),
  toolCalls: Type.Array(ref(TaskToolCallSchema)),
  toolCount: Type.Integer(),
  qualityScore: Type.Optional(Type.Number()),
  evaluation: Type.Optional(ref(TaskEvaluationSchema)),
  steering: Type.Array(Type.String(), { description: 'The comments that were new to this run' }),
  questions: Type.Array(ref(TaskQuestionSchema), { description: 'Open questions' }),
  usage: Type.Object({ inputTokens: Type.Integer(), outputTokens: Type.Integer() }),
  attempts: Type.Integer({ description: 'How often it began or went on after an interruption' }),
  standsFor: Type.Optional(Type.Integer({ description: 'Of a catch_up run: how many missed times it stands for' }))
}, { $id: 'TaskRun', description: 'One execution of a task', examples: [examples.run] })
export type TaskRun = Static<typeof TaskRunSchema>

export const TaskRunListSchema = Type.Object({
  runs: Type.Array(ref(TaskRunSchema)),
  nextCursor: Type.Optional(Type.String()),
  damaged: Type.Optional(Type.Array(Type.Integer(), { description: 'Numbers of runs that cannot be read any more' }))
}, {
  $id: 'TaskRunList',
  description: 'A page of runs, newest first',
  examples: [examples.runList]
})
export const RunQueuedSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  runId: Type.String(),
  runNumber: Type.Integer()
}, {
  $id: 'RunQueued',
  description: 'The run that was begun',
  examples: [examples.runQueued]
})
export type RunQueued = Static<typeof RunQueuedSchema>

export const TaskSteerBodySchema = Type.Object({
  comment: Type.String({ minLength: 1, maxLength: 4_000, pattern: '\\S', description: 'Feedback or instruction for the next run' }),
  runNow: Type.Optional(Type.Boolean({ description: 'Start a run at once with this comment' }))
}, { ...closed, $id: 'TaskSteerBody', description: 'Something to tell a task', examples: [examples.steerBody] })
export type TaskSteerBody = Static<typeof TaskSteerBodySchema>
export const TaskSteeredSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  comment: Type.String(),
  runTriggered: Type.Boolean()
}, {
  $id: 'TaskSteered',
  description: 'The comment was added; whether a run was begun for it',
  examples: [examples.steered]
})
export type TaskSteered = Static<typeof TaskSteeredSchema>

export const TaskApproveBodySchema = Type.Object({
  approved: Type.Boolean({ description: 'true approves, false rejects' }),
  notes: Type.Optional(Type.String({ maxLength: 4_000, description: 'Feedback that informs future runs' })),
  approvalId: Type.Optional(TaskId)
}, {
  ...closed,
  $id: 'TaskApproveBody',
  description: 'An answer to the question named, else to the oldest open one',
  examples: [examples.approveBody]
})
export type TaskApproveBody = Static<typeof TaskApproveBodySchema>
export const TaskApprovedSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  runId: Type.String(),
  approvalId: Type.String(),
  approved: Type.Boolean(),
  status: RunStatusSchema
}, { $id: 'TaskApproved', description: 'What the run is after the answer', examples: [examples.approved] })
export type TaskApproved = Static<typeof TaskApprovedSchema>

export const RunsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'nextCursor of the page before' }))
}, closed)
export const RunParams = Type.Object({ id: TaskId, runId: TaskId })
export const ScheduleQuery = Type.Object({
  upcoming: UpcomingQuery,
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'How many slots' }),
  cursor: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'nextCursor of the page before' }))
}, closed)
