import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  ApprovalListSchema,
  ApprovalParams,
  ApprovalPreviewSchema,
  ApprovalQuery,
  ApprovalDecisionSchema,
  DecidedApprovalSchema,
  PreviewBody
} from '../schemas/approvals.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

const tags = ['approvals']
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/approvals', {
    schema: {
      tags,
      operationId: 'listApprovals',
      summary: 'Lists what waits for a decision, of conversations and of tasks, oldest first',
      querystring: ApprovalQuery,
      response: { 200: ref(ApprovalListSchema), 400: ErrorRef }
    }
  }, async (request) => app.copies.shown(await app.inbox.list(request.query)))

  app.get('/approvals/:id/preview', {
    schema: {
      tags,
      operationId: 'previewApproval',
      summary: 'Returns what an open tool call would change, with a diff of the file that it writes',
      params: ApprovalParams,
      response: { 200: ref(ApprovalPreviewSchema), 404: ErrorRef, 409: ErrorRef, 410: ErrorRef }
    }
  }, async (request, reply) => app.copies.shown(await app.inbox.preview(request.params.id, reply.closed)))

  app.post('/approvals/:id/preview', {
    schema: {
      tags,
      operationId: 'previewCorrection',
      summary: 'Returns what an open tool call would change, also with another input; a command is tried out',
      params: ApprovalParams,
      body: PreviewBody,
      response: { 200: ref(ApprovalPreviewSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 410: ErrorRef }
    }
  }, async (request, reply) => app.copies.shown(await app.inbox.tryOut(request.params.id, reply.closed, request.body.input)))

  app.post('/approvals/:id', {
    schema: {
      tags,
      operationId: 'decideApproval',
      summary: 'Decides an approval request and continues the run that waits for it',
      params: ApprovalParams,
      body: ref(ApprovalDecisionSchema),
      response: { 200: ref(DecidedApprovalSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef, 410: ErrorRef, 429: ErrorRef }
    }
  }, async (request, reply) => app.copies.shown(await app.inbox.decide(request.params.id, request.body, reply.closed)))
}

export default routes
