import { Type, type Static } from '@sinclair/typebox'
import { ref } from './common.ts'
import { TaskId, ThreadId } from './ids.ts'
import { TaskRunSchema } from './task-runs.ts'
import { PhaseSchema, RunStatusSchema, RunTriggerSchema } from './tasks.ts'

const closed = { additionalProperties: false }

export const RunSchema = Type.Object({
  ...TaskRunSchema.properties,
  threadId: Type.Optional(Type.String({ description: 'The conversation of the run; absent for a run of a task' })),
  taskId: Type.Optional(Type.String({ description: 'The task of the run; absent for a run of a conversation' })),
  runNumber: Type.Optional(Type.Integer({ description: 'Runs of tasks only' })),
  trigger: Type.Union([RunTriggerSchema, Type.Literal('message')], { description: 'message: a request of a conversation' }),
  phases: Type.Optional(Type.Array(ref(PhaseSchema), { description: 'Runs of tasks only' }))
}, { $id: 'Run', description: 'One run, of a conversation or a task' })
export type Run = Static<typeof RunSchema>

export const RunListSchema = Type.Object({
  runs: Type.Array(ref(RunSchema)),
  nextCursor: Type.Optional(Type.String())
}, {
  $id: 'RunList',
  description: 'A page of runs, newest first. Inputs and outputs of their calls are shortened; nextCursor is present when there are more'
})

export const RunListQuerySchema = Type.Object({
  threadId: Type.Optional({ ...ThreadId, description: `${ThreadId.description}: only the runs of this conversation` }),
  taskId: Type.Optional({ ...TaskId, description: 'A UUID: only the runs of this task; not together with threadId' }),
  status: Type.Optional(RunStatusSchema),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional({ ...TaskId, description: 'nextCursor of the previous page' })
}, closed)
export type RunListQuery = Static<typeof RunListQuerySchema>

export const AnyRunParams = Type.Object({ runId: TaskId })
export const WaitQuery = Type.Object({
  waitMs: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 0,
    description: 'How long the answer may wait for the end of the run, or until a person or the application is asked; milliseconds'
  })
}, closed)
