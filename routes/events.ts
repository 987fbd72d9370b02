import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref, ResumeHeaders } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { EventsQuerySchema, StreamEventSchema } from '../schemas/events.ts'

const Events = {
  description:
    'The events of all conversations and tasks: Server-Sent Events whose name is the `type` of their data, in their order. A reader that ' +
    'comes back with the last `id:` gets what it has missed, or a `reset` first when that is no longer known',
  content: { 'text/event-stream': { schema: ref(StreamEventSchema) } }
}

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/events', {
    sse: 'manual',
    schema: {
      tags: ['events'],
      operationId: 'events',
      summary: 'Streams what happens in conversations and tasks, and resumes after the last event that the reader has got',
      querystring: EventsQuerySchema,
      headers: ResumeHeaders,
      response: { 200: Events, 400: ErrorRef }
    }
  }, async ({ query, headers }, reply) => reply.streamEvents(query, headers['last-event-id'] ?? query.after))
}

export default routes
