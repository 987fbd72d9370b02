import { Type, type Static, type TProperties } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import * as examples from './examples/tasks.ts'
import { ScheduleSchema } from './schedule.ts'

const oneOf = <T extends string>(...values: T[]) => Type.Union(values.map((value) => Type.Literal(value)))
const closed = { additionalProperties: false }

export const TaskId = Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'A UUID' })

export const TaskStatusSchema = oneOf('planned', 'scheduled', 'running', 'pending_approval', 'paused', 'completed', 'failed', 'cancelled')
export type TaskStatus = Static<typeof TaskStatusSchema>

export const TaskTypeSchema = oneOf('one_shot', 'recurring', 'triggered')
export type TaskType = Static<typeof TaskTypeSchema>

export const RunStatusSchema = oneOf('queued', 'running', 'pending_approval', 'completed', 'rejected', 'failed', 'cancelled', 'interrupted')
export type RunStatus = Static<typeof RunStatusSchema>

export const RunTriggerSchema = oneOf('start', 'schedule', 'catch_up', 'manual', 'steer')
export type RunTrigger = Static<typeof RunTriggerSchema>

const PhaseStatus = oneOf('pending', 'running', 'completed', 'failed', 'skipped')
export const PhaseSchema = Type.Object({
  id: Type.String(),
  description: Type.String(),
  status: PhaseStatus
}, { $id: 'Phase', description: 'A part of a plan, and how far it is', examples: [examples.phase] })
export type Phase = Static<typeof PhaseSchema>

const Goal = Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S', description: 'What the task is to achieve' })
const Criteria = Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 20 })

export const PlanSchema = Type.Object({
  phases: Type.Array(ref(PhaseSchema)),
  qualityCriteria: Type.Array(Type.String()),
  source: Type.Unsafe<'model' | 'user' | 'fallback'>({
    ...oneOf('model', 'user', 'fallback'),
    description: 'Who made it; fallback: the goal as one phase, since no model could'
  })
}, { $id: 'Plan', description: 'How the task is to be done', examples: [examples.plan] })
export type Plan = Static<typeof PlanSchema>

export const PlanInputSchema = Type.Object({
  phases: Type.Array(Type.Object({ description: Type.String({ minLength: 1, maxLength: 1_000 }) }, closed), { minItems: 1, maxItems: 20 }),
  qualityCriteria: Type.Optional(Criteria)
}, { ...closed, $id: 'PlanInput', description: "A plan of your own instead of the model's", examples: [examples.planInput] })
export type PlanInput = Static<typeof PlanInputSchema>

const ApprovalMode = oneOf('always', 'first_n', 'never')
export const TaskApprovalInputSchema = Type.Object({
  mode: ApprovalMode,
  firstN: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: 'With mode first_n: how many runs a person approves first; 3 unless said' })
  )
}, {
  ...closed,
  $id: 'TaskApprovalInput',
  description: 'Who looks at the runs. always: every run; first_n: until N runs were approved, then only tools those did not use; ' +
    'never: nobody, and tools that ask elsewhere run unasked',
  examples: [examples.approvalInput]
})
export type TaskApprovalInput = Static<typeof TaskApprovalInputSchema>

const Budget = Type.Object({
  maxTokensPerRun: Type.Optional(Type.Integer({ minimum: 1 })),
  maxMinutesPerRun: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 24 * 60,
      description: 'Working time, not counting time a person is waited for; 30 unless said'
    })
  )
}, { ...closed, description: 'A run that meets it has failed' })

const Texts = Type.Array(Type.String())
export const TaskMemorySchema = Type.Object({
  findings: Texts,
  sources: Texts,
  filesCreated: Texts,
  decisions: Texts,
  feedback: Type.Array(Type.Object({ runId: Type.String(), approved: Type.Boolean(), notes: Type.String(), at: Timestamp }))
}, { $id: 'TaskMemory', description: 'What runs learned; the newest 100 of each', examples: [examples.memory] })
export type TaskMemory = Static<typeof TaskMemorySchema>

const QuestionKind = oneOf('tool', 'result')

export const TaskSchema = Type.Object({
  id: Type.String(),
  goal: Type.String(),
  taskType: TaskTypeSchema,
  status: TaskStatusSchema,
  cwd: Type.String({ description: 'Folder its runs work in' }),
  plan: ref(PlanSchema),
  schedule: Type.Optional(ref(ScheduleSchema)),
  approval: Type.Object({
    mode: ApprovalMode,
    firstN: Type.Integer(),
    approvedRuns: Type.Integer({ description: 'Runs whose result was approved since goal or plan last changed' })
  }),
  budget: Type.Optional(Budget),
  memory: ref(TaskMemorySchema),
  approvalHistory: Type.Array(Type.Object({
    approvalId: Type.String(),
    runId: Type.String(),
    runNumber: Type.Integer(),
    kind: QuestionKind,
    tool: Type.Optional(Type.String()),
    approved: Type.Boolean(),
    notes: Type.Optional(Type.String()),
    expired: Type.Optional(Type.Boolean({ description: 'Nobody answered in time' })),
    at: Timestamp
  })),
  steeringHistory: Type.Array(Type.Object({
    id: Type.String(),
    comment: Type.String(),
    createdAt: Timestamp,
    runId: Type.Optional(Type.String({ description: 'The run that heard it first' }))
  })),
  totalRuns: Type.Integer(),
  successfulRuns: Type.Integer(),
  lastRunAt: Type.Optional(Timestamp),
  nextRunAt: Type.Optional(Timestamp),
  pausedReason: Type.Optional(Type.String({ description: 'user, failures or interrupted' })),
  createdAt: Timestamp,
  updatedAt: Timestamp
}, { $id: 'Task', description: 'A background task', examples: [examples.task] })
export type Task = Static<typeof TaskSchema>

const given = {
  approval: ref(TaskApprovalInputSchema),
  schedule: ref(ScheduleSchema),
  cwd: Type.String({ minLength: 1, description: 'Folder its runs work in; the workspace unless said' }),
  budget: Budget,
  plan: ref(PlanInputSchema)
}
const optional = <P extends TProperties>(properties: P) => Type.Partial(Type.Object(properties)).properties

export const TaskBodySchema = Type.Object({
  goal: Goal,
  taskType: Type.Optional(
    Type.Unsafe<TaskType>({
      ...TaskTypeSchema,
      description: 'one_shot unless said; recurring needs a schedule; triggered runs only by /run and steer'
    })
  ),
  ...optional(given)
}, { ...closed, $id: 'TaskBody', description: 'A task to make', examples: [examples.taskBody] })
export type TaskBody = Static<typeof TaskBodySchema>

export const TaskChangesSchema = Type.Partial(Type.Object({ goal: Goal, ...given }), {
  ...closed,
  minProperties: 1,
  $id: 'TaskChanges',
  description: 'What to change. A new goal or plan begins the count of approved runs anew; a plan can be given while the task is planned',
  examples: [examples.taskChanges]
})
export type TaskChanges = Static<typeof TaskChangesSchema>

export const TaskListSchema = Type.Object({
  tasks: Type.Array(ref(TaskSchema)),
  nextCursor: Type.Optional(Type.String()),
  damaged: Type.Optional(
    Type.Array(Type.String(), { description: 'Ids of tasks that cannot be read any more and do not run; DELETE removes them' })
  )
}, {
  $id: 'TaskList',
  description: 'A page of tasks, newest first; with nextCursor there are more',
  examples: [examples.taskList]
})
export const TaskDeletedSchema = Type.Object({ ok: Type.Literal(true), taskId: Type.String() }, {
  $id: 'TaskDeleted',
  description: 'The task is gone, with its runs',
  examples: [examples.taskDeleted]
})

export const TaskQuery = Type.Object({
  status: Type.Optional(TaskStatusSchema),
  type: Type.Optional(TaskTypeSchema),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(TaskId)
}, closed)
export const TaskParams = Type.Object({ id: TaskId })
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'A repeat with the same key gets the first answer' })
  )
})
