import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import {
  BufferAnswerSchema,
  BufferParams,
  BufferRequestsSchema,
  BuffersQuery,
  BufferTakenSchema,
  MOST_BUFFER
} from '../schemas/editors.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { ThreadParams } from '../schemas/agent.ts'

const tags = ['threads']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/threads/:id/buffers', {
    schema: {
      tags,
      operationId: 'listBufferRequests',
      summary: 'Returns the files whose texts an editor is asked for, while the agent reads or changes them',
      params: ThreadParams,
      querystring: BuffersQuery,
      response: { 200: ref(BufferRequestsSchema), 400: ErrorRef, 429: ErrorRef }
    }
  }, async ({ params, query }, reply) => ({
    requests: await app.openEditors.requests(params.id, query.editor, { ms: query.waitMs, signal: reply.closed })
  }))

  app.post('/threads/:id/buffers/:requestId', {
    bodyLimit: MOST_BUFFER,
    schema: {
      tags,
      operationId: 'answerBufferRequest',
      summary: 'Answers with the text of a file as an editor shows it',
      params: BufferParams,
      body: ref(BufferAnswerSchema),
      response: { 200: ref(BufferTakenSchema), 400: ErrorRef }
    }
  }, async ({ params, body }) => ({ taken: app.openEditors.answer(params.id, params.requestId, body.text) }))
}

export default routes
