import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ApprovalListSchema, ApprovalSchema, PageQuery, RunBodySchema, StreamQuery } from '../schemas/agent.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

/** 10 MiB: a conversation carries its history and its pictures. */
const RUN_BODY_LIMIT = 10 * 1024 * 1024

const routes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of [RunBodySchema, ApprovalSchema, ApprovalListSchema]) app.addSchema(schema)

  app.post('/run', {
    bodyLimit: RUN_BODY_LIMIT,
    schema: {
      tags: ['agent'],
      operationId: 'run',
      summary: 'Answers a conversation as a stream of events',
      querystring: StreamQuery,
      body: ref(RunBodySchema),
      response: { 400: ErrorRef, 409: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) => reply.streamRun(await app.agent.run(request.body), request.query.protocol, request.body.messages))

  app.post('/run/approve', {
    bodyLimit: RUN_BODY_LIMIT,
    schema: {
      tags: ['agent'],
      operationId: 'approveRun',
      summary: 'Answers an approval request and continues the run that asked',
      querystring: StreamQuery,
      body: ref(RunBodySchema),
      response: { 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 410: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) => reply.streamRun(await app.agent.approve(request.body), request.query.protocol, request.body.messages))

  app.get('/approvals', {
    schema: {
      tags: ['agent'],
      operationId: 'listApprovals',
      summary: 'The approval requests that wait for an answer, oldest first',
      querystring: PageQuery,
      response: { 200: ref(ApprovalListSchema), 400: ErrorRef }
    }
  }, async (request) => app.agent.approvals(request.query))
}

export default routes
