import { Type, type FastifyPluginAsyncTypebox, type Static } from '@fastify/type-provider-typebox'
import {
  ApproveBodySchema,
  LiveRunSchema,
  SteeredRunSchema,
  RunBodySchema,
  RunOrThreadParams,
  RunResultSchema,
  SteerBodySchema,
  StopQuery,
  StreamQuery
} from '../schemas/agent.ts'
import { IdempotencyHeaders, ResumeHeaders, NoContent, ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { RunStreamEventSchema } from '../schemas/run-stream-events.ts'

/** 32 MiB, because the body can hold the history of a conversation with its files. */
const RUN_BODY_LIMIT = 32 * 1024 * 1024

/** The schema of streaming responses. The stream is written without a serializer. */
const Stream = {
  description: 'The events of the run while it executes: Server-Sent Events with one `data:` line of JSON each, and an ' +
    '`id:`; the last is `finish`. This is the format of `?protocol=documented`; ' +
    "`ui` and `ui5` give the AI SDK's UI message stream, which ends with `data: [DONE]`",
  headers: {
    'x-thread-id': Type.String({ description: 'Id of the conversation, percent-encoded; send it as `id` in the next request' }),
    'x-run-id': Type.String()
  },
  content: { 'text/event-stream': { schema: ref(RunStreamEventSchema) } }
}

const keyIn = ({ 'idempotency-key': key }: Static<typeof IdempotencyHeaders>) => key === undefined ? undefined : { key }

const routes: FastifyPluginAsyncTypebox = async (app) => {
  /** Starts the connection to the model while the body of the request is still being read. */
  const onRequest = async () => void app.providers.connect()

  app.post('/run', {
    onRequest,
    bodyLimit: RUN_BODY_LIMIT,
    schema: {
      tags: ['agent'],
      operationId: 'run',
      summary: 'Answers a conversation with a stream of events',
      headers: IdempotencyHeaders,
      querystring: StreamQuery,
      body: ref(RunBodySchema),
      response: { 200: Stream, 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 410: ErrorRef, 422: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) =>
    reply.streamRun(await app.agent.run(request.body, request.query.protocol, keyIn(request.headers))))

  app.post('/run/approve', {
    onRequest,
    bodyLimit: RUN_BODY_LIMIT,
    schema: {
      tags: ['agent'],
      operationId: 'approveRun',
      summary: 'Decides approval requests and continues the run that waits for them',
      querystring: StreamQuery,
      body: ref(ApproveBodySchema),
      response: { 200: Stream, 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 410: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) => reply.streamRun(await app.agent.approve(request.body, request.query.protocol)))

  app.post('/run/sync', {
    onRequest,
    bodyLimit: RUN_BODY_LIMIT,
    config: { answersLate: true },
    schema: {
      tags: ['agent'],
      operationId: 'runSync',
      summary: 'Answers a conversation with one object',
      headers: IdempotencyHeaders,
      body: ref(RunBodySchema),
      response: {
        200: ref(RunResultSchema),
        400: ErrorRef,
        402: ErrorRef,
        404: ErrorRef,
        409: ErrorRef,
        410: ErrorRef,
        422: ErrorRef,
        429: ErrorRef,
        502: ErrorRef,
        504: ErrorRef
      }
    }
  }, async (request, reply) => app.agent.sync(request.body, reply.closed, request.headers['idempotency-key']))

  app.get('/run/:id/stream', {
    schema: {
      tags: ['agent'],
      operationId: 'followRun',
      summary: 'Streams the active run of a conversation, from its first event or behind the last one read; 204 when no run is active',
      params: RunOrThreadParams,
      headers: ResumeHeaders,
      querystring: StreamQuery,
      response: { 200: Stream, 204: NoContent, 400: ErrorRef }
    }
  }, async (request, reply) => {
    const run = await app.agent.subscribe(request.params.id, request.query.protocol, request.headers['last-event-id'])
    return run === undefined ? reply.code(204).send(null) : reply.streamRun(run)
  })

  app.post('/run/:id/stop', {
    schema: {
      tags: ['agent'],
      operationId: 'stopRun',
      summary: 'Stops the run of a conversation, or ends the one that waits and withdraws what it waits for',
      params: RunOrThreadParams,
      querystring: StopQuery,
      response: { 200: ref(LiveRunSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.agent.stop(request.params.id, { keepsWaiting: request.query.waiting === 'keep' }))

  app.post('/run/:id/steer', {
    schema: {
      tags: ['agent'],
      operationId: 'steerRun',
      summary: 'Sends a message to an active run, of a conversation or a task; the model gets it at the next step',
      params: RunOrThreadParams,
      body: ref(SteerBodySchema),
      response: { 200: ref(SteeredRunSchema), 400: ErrorRef, 404: ErrorRef, 429: ErrorRef }
    }
  }, async (request) => app.agent.steer(request.params.id, request.body))
}

export default routes
