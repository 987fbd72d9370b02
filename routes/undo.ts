import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import {
  AppliedSchema,
  ApplyBodySchema,
  ChangesParams,
  ChangesQuery,
  RunChangesSchema,
  UNDO_BODY_LIMIT,
  UndoBodySchema,
  UndoneSchema
} from '../schemas/undo.ts'

const tags = ['runs']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/runs/:runId/changes', {
    schema: {
      tags,
      operationId: 'listChanges',
      summary: 'Lists the files that a run changed, of a conversation or a task, also while it is under way',
      params: ChangesParams,
      querystring: ChangesQuery,
      response: { 200: ref(RunChangesSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async ({ params: { runId }, query }) => app.sheets.shown(runId, await app.undo.changes(runId, query)))

  app.post('/runs/:runId/undo', {
    bodyLimit: UNDO_BODY_LIMIT,
    // A request without a body undoes all changes of the run.
    config: { optionalBody: true },
    schema: {
      tags,
      operationId: 'undoRun',
      summary: 'Takes back the changes of a run that is over, as far as its files are still as it left them',
      params: ChangesParams,
      body: ref(UndoBodySchema),
      response: { 200: ref(UndoneSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 503: ErrorRef }
    }
  }, async (request) => app.copies.shown(await app.undo.takeBack(request.params.runId, request.body)))

  app.post('/runs/:runId/apply', {
    bodyLimit: UNDO_BODY_LIMIT,
    // A request without a body applies all changes of the copy.
    config: { optionalBody: true },
    schema: {
      tags,
      operationId: 'applyRun',
      summary: 'Takes over what was changed in the copy of a folder that a run worked on, or throws the copy away',
      params: ChangesParams,
      body: ref(ApplyBodySchema),
      response: { 200: ref(AppliedSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 503: ErrorRef }
    }
  }, async (request) => app.copies.apply(request.params.runId, request.body))
}

export default routes
