import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { GrantBodySchema, GrantListSchema, GrantParams, GrantQuery, GrantSchema, RemovedGrantSchema } from '../schemas/grants.ts'
import { AcceptedSheetSchema, SheetAnswerSchema } from '../schemas/sheets.ts'

const tags = ['approvals']

const routes: FastifyPluginAsyncTypebox = async (app) => {
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
      summary: 'Lets calls of a tool run unasked in one conversation or task, or accepts lines of the sheet of a rehearsal',
      body: Type.Union([ref(GrantBodySchema), ref(SheetAnswerSchema)], {
        description: 'Either a grant, with `toolName`, `scope` and `threadId` or `taskId`; or a `sheet` with the accepted `lines`'
      }),
      response: { 201: Type.Union([ref(GrantSchema), ref(AcceptedSheetSchema)]), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async ({ body }, reply) =>
    reply.code(201).send('sheet' in body ? await app.sheets.accept(body) : await app.grantService.add(body)))

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
