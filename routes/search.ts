import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { SearchQuerySchema, SearchResultsSchema } from '../schemas/search.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/search', {
    schema: {
      tags: ['threads'],
      operationId: 'searchThreads',
      summary: 'Searches the texts and titles of all threads, the most recently changed first',
      querystring: SearchQuerySchema,
      response: { 200: ref(SearchResultsSchema), 400: ErrorRef }
    }
  }, async (request, reply) => app.threadSearch(request.query, reply.closed))
}

export default routes
