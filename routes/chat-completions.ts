import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import {
  ChatCompletionBodySchema,
  ChatCompletionChunkSchema,
  ChatCompletionSchema,
  ChatErrorSchema,
  ChatModelListSchema,
  ChatModelSchema
} from '../schemas/openai.ts'

/** 32 MiB, because the body holds the history of a conversation with its files. */
const BODY_LIMIT = 32 * 1024 * 1024

const Failed = ref(ChatErrorSchema)

const routes: FastifyPluginAsyncTypebox = async (app) => {
  // Clients send a failed request again, and its run may have done something. They do not when this header says so.
  app.setErrorHandler(async (error: Parameters<typeof app.answerError>[0], request, reply) => {
    const { chatError } = await app.chatErrors()
    return app.answerError(error, request, reply, (body) => {
      if (body.statusCode >= 500 && body.statusCode !== 503) reply.header('x-should-retry', 'false')
      return chatError(body)
    })
  })

  app.get('/v1/models', {
    schema: {
      tags: ['openai'],
      operationId: 'listChatModels',
      summary: 'Lists what `model` of a chat completion can be: agents and models',
      response: { 200: ref(ChatModelListSchema) }
    }
  }, async (_request, reply) => (await app.chatCompletions()).list(reply.closed))

  app.get('/v1/models/:id', {
    schema: {
      tags: ['openai'],
      operationId: 'getChatModel',
      summary: 'Returns one of the names of `GET /v1/models`',
      params: Type.Object({ id: Type.String({ description: 'Its slash is sent as %2F' }) }),
      response: { 200: ref(ChatModelSchema), 404: Failed }
    }
  }, async (request, reply) => (await app.chatCompletions()).get(request.params.id, reply.closed))

  app.post('/v1/chat/completions', {
    bodyLimit: BODY_LIMIT,
    config: { answersLate: true },
    onRequest: async () => void app.providers.connect(),
    schema: {
      tags: ['openai'],
      operationId: 'createChatCompletion',
      summary: "Answers a conversation as OpenAI's chat completions do",
      body: ref(ChatCompletionBodySchema),
      response: {
        200: {
          description: 'The answer; with `stream` its pieces as Server-Sent Events, which end with `data: [DONE]`',
          headers: { 'x-thread-id': Type.String(), 'x-run-id': Type.String() },
          content: {
            'application/json': { schema: ref(ChatCompletionSchema) },
            'text/event-stream': { schema: ref(ChatCompletionChunkSchema) }
          }
        },
        400: Failed,
        402: Failed,
        404: Failed,
        409: Failed,
        422: Failed,
        429: Failed,
        502: Failed,
        504: Failed
      }
    }
  }, async (request, reply) => {
    const chat = await app.chatCompletions()
    if (!request.body.stream) {
      const { run, completion } = await chat.complete(request.body, reply.closed)
      reply.header('x-thread-id', encodeURIComponent(run.threadId)).header('x-run-id', run.runId)
      return completion
    }
    const { run, encoder } = await chat.stream(request.body, reply.closed)
    return reply.streamRun(run, encoder)
  })
}

export default routes
