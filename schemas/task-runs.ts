import { Type, type Static } from '@sinclair/typebox'
import { GRANTED, LearnedSchema, Teaches, SHOWN_WITH_CALL } from './grants.ts'
import { enumOf, ref, Timestamp } from './common.ts'
import { Facts, TaskEvaluationSchema, Verified } from './evaluation.ts'
import { BUDGET_FIELD, LIVE_FIELDS, QuestionSchema } from './questions.ts'
import { UpcomingQuery } from './schedule.ts'
import { AnsweredBySchema, RunOptionsSchema, StructuredAnswer } from './run-options.ts'
import { SteerSchema } from './steering.ts'
import { StoppedSchema } from './stopped.ts'
import { UsageSchema } from './usage.ts'
import { PhaseSchema, RunStatusSchema, RunTriggerSchema } from './tasks.ts'
import { NOT_BLANK, TaskId } from './ids.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))

export const TaskToolCallSchema = Type.Object({
  toolCallId: Type.String(),
  toolName: Type.String(),
  input: Type.Unknown(),
  output: Type.Optional(Type.Unknown({ description: 'The output of the tool; shortened in lists of runs' })),
  error: Type.Optional(Type.String()),
  status: enumOf(['pending', 'completed', 'error', 'denied']),
  grantId: text('The grant by which the call ran unasked'),
  begun: Type.Optional(Type.Boolean({
    description: 'The call was started, or given to the application: while it is pending when its run is over, its outcome is unknown. ' +
      'Calls that only read are not noted'
  })),
  durationMs: Type.Optional(Type.Integer())
}, { $id: 'TaskToolCall', description: 'A tool call of a run' })
export type TaskToolCall = Static<typeof TaskToolCallSchema>

export const TaskQuestionSchema = Type.Object({
  approvalId: Type.String(),
  kind: enumOf(['tool', 'result', 'question']),
  toolName: text('The tool whose call needs approval'),
  input: Type.Optional(Type.Unknown()),
  cwd: text('Real path of the working directory. The call runs in this directory or not at all'),
  reason: text('Why the approval is requested again, or what differs from the approved runs'),
  ...SHOWN_WITH_CALL,
  teaches: Teaches,
  output: text('The result that needs approval'),
  questions: Type.Optional(Type.Array(ref(QuestionSchema), { description: 'Kind question: what is asked; POST /approvals/:id answers' })),
  ...BUDGET_FIELD,
  ...LIVE_FIELDS,
  createdAt: Timestamp,
  expiresAt: Timestamp
}, { $id: 'TaskQuestion', description: 'An approval or question that a run waits for' })
export type TaskQuestion = Static<typeof TaskQuestionSchema>

export const RunFailureSchema = Type.Object({
  reason: enumOf(
    ['goal', 'provider', 'access', 'budget', 'day_budget', 'time', 'error'],
    'goal: it did not reach its goal; provider: the model provider or the network was down; access: the provider refused ' +
      'the key, has no credit, or does not know the model; budget, day_budget: the budget of the run, or of the day, was used up; ' +
      'time: it took too long; error: anything else'
  ),
  code: text('The code of the error')
}, { $id: 'RunFailure', description: 'Why a run failed. provider, access and day_budget do not count in the health of its task' })
export type RunFailure = Static<typeof RunFailureSchema>

export const TaskRunSchema = Type.Object({
  runId: Type.String(),
  taskId: Type.String(),
  runNumber: Type.Integer({ description: '0: a rehearsal, which has no number' }),
  trigger: RunTriggerSchema,
  status: RunStatusSchema,
  queuedAt: Timestamp,
  startedAt: Type.Integer({
    description: 'The time at which the run began; while it is queued, the time of queueing. Milliseconds since the Unix epoch'
  }),
  completedAt: Type.Optional(Timestamp),
  durationMs: Type.Optional(Type.Integer({ description: 'Milliseconds from start to end' })),
  output: text('The final text; of a run that wrote none, its object as JSON. Of a report that was reviewed and written again, the ' +
    'version that the tool calls contradict less; the first if they contradict both alike'),
  otherOutput: text('The other version of a report that was written again after its review'),
  object: Type.Optional(StructuredAnswer),
  error: text('Why the run did not complete, or waits for its model provider'),
  failure: Type.Optional(ref(RunFailureSchema)),
  retryAt: Type.Optional({
    ...Timestamp,
    description: 'Of a queued run whose model provider is down: the time at which it goes on from its last step'
  }),
  review: Type.Optional(enumOf(
    ['approved', 'rejected', 'superseded', 'expired'],
    'What became of the request to approve the result, of a run of a task that made one: a person approved or rejected it; ' +
      'the result of a newer run took its place; or nobody answered in time. Without an answer the run is completed'
  )),
  stopped: Type.Optional(ref(StoppedSchema)),
  phases: Type.Array(ref(PhaseSchema)),
  toolCalls: Type.Array(ref(TaskToolCallSchema)),
  toolCount: Type.Integer(),
  qualityScore: Type.Optional(Type.Number()),
  evaluation: Type.Optional(ref(TaskEvaluationSchema)),
  verified: Type.Optional(Verified),
  facts: Type.Optional(Facts),
  input: Type.Optional(Type.Unknown({ description: 'The data that the run began with; only in the answer for a single run' })),
  inputBytes: Type.Optional(Type.Integer({ description: 'The size of the input as JSON, bytes' })),
  steering: Type.Array(Type.String(), { description: 'The steering comments that this run got first' }),
  steered: Type.Optional(Type.Array(ref(SteerSchema), { description: 'Messages of the user during the run' })),
  questions: Type.Array(ref(TaskQuestionSchema), { description: 'Open approval requests' }),
  usage: ref(UsageSchema),
  answeredBy: Type.Optional(AnsweredBySchema),
  options: Type.Optional(ref(RunOptionsSchema)),
  attempts: Type.Integer({ description: 'Number of attempts: the first start and each continuation after an interruption' }),
  plannedAt: Type.Optional(
    Type.Integer({ description: 'The planned time that began the run, in milliseconds since the Unix epoch; absent for other runs' })
  ),
  standsFor: Type.Optional(Type.Integer({ description: 'For a catch_up run: the number of planned times that it replaces' })),
  causes: Type.Optional(Type.Array(Type.String(), {
    description: 'For a run that a trigger began: the tasks whose runs led to it, the first cause first'
  }))
}, { $id: 'TaskRun', description: 'One execution of a task' })
export type TaskRun = Static<typeof TaskRunSchema>

export const TaskRunListSchema = Type.Object({
  runs: Type.Array(ref(TaskRunSchema)),
  nextCursor: Type.Optional(Type.String()),
  damaged: Type.Optional(Type.Array(Type.Integer(), { description: 'Numbers of runs that cannot be read' }))
}, {
  $id: 'TaskRunList',
  description: 'A page of runs, newest first'
})
/** The longest input of a run, in bytes of JSON. */
export const MOST_INPUT = 1024 * 1024
export const TaskRunBodySchema = Type.Object({
  input: Type.Optional(Type.Unknown({ description: 'Any JSON value of at most 1 MiB: data for this run, which are no instructions to it' }))
}, {
  ...closed,
  $id: 'TaskRunBody',
  description: 'The input of a run of a task, beside its goal',
  examples: [{ input: { order: 4711, status: 'paid' } }]
})
export type TaskRunBody = Static<typeof TaskRunBodySchema>

export const RunQueuedSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  runId: Type.String(),
  runNumber: Type.Integer()
}, {
  $id: 'RunQueued',
  description: 'The run that was queued'
})
export type RunQueued = Static<typeof RunQueuedSchema>

export const TaskSteerBodySchema = Type.Object({
  comment: Type.String({ ...NOT_BLANK, maxLength: 4_000, description: 'Feedback or instruction for the next run' }),
  runNow: Type.Optional(Type.Boolean({ description: 'Whether to start a run with this comment at once' }))
}, {
  ...closed,
  $id: 'TaskSteerBody',
  description: 'A steering comment for a task',
  examples: [{ comment: 'Add milk to the list.', runNow: true }]
})
export type TaskSteerBody = Static<typeof TaskSteerBodySchema>
export const TaskSteeredSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  comment: Type.String(),
  runTriggered: Type.Boolean()
}, {
  $id: 'TaskSteered',
  description: 'The comment was added; runTriggered says whether a run was started for it'
})
export type TaskSteered = Static<typeof TaskSteeredSchema>

export const TaskApproveBodySchema = Type.Object({
  approved: Type.Boolean({ description: 'true approves, false rejects' }),
  notes: Type.Optional(Type.String({ maxLength: 4_000, description: 'Feedback for future runs' })),
  approvalId: Type.Optional(TaskId),
  ...GRANTED
}, {
  ...closed,
  $id: 'TaskApproveBody',
  description: 'A decision on the named approval request; without approvalId, on the oldest open one',
  examples: [{ approved: true, notes: 'Good, but add milk.' }]
})
export type TaskApproveBody = Static<typeof TaskApproveBodySchema>
export const TaskApprovedSchema = Type.Object({
  ok: Type.Literal(true),
  taskId: Type.String(),
  runId: Type.String(),
  approvalId: Type.String(),
  approved: Type.Boolean(),
  status: RunStatusSchema,
  learned: Type.Optional(ref(LearnedSchema))
}, { $id: 'TaskApproved', description: 'The state of the run after the decision' })
export type TaskApproved = Static<typeof TaskApprovedSchema>

export const RunsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'nextCursor of the previous page' }))
}, closed)
export const RunParams = Type.Object({ id: TaskId, runId: TaskId })
export const ScheduleQuery = Type.Object({
  upcoming: UpcomingQuery,
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'Maximum number of slots' }),
  cursor: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'nextCursor of the previous page' }))
}, closed)
