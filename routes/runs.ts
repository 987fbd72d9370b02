import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { AnyRunParams, RunListQuerySchema, RunListSchema, RunSchema, WaitQuery } from '../schemas/runs.ts'

const tags = ['runs']
const Lines = Type.Unsafe<unknown>({ type: 'string', format: 'binary' })

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/runs', {
    schema: {
      tags,
      operationId: 'listRuns',
      summary: 'Lists the runs of conversations and of tasks, newest first',
      querystring: RunListQuerySchema,
      response: { 200: ref(RunListSchema), 400: ErrorRef }
    }
  }, async (request) => app.runs.list(request.query))

  app.get('/runs/:runId', {
    schema: {
      tags,
      operationId: 'getRun',
      summary: 'Returns a run, of a conversation or a task; with waitMs at its end, or when it waits for a person or the application',
      params: AnyRunParams,
      querystring: WaitQuery,
      response: { 200: ref(RunSchema), 400: ErrorRef, 404: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) => app.runs.get(request.params.runId, request.query, reply.closed))

  app.post('/runs/:runId/recording', {
    schema: {
      tags,
      operationId: 'recordRun',
      summary: 'Returns the recording of a run that is over: a file with which the run can be replayed, without secrets',
      params: AnyRunParams,
      response: {
        200: { description: 'JSON lines, the first one a header', content: { 'application/x-ndjson': { schema: Lines } } },
        400: ErrorRef,
        404: ErrorRef,
        409: ErrorRef,
        410: ErrorRef,
        413: ErrorRef
      }
    }
  }, async (request, reply) => {
    const { runId } = request.params
    const lines = await app.recordings.record(runId, reply.closed)
    reply.header('cache-control', 'no-store').header('content-disposition', `attachment; filename="run-${runId}.jsonl"`)
    return reply.type('application/x-ndjson').send(lines)
  })
}

export default routes
