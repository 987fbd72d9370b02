import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { UsageQuerySchema, UsageReportSchema } from '../schemas/usage.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/usage', {
    schema: {
      tags: ['usage'],
      operationId: 'getUsage',
      summary: 'Returns what model calls used in a range of days, by day, model, role, task or thread',
      querystring: UsageQuerySchema,
      response: { 200: ref(UsageReportSchema), 400: ErrorRef }
    }
  }, async (request) => app.usage.report(request.query))
}

export default routes
