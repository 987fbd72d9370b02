import { Type, type FastifyPluginAsyncTypebox, type TSchema } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { ref } from '../schemas/common.ts'
import {
  ChatCompletionBodySchema,
  ChatCompletionChunkSchema,
  ChatCompletionSchema,
  ChatErrorSchema,
  ChatModelListSchema,
  ChatModelSchema,
  RetryHeaders
} from '../schemas/openai.ts'
import { ResponseBodySchema, ResponseEventSchema, ResponseSchema } from '../schemas/responses.ts'

/** 32 MiB, because the body holds the history of a conversation with its files. */
const BODY_LIMIT = 32 * 1024 * 1024

const Failed = ref(ChatErrorSchema)
const FAILURES = [400, 402, 404, 409, 422, 429, 502, 504]

const routes: FastifyPluginAsyncTypebox = async (app) => {
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

  /** Returns the schemas of the responses: one object (`whole`), or a stream of events. */
  const answers = (description: string, whole: TSchema, event: TSchema) => ({
    200: {
      description,
      headers: { 'x-thread-id': Type.String(), 'x-run-id': Type.String() },
      content: { 'application/json': { schema: ref(whole) }, 'text/event-stream': { schema: ref(event) } }
    },
    ...Object.fromEntries(FAILURES.map((status) => [status, Failed]))
  })
  const asked = { bodyLimit: BODY_LIMIT, config: { answersLate: true }, onRequest: async () => void app.providers.connect() }
  const sendWhole = <T>(reply: FastifyReply, { run, answer }: { run: { threadId: string, runId: string }, answer: T }): T => {
    reply.header('x-thread-id', encodeURIComponent(run.threadId)).header('x-run-id', run.runId)
    return answer
  }

  app.post('/v1/chat/completions', {
    ...asked,
    schema: {
      tags: ['openai'],
      operationId: 'createChatCompletion',
      summary: "Answers a conversation as OpenAI's chat completions do",
      headers: RetryHeaders,
      body: ref(ChatCompletionBodySchema),
      response: answers(
        'The answer; with `stream` its pieces as Server-Sent Events, which end with `data: [DONE]`',
        ChatCompletionSchema,
        ChatCompletionChunkSchema
      )
    }
  }, async ({ body, headers }, reply) => {
    const caller = { signal: reply.closed, tries: headers['x-stainless-retry-count'] }
    const chat = await app.chatCompletions()
    if (!body.stream) return sendWhole(reply, await chat.complete(body, caller))
    const { run, encoder } = await chat.stream(body, caller)
    return reply.streamRun(run, encoder)
  })

  app.post('/v1/responses', {
    ...asked,
    schema: {
      tags: ['openai'],
      operationId: 'createResponse',
      summary: "Answers a conversation as OpenAI's responses do, and keeps nothing for the next request",
      headers: RetryHeaders,
      body: ref(ResponseBodySchema),
      response: answers('The answer; with `stream` its events as Server-Sent Events', ResponseSchema, ResponseEventSchema)
    }
  }, async ({ body, headers }, reply) => {
    const caller = { signal: reply.closed, tries: headers['x-stainless-retry-count'] }
    const chat = await app.chatCompletions()
    if (!body.stream) return sendWhole(reply, await chat.respond(body, caller))
    const { run, encoder } = await chat.streamResponse(body, caller)
    return reply.streamRun(run, encoder)
  })
}

export default routes
