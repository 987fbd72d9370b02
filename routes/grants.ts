import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { GrantBodySchema, GrantListSchema, GrantParams, GrantQuery, GrantSchema, RemovedGrantSchema } from '../schemas/grants.ts'

const tags = ['approvals']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of [GrantSchema, GrantListSchema, GrantBodySchema, RemovedGrantSchema]) app.addSchema(schema)

  app.get('/grants', {
    schema: {
      tags,
      operationId: 'listGrants',
      summary: 'Lists the grants, of a conversation, of a task or of all',
      querystring: GrantQuery,
      response: { 200: ref(GrantListSchema), 400: ErrorRef }
    }
  }, async (request) => app.grantService.list(request.query))

  app.post('/grants', {
    schema: {
      tags,
      operationId: 'addGrant',
      summary: 'Lets calls of a tool run unasked in one conversation or task',
      body: ref(GrantBodySchema),
      response: { 201: ref(GrantSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request, reply) => reply.code(201).send(await app.grantService.add(request.body)))

  app.delete('/grants/:id', {
    schema: {
      tags,
      operationId: 'removeGrant',
      summary: 'Ends a grant',
      params: GrantParams,
      response: { 200: ref(RemovedGrantSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.grantService.remove(request.params.id))
}

export default routes
