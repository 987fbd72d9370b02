import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import {
  AnsweredToolCallSchema,
  ToolCallAnswerSchema,
  ToolCallListSchema,
  ToolCallParams,
  ToolCallQuerySchema
} from '../schemas/tool-calls.ts'

const tags = ['tool calls']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/tool-calls', {
    schema: {
      tags,
      operationId: 'listToolCalls',
      summary: 'Lists the open calls that applications execute, oldest first',
      querystring: ToolCallQuerySchema,
      response: { 200: ref(ToolCallListSchema), 400: ErrorRef }
    }
  }, async (request) => app.toolCalls.list(request.query))

  app.post('/tool-calls/:id', {
    schema: {
      tags,
      operationId: 'answerToolCall',
      summary: 'Claims a call for an instance of the application, renews the claim, or gives the result; the run then goes on',
      params: ToolCallParams,
      body: ref(ToolCallAnswerSchema),
      response: {
        200: ref(AnsweredToolCallSchema),
        400: ErrorRef,
        404: ErrorRef,
        409: ErrorRef,
        410: ErrorRef,
        413: ErrorRef,
        429: ErrorRef
      }
    }
  }, async (request) => app.toolCalls.answer(request.params.id, request.body))
}

export default routes
