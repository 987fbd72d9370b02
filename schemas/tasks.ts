import { Type, type Static, type TProperties } from '@sinclair/typebox'
import { oneOf, ref, Timestamp } from './common.ts'
import { DecidingDeviceSchema } from './deciding-device.ts'
import { NOT_BLANK, TaskId } from './ids.ts'
import { LONGEST_RUN, RunOptionsSchema } from './run-options.ts'
import { ScheduleSchema } from './schedule.ts'
import { Triggers, TriggerSchema } from './triggers.ts'

const closed = { additionalProperties: false }

export const TaskStatusSchema = oneOf(['planned', 'scheduled', 'running', 'pending_approval', 'paused', 'completed', 'failed', 'cancelled'])
export type TaskStatus = Static<typeof TaskStatusSchema>

export const TaskTypeSchema = oneOf(['one_shot', 'recurring', 'triggered'])
export type TaskType = Static<typeof TaskTypeSchema>

export const RunStatusSchema = oneOf([
  'queued', 'running', 'pending_approval', 'completed', 'rejected', 'failed', 'stopped', 'cancelled', 'interrupted'
])
export type RunStatus = Static<typeof RunStatusSchema>

export const RunTriggerSchema = oneOf(['start', 'schedule', 'catch_up', 'manual', 'steer', 'files', 'task', 'rehearsal'])
export type RunTrigger = Static<typeof RunTriggerSchema>

const PhaseStatus = oneOf(['pending', 'running', 'completed', 'failed', 'skipped'])
export const PhaseSchema = Type.Object({
  id: Type.String(),
  description: Type.String(),
  status: PhaseStatus
}, { $id: 'Phase', description: 'A part of a plan and its status' })
export type Phase = Static<typeof PhaseSchema>

const Goal = Type.String({ ...NOT_BLANK, maxLength: 20_000, description: 'The result that the task must achieve' })
const Name = Type.String({ maxLength: 80, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$', description: 'A short name; empty: made of the goal' })
const Criteria = Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 20 })

export const EXPECTS = ['none', 'files', 'message', 'command'] as const
export const ExpectsSchema = Type.Unsafe<typeof EXPECTS[number]>({
  ...oneOf(EXPECTS),
  description: 'The effect that a run is to leave: files written, moved or deleted, a message to somebody, a command that ran, or none. ' +
    'A run that says it is done and left no such effect is marked `verified: false`. Absent: not known'
})
export type Expects = Static<typeof ExpectsSchema>

export const PlanSchema = Type.Object({
  phases: Type.Array(ref(PhaseSchema)),
  qualityCriteria: Type.Array(Type.String()),
  expects: Type.Optional(ExpectsSchema),
  source: Type.Unsafe<'model' | 'user' | 'fallback'>({
    ...oneOf(['model', 'user', 'fallback']),
    description: 'The author of the plan; fallback: no model was available, so the goal is the only phase'
  })
}, { $id: 'Plan', description: 'The phases of a task and the quality criteria of its result' })
export type Plan = Static<typeof PlanSchema>

export const PlanInputSchema = Type.Object({
  phases: Type.Array(Type.Object({ description: Type.String({ minLength: 1, maxLength: 1_000 }) }, closed), { minItems: 1, maxItems: 20 }),
  qualityCriteria: Type.Optional(Criteria),
  expects: Type.Optional(ExpectsSchema)
}, {
  ...closed,
  $id: 'PlanInput',
  description: 'A plan that the client gives, instead of one that a model makes'
})
export type PlanInput = Static<typeof PlanInputSchema>

const ApprovalMode = oneOf(['changes', 'always', 'first_n', 'granted', 'never'])
const TaskApprovalInputSchema = Type.Object({
  mode: ApprovalMode,
  firstN: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: 'With modes changes and first_n: the number of runs to approve; by default 3' })
  )
}, {
  ...closed,
  $id: 'TaskApprovalInput',
  description: 'Which runs need approval. changes, the default: the calls that change something and the results of runs that changed ' +
    'something, until N such runs were approved, then only calls that those runs did not make; first_n: the same, but the results of all ' +
    'runs until N were approved; always: every run; granted, the default with `interactive: false`: calls with a grant run, all others ' +
    'that need approval are denied, and results need none; never: none, and tools that otherwise need approval run without it'
})

/** The budget in the form of earlier versions. New clients send `options.budget`. */
const TaskBudgetSchema = Type.Object({
  maxTokensPerRun: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'options.budget.tokens' })),
  maxMinutesPerRun: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: LONGEST_RUN, description: 'options.budget.minutes' }))
}, { ...closed, description: 'Earlier names of two limits of `options.budget`, which takes their place' })
export type TaskBudget = Static<typeof TaskBudgetSchema>

const Texts = Type.Array(Type.String())
const ReplacedEntry = Type.Object({
  entry: Type.String(),
  kind: oneOf(['findings', 'decisions'], 'Its list'),
  by: Type.String({ description: 'The entry that took its place' })
})
const DoubtedEntry = Type.Object({ entry: Type.String(), kind: oneOf(['findings', 'decisions'], 'Its list') })
export const TaskMemorySchema = Type.Object({
  findings: Texts,
  sources: Texts,
  filesCreated: Texts,
  decisions: Texts,
  feedback: Type.Array(Type.Object({ runId: Type.String(), approved: Type.Boolean(), notes: Type.String(), at: Timestamp })),
  confirmed: Type.Optional(Type.Array(Type.String(), { description: 'Findings and decisions that a person gave: no run replaces them' })),
  replaced: Type.Optional(Type.Array(ReplacedEntry, {
    description: 'Findings and decisions that a report replaced; PUT /tasks/{id}/memory with the entry in its list restores it'
  })),
  doubted: Type.Optional(Type.Array(DoubtedEntry, {
    description: 'Findings and decisions that may hold no more, as a report has it; they stand until a person takes them out of their list'
  }))
}, {
  $id: 'TaskMemory',
  description: 'What the runs of a task have learned; the newest 100 entries of each list'
})
export type TaskMemory = Static<typeof TaskMemorySchema>

/** Limits of a task's memory: entries per list, and characters per entry. */
export const MEMORY_LIMITS = { entries: 100, characters: 1_000 } as const
const Entries = Type.Array(Type.String({ ...NOT_BLANK, maxLength: MEMORY_LIMITS.characters }), { maxItems: MEMORY_LIMITS.entries })
export const TaskMemoryBodySchema = Type.Partial(
  Type.Object({ findings: Entries, sources: Entries, filesCreated: Entries, decisions: Entries }),
  {
    ...closed,
    minProperties: 1,
    $id: 'TaskMemoryBody',
    description: 'The lists to replace; lists that are left out stay. A repeated entry is kept once',
    examples: [{ decisions: ['Write prices in euros.'] }]
  }
)
export type TaskMemoryBody = Static<typeof TaskMemoryBodySchema>

export const TaskHealthSchema = Type.Object({
  state: oneOf(['ok', 'failing']),
  failures: Type.Integer({ description: 'Runs that failed in a row; failing from five on, until a run completes' }),
  since: Type.Optional({ ...Timestamp, description: 'Since when it is failing' }),
  nextTryAt: Type.Optional({ ...Timestamp, description: 'While it is failing: planned times before this one are skipped' })
}, { $id: 'TaskHealth', description: 'Whether the runs of a task succeed' })
export type TaskHealth = Static<typeof TaskHealthSchema>

const QuestionKind = oneOf(['tool', 'result', 'question'])
const WaitingKind = oneOf(['tool', 'result', 'question', 'app'])

export const TaskSchema = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'A short name: the one that was given, else one of at most 60 characters that is made of the goal' }),
  goal: Type.String(),
  request: Type.Optional(Type.String({ description: 'The message of the user from which a model made the goal; runs get both' })),
  taskType: TaskTypeSchema,
  status: TaskStatusSchema,
  cwd: Type.String({ description: 'Working directory of the runs' }),
  plan: ref(PlanSchema),
  schedule: Type.Optional(ref(ScheduleSchema)),
  scheduleWords: Type.Optional(Type.String({ description: 'The schedule in words, as it was understood' })),
  triggers: Type.Optional(Type.Array(ref(TriggerSchema), { description: 'Causes of runs beside its times' })),
  approval: Type.Object({
    mode: ApprovalMode,
    firstN: Type.Integer(),
    approvedRuns: Type.Integer({ description: 'Number of runs whose result was approved since the last change of goal or plan' })
  }),
  options: Type.Optional(ref(RunOptionsSchema)),
  budget: Type.Optional(TaskBudgetSchema),
  memory: ref(TaskMemorySchema),
  approvalHistory: Type.Array(Type.Object({
    approvalId: Type.String(),
    runId: Type.String(),
    runNumber: Type.Integer(),
    kind: QuestionKind,
    toolName: Type.Optional(Type.String()),
    approved: Type.Boolean(),
    notes: Type.Optional(Type.String()),
    device: Type.Optional({ ...DecidingDeviceSchema, description: 'The paired device that decided' }),
    expired: Type.Optional(Type.Boolean({
      description: 'Whether the request expired without a decision. The run was rejected, but ' +
      'completed when its result was all that waited'
    })),
    at: Timestamp
  })),
  steeringHistory: Type.Array(Type.Object({
    id: Type.String(),
    comment: Type.String(),
    createdAt: Timestamp,
    runId: Type.Optional(Type.String({ description: 'The first run that got the comment' }))
  })),
  totalRuns: Type.Integer(),
  successfulRuns: Type.Integer(),
  endsAt: Type.Optional({ ...Timestamp, description: 'The time at which it ends, whatever it does then' }),
  lastRunAt: Type.Optional(Timestamp),
  lastRunStatus: Type.Optional({ ...RunStatusSchema, description: 'How the run at lastRunAt ended' }),
  nextRunAt: Type.Optional(Timestamp),
  missedAt: Type.Optional(Type.Integer({
    description: 'For a one_shot with a single time that passed too long ago to be made up for: that time. POST /tasks/{id}/run runs it ' +
      'now, POST /tasks/{id}/cancel drops it'
  })),
  retryAt: Type.Optional({
    ...Timestamp,
    description: 'While a run of the task waits for its model provider: the time at which it goes on; POST /tasks/:id/run lets it go on now'
  }),
  waitingFor: Type.Optional(Type.Array(
    Type.Object({ kind: WaitingKind, id: Type.String({ description: 'The approvalId, or the toolCallId of a call of the application' }) }),
    {
      description: 'What waits for a person; kind app waits for the application. The result of a run waits while the task goes on; with ' +
      'the status pending_approval the task goes on after the answer'
    }
  )),
  health: ref(TaskHealthSchema),
  threadId: Type.Optional(Type.String({ description: 'The conversation that made it' })),
  pausedReason: Type.Optional(Type.String({
    description: 'Why the task is paused: user, or imported: it came with a backup and runs without asking'
  })),
  createdAt: Timestamp,
  updatedAt: Timestamp
}, { $id: 'Task', description: 'A background task' })
export type Task = Static<typeof TaskSchema>

const given = {
  name: Name,
  approval: ref(TaskApprovalInputSchema),
  schedule: ref(ScheduleSchema),
  triggers: Triggers,
  cwd: Type.String({ minLength: 1, description: 'Working directory of the runs; by default the workspace' }),
  endsAt: Type.Integer({
    minimum: 0,
    maximum: 8_640_000_000_000_000,
    description: 'The time at which it ends, whatever it does then: a run that works or waits is stopped, and says what was done. ' +
      'Until then the machine is kept awake for its run. Milliseconds since the Unix epoch; 0 for none'
  }),
  options: ref(RunOptionsSchema),
  budget: TaskBudgetSchema,
  plan: ref(PlanInputSchema)
}
const optional = <P extends TProperties>(properties: P) => Type.Partial(Type.Object(properties)).properties

export const TaskBodySchema = Type.Object({
  goal: Goal,
  taskType: Type.Optional(
    Type.Unsafe<TaskType>({
      ...TaskTypeSchema,
      description: 'By default recurring with `schedule.interval`, triggered with `triggers` alone, else one_shot, which may have ' +
        '`schedule.once` or `schedule.in`. triggered runs only through its triggers, /run and steer'
    })
  ),
  start: Type.Optional(Type.Boolean({ description: 'Also starts it, as POST /tasks/{id}/start does' })),
  ...optional(given)
}, {
  ...closed,
  $id: 'TaskBody',
  description: 'A new task',
  examples: [
    {
      goal: 'system info',
      taskType: 'recurring',
      schedule: { interval: 'weekly', at: '09:00', timezone: 'Europe/Berlin' },
      approval: { mode: 'first_n', firstN: 2 }
    }
  ]
})
export type TaskBody = Static<typeof TaskBodySchema>

export const TaskChangesSchema = Type.Partial(Type.Object({ goal: Goal, ...given }), {
  ...closed,
  minProperties: 1,
  $id: 'TaskChanges',
  description: 'The changed fields. A new goal or plan resets the count of approved runs; a plan can be given only while the task is ' +
    'planned. `options` take the place of all options before, from the next run on',
  examples: [{ goal: 'system info' }]
})
export type TaskChanges = Static<typeof TaskChangesSchema>

export const TaskListSchema = Type.Object({
  tasks: Type.Array(ref(TaskSchema)),
  nextCursor: Type.Optional(Type.String()),
  damaged: Type.Optional(
    Type.Array(Type.String(), { description: 'Ids of tasks that cannot be read and do not run; DELETE removes them' })
  )
}, {
  $id: 'TaskList',
  description: 'A page of tasks, newest first; nextCursor is present when there are more'
})
export type TaskList = Static<typeof TaskListSchema>
export const TaskDeletedSchema = Type.Object({ ok: Type.Literal(true), taskId: Type.String() }, {
  $id: 'TaskDeleted',
  description: 'The task was deleted with its runs'
})

export const TaskQuery = Type.Object({
  status: Type.Optional(TaskStatusSchema),
  type: Type.Optional(TaskTypeSchema),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(TaskId)
}, closed)
export const TaskParams = Type.Object({ id: TaskId })
