import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdempotencyHeaders, ref } from '../schemas/common.ts'
import { DigestQuery, DigestSchema, DigestSeenBodySchema, DigestSeenSchema } from '../schemas/digest.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { PreviewScheduleBodySchema, SchedulePreviewSchema, TaskScheduleSchema } from '../schemas/schedule.ts'
import { TaskStreamEventSchema } from '../schemas/task-events.ts'
import {
  MOST_INPUT,
  RunParams,
  RunQueuedSchema,
  RunsQuery,
  ScheduleQuery,
  TaskApproveBodySchema,
  TaskApprovedSchema,
  TaskRunBodySchema,
  TaskRunListSchema,
  TaskRunSchema,
  TaskSteerBodySchema,
  TaskSteeredSchema
} from '../schemas/task-runs.ts'
import { FiringListSchema, FiringsQuery } from '../schemas/triggers.ts'
import {
  TaskBodySchema,
  TaskChangesSchema,
  TaskDeletedSchema,
  TaskListSchema,
  TaskMemoryBodySchema,
  TaskMemorySchema,
  TaskParams,
  TaskQuery,
  TaskSchema
} from '../schemas/tasks.ts'

const tags = ['tasks']
const known = { 400: ErrorRef, 404: ErrorRef }
const movable = { ...known, 409: ErrorRef }
const Events = {
  description:
    'The events of all tasks while the connection lasts: Server-Sent Events whose name is the `type` of their data. Earlier events are ' +
    'not replayed',
  content: { 'text/event-stream': { schema: ref(TaskStreamEventSchema) } }
}

const routes: FastifyPluginAsyncTypebox = async (app) => {
  const { tasks } = app

  app.get('/tasks/events', {
    sse: 'manual',
    schema: { tags, operationId: 'taskEvents', summary: 'Streams the events of all tasks', response: { 200: Events } }
  }, async (_request, reply) => reply.streamTasks())

  app.get('/tasks/digest', {
    schema: {
      tags,
      operationId: 'taskDigest',
      summary: 'Summarises what tasks did since a given time, what they wait for and what is planned next',
      querystring: DigestQuery,
      response: { 200: ref(DigestSchema), 400: ErrorRef }
    }
  }, async (request) => tasks.digest(request.query))

  app.post('/tasks/digest/seen', {
    schema: {
      tags,
      operationId: 'seeTaskDigest',
      summary: 'Stores how far a reader has seen the digest; its next digest begins there',
      body: ref(DigestSeenBodySchema),
      response: { 200: ref(DigestSeenSchema), 400: ErrorRef }
    }
  }, async (request) => tasks.seeDigest(request.body))

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
      summary: 'Creates a task and its plan',
      headers: IdempotencyHeaders,
      body: ref(TaskBodySchema),
      response: { 201: ref(TaskSchema), 400: ErrorRef, 409: ErrorRef, 422: ErrorRef }
    }
  }, async (request, reply) => reply.code(201).send(await tasks.create(request.body, request.headers['idempotency-key'])))

  app.post('/schedules/preview', {
    schema: {
      tags,
      operationId: 'previewSchedule',
      summary: 'Says what a schedule, or a time in words, means, and when it would run',
      body: ref(PreviewScheduleBodySchema),
      response: { 200: ref(SchedulePreviewSchema), 400: ErrorRef }
    }
  }, async (request) => tasks.previewSchedule(request.body))

  app.get('/tasks/:id', {
    schema: {
      tags,
      operationId: 'getTask',
      summary: 'Returns a task',
      params: TaskParams,
      response: { 200: ref(TaskSchema), ...known }
    }
  }, async (request) => tasks.get(request.params.id))

  app.put('/tasks/:id', {
    schema: {
      tags,
      operationId: 'updateTask',
      summary: 'Changes the goal, plan, schedule or other settings of a task',
      params: TaskParams,
      body: ref(TaskChangesSchema),
      response: { 200: ref(TaskSchema), ...movable }
    }
  }, async (request) => tasks.update(request.params.id, request.body))

  app.delete('/tasks/:id', {
    schema: {
      tags,
      operationId: 'deleteTask',
      summary: 'Stops a task and deletes it with its runs',
      params: TaskParams,
      response: { 200: ref(TaskDeletedSchema), ...known }
    }
  }, async (request) => tasks.remove(request.params.id))

  app.get('/tasks/:id/memory', {
    schema: {
      tags,
      operationId: 'getTaskMemory',
      summary: 'Returns what the runs of a task have learned',
      params: TaskParams,
      response: { 200: ref(TaskMemorySchema), ...known }
    }
  }, async (request) => tasks.memory(request.params.id))

  app.put('/tasks/:id/memory', {
    schema: {
      tags,
      operationId: 'replaceTaskMemory',
      summary: 'Changes what later runs of a task are told of earlier ones',
      params: TaskParams,
      body: ref(TaskMemoryBodySchema),
      response: { 200: ref(TaskMemorySchema), ...known }
    }
  }, async (request) => tasks.replaceMemory(request.params.id, request.body))

  app.delete('/tasks/:id/memory', {
    schema: {
      tags,
      operationId: 'clearTaskMemory',
      summary: 'Forgets what the runs of a task have learned',
      params: TaskParams,
      response: { 200: ref(TaskMemorySchema), ...known }
    }
  }, async (request) => tasks.clearMemory(request.params.id))

  const verbs = {
    start: 'Starts a task that is planned or has ended',
    pause: 'Pauses a task and stops its run',
    resume: 'Resumes a paused task',
    cancel: 'Cancels a task and its run'
  } as const
  for (const [verb, summary] of Object.entries(verbs) as Array<[keyof typeof verbs, string]>) {
    app.post(`/tasks/:id/${verb}`, {
      schema: { tags, operationId: `${verb}Task`, summary, params: TaskParams, response: { 200: ref(TaskSchema), ...movable } }
    }, async (request) => tasks[verb]((request.params as { id: string }).id))
  }

  app.post('/tasks/:id/run', {
    config: { optionalBody: true },
    // The longest input, and room for the JSON around it.
    bodyLimit: MOST_INPUT + 1024,
    schema: {
      tags,
      operationId: 'runTask',
      summary: 'Queues a run of a task now, independently of its schedule',
      headers: IdempotencyHeaders,
      params: TaskParams,
      body: ref(TaskRunBodySchema),
      response: { 202: ref(RunQueuedSchema), ...movable, 422: ErrorRef }
    }
  }, async (request, reply) => reply.code(202).send(await tasks.run(request.params.id, request.body, request.headers['idempotency-key'])))

  app.post('/tasks/:id/steer', {
    schema: {
      tags,
      operationId: 'steerTask',
      summary: 'Adds a comment that the next run of a task gets',
      headers: IdempotencyHeaders,
      params: TaskParams,
      body: ref(TaskSteerBodySchema),
      response: { 200: ref(TaskSteeredSchema), ...movable, 422: ErrorRef }
    }
  }, async (request) => tasks.steer(request.params.id, request.body, request.headers['idempotency-key']))

  app.post('/tasks/:id/approve', {
    schema: {
      tags,
      operationId: 'approveTask',
      summary: 'Decides an open question of a run',
      params: TaskParams,
      body: ref(TaskApproveBodySchema),
      response: { 200: ref(TaskApprovedSchema), ...movable, 410: ErrorRef }
    }
  }, async (request) => tasks.approve(request.params.id, request.body))

  app.get('/tasks/:id/runs', {
    schema: {
      tags,
      operationId: 'listTaskRuns',
      summary: 'Lists the runs of a task, newest first',
      params: TaskParams,
      querystring: RunsQuery,
      response: { 200: ref(TaskRunListSchema), ...known }
    }
  }, async (request) => tasks.runs(request.params.id, request.query))

  app.get('/tasks/:id/runs/:runId', {
    schema: {
      tags,
      operationId: 'getTaskRun',
      summary: 'Returns a run with all of its tool calls',
      params: RunParams,
      response: { 200: ref(TaskRunSchema), ...known }
    }
  }, async (request) => tasks.runOf(request.params.id, request.params.runId))

  app.post('/tasks/:id/runs/:runId/cancel', {
    schema: {
      tags,
      operationId: 'cancelTaskRun',
      summary: 'Cancels a run',
      params: RunParams,
      response: { 200: ref(TaskRunSchema), ...movable }
    }
  }, async (request) => tasks.cancelRun(request.params.id, request.params.runId))

  app.get('/tasks/:id/schedule', {
    schema: {
      tags,
      operationId: 'getTaskSchedule',
      summary: "Returns a task's schedule with the next planned times and the outcome of past ones",
      params: TaskParams,
      querystring: ScheduleQuery,
      response: { 200: ref(TaskScheduleSchema), ...known }
    }
  }, async (request) => tasks.schedule(request.params.id, request.query))

  app.get('/tasks/:id/firings', {
    schema: {
      tags,
      operationId: 'listFirings',
      summary: 'Returns the states of the triggers of a task, and their firings with the outcomes, newest first',
      params: TaskParams,
      querystring: FiringsQuery,
      response: { 200: ref(FiringListSchema), ...known }
    }
  }, async (request) => tasks.firings(request.params.id, request.query))
}

export default routes
