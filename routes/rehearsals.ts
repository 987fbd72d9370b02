import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { AnyRunParams } from '../schemas/runs.ts'
import { RehearsalBegunSchema, RehearsalListSchema, SheetSchema } from '../schemas/sheets.ts'
import { TaskParams } from '../schemas/tasks.ts'

const known = { 400: ErrorRef, 404: ErrorRef }

const routes: FastifyPluginAsyncTypebox = async (app) => {
  const { rehearsals } = app.tasks

  app.post('/tasks/:id/rehearse', {
    schema: {
      tags: ['tasks'],
      operationId: 'rehearseTask',
      summary: 'Rehearses a run of a task: on a copy of its folder, without reaching anything else',
      params: TaskParams,
      response: { 202: ref(RehearsalBegunSchema), ...known, 409: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) => reply.code(202).send(await rehearsals.rehearse(request.params.id)))

  app.get('/tasks/:id/rehearsals', {
    schema: {
      tags: ['tasks'],
      operationId: 'listRehearsals',
      summary: 'Lists the rehearsals of a task that are kept, newest first',
      params: TaskParams,
      response: { 200: ref(RehearsalListSchema), ...known }
    }
  }, async (request) => rehearsals.list(request.params.id))

  app.get('/runs/:runId/sheet', {
    schema: {
      tags: ['runs'],
      operationId: 'getSheet',
      summary: 'Returns what a rehearsal has shown: what the run would do, and what of it may be accepted',
      params: AnyRunParams,
      response: { 200: ref(SheetSchema), ...known }
    }
  }, async (request) => app.sheets.sheet(request.params.runId))
}

export default routes
