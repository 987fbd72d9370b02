import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { DigestQuery, DigestSchema } from '../schemas/digest.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { ScheduleSchema, SlotSchema, TaskScheduleSchema } from '../schemas/schedule.ts'
import { taskEvents, TaskStreamEventSchema } from '../schemas/task-events.ts'
import {
  RunParams,
  RunQueuedSchema,
  RunsQuery,
  ScheduleQuery,
  TaskApproveBodySchema,
  TaskApprovedSchema,
  TaskEvaluationSchema,
  TaskQuestionSchema,
  TaskRunListSchema,
  TaskRunSchema,
  TaskSteerBodySchema,
  TaskSteeredSchema,
  TaskToolCallSchema
} from '../schemas/task-runs.ts'
import {
  IdempotencyHeaders,
  PhaseSchema,
  PlanInputSchema,
  PlanSchema,
  TaskApprovalInputSchema,
  TaskBodySchema,
  TaskChangesSchema,
  TaskDeletedSchema,
  TaskListSchema,
  TaskMemorySchema,
  TaskParams,
  TaskQuery,
  TaskSchema
} from '../schemas/tasks.ts'

const tags = ['tasks']
const known = { 400: ErrorRef, 404: ErrorRef }
const movable = { ...known, 409: ErrorRef }
const SHARED = [
  PhaseSchema,
  PlanSchema,
  PlanInputSchema,
  ScheduleSchema,
  SlotSchema,
  TaskScheduleSchema,
  TaskApprovalInputSchema,
  TaskMemorySchema,
  TaskSchema,
  TaskBodySchema,
  TaskChangesSchema,
  TaskListSchema,
  TaskDeletedSchema,
  TaskEvaluationSchema,
  TaskToolCallSchema,
  TaskQuestionSchema,
  TaskRunSchema,
  TaskRunListSchema,
  RunQueuedSchema,
  TaskSteerBodySchema,
  TaskSteeredSchema,
  TaskApproveBodySchema,
  TaskApprovedSchema,
  DigestSchema,
  ...taskEvents,
  TaskStreamEventSchema
]

const Events = {
  description:
    'What happens to all tasks from now on, for as long as the connection lasts: Server-Sent Events whose name is the `type` of their data. Nothing is replayed',
  content: { 'text/event-stream': { schema: ref(TaskStreamEventSchema) } }
}

const routes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of SHARED) app.addSchema(schema)
  const { tasks } = app

  app.get('/tasks/events', {
    sse: 'manual',
    schema: { tags, operationId: 'taskEvents', summary: 'Streams what happens to all tasks', response: { 200: Events } }
  }, async (_request, reply) => reply.streamTasks())

  app.get('/tasks/digest', {
    schema: {
      tags,
      operationId: 'taskDigest',
      summary: 'While you were away: what tasks did, what they wait for, and what comes next',
      querystring: DigestQuery,
      response: { 200: ref(DigestSchema), 400: ErrorRef }
    }
  }, async (request) => tasks.digest(request.query))

  app.get('/tasks', {
    schema: {
      tags,
      operationId: 'listTasks',
      summary: 'Lists tasks, newest first',
      querystring: TaskQuery,
      response: { 200: ref(TaskListSchema), 400: ErrorRef }
    }
  }, async (request) => tasks.list(request.query))

  app.post('/tasks', {
    schema: {
      tags,
      operationId: 'createTask',
      summary: 'Plans and keeps a task',
      headers: IdempotencyHeaders,
      body: ref(TaskBodySchema),
      response: { 201: ref(TaskSchema), 400: ErrorRef, 409: ErrorRef }
    }
  }, async (request, reply) => reply.code(201).send(await tasks.create(request.body, request.headers['idempotency-key'])))

  app.get('/tasks/:id', {
    schema: {
      tags,
      operationId: 'getTask',
      summary: 'The whole state of a task',
      params: TaskParams,
      response: { 200: ref(TaskSchema), ...known }
    }
  }, async (request) => tasks.get(request.params.id))

  app.put('/tasks/:id', {
    schema: {
      tags,
      operationId: 'updateTask',
      summary: 'Changes what a task is',
      params: TaskParams,
      body: ref(TaskChangesSchema),
      response: { 200: ref(TaskSchema), ...movable }
    }
  }, async (request) => tasks.update(request.params.id, request.body))

  app.delete('/tasks/:id', {
    schema: {
      tags,
      operationId: 'deleteTask',
      summary: 'Stops a task and removes it with its runs',
      params: TaskParams,
      response: { 200: ref(TaskDeletedSchema), ...known }
    }
  }, async (request) => tasks.remove(request.params.id))

  const verbs = {
    start: 'Starts a planned task, or one that is over',
    pause: 'Pauses a task; what it does is cut short',
    resume: 'Lets a paused task go on',
    cancel: 'Ends a task and its run'
  } as const
  for (const [verb, summary] of Object.entries(verbs) as Array<[keyof typeof verbs, string]>) {
    app.post(`/tasks/:id/${verb}`, {
      schema: { tags, operationId: `${verb}Task`, summary, params: TaskParams, response: { 200: ref(TaskSchema), ...movable } }
    }, async (request) => tasks[verb]((request.params as { id: string }).id))
  }

  app.post('/tasks/:id/run', {
    schema: {
      tags,
      operationId: 'runTask',
      summary: 'Runs a task at once, whatever its schedule says',
      headers: IdempotencyHeaders,
      params: TaskParams,
      response: { 202: ref(RunQueuedSchema), ...movable }
    }
  }, async (request, reply) => reply.code(202).send(await tasks.run(request.params.id, request.headers['idempotency-key'])))

  app.post('/tasks/:id/steer', {
    schema: {
      tags,
      operationId: 'steerTask',
      summary: 'Tells a task something for its next run',
      headers: IdempotencyHeaders,
      params: TaskParams,
      body: ref(TaskSteerBodySchema),
      response: { 200: ref(TaskSteeredSchema), ...movable }
    }
  }, async (request) => tasks.steer(request.params.id, request.body, request.headers['idempotency-key']))

  app.post('/tasks/:id/approve', {
    schema: {
      tags,
      operationId: 'approveTask',
      summary: 'Answers what a run asks',
      params: TaskParams,
      body: ref(TaskApproveBodySchema),
      response: { 200: ref(TaskApprovedSchema), ...movable }
    }
  }, async (request) => tasks.approve(request.params.id, request.body))

  app.get('/tasks/:id/runs', {
    schema: {
      tags,
      operationId: 'listTaskRuns',
      summary: 'The runs of a task, newest first',
      params: TaskParams,
      querystring: RunsQuery,
      response: { 200: ref(TaskRunListSchema), ...known }
    }
  }, async (request) => tasks.runs(request.params.id, request.query))

  app.get('/tasks/:id/runs/:runId', {
    schema: {
      tags,
      operationId: 'getTaskRun',
      summary: 'A run with all that its tools did',
      params: RunParams,
      response: { 200: ref(TaskRunSchema), ...known }
    }
  }, async (request) => tasks.runOf(request.params.id, request.params.runId))

  app.post('/tasks/:id/runs/:runId/cancel', {
    schema: {
      tags,
      operationId: 'cancelTaskRun',
      summary: 'Ends a run',
      params: RunParams,
      response: { 200: ref(TaskRunSchema), ...movable }
    }
  }, async (request) => tasks.cancelRun(request.params.id, request.params.runId))

  app.get('/tasks/:id/schedule', {
    schema: {
      tags,
      operationId: 'getTaskSchedule',
      summary: 'What is ahead of a schedule, and what became of its past',
      params: TaskParams,
      querystring: ScheduleQuery,
      response: { 200: ref(TaskScheduleSchema), ...known }
    }
  }, async (request) => tasks.schedule(request.params.id, request.query))
}

export default routes
