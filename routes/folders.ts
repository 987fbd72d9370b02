import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { FolderPlacesSchema, FolderQuerySchema, FolderSchema } from '../schemas/folders.ts'

const tags = ['folders']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/folders', {
    schema: {
      tags,
      operationId: 'getFolder',
      summary: 'Returns a folder of this computer with the names of the folders in it',
      querystring: FolderQuerySchema,
      response: { 200: ref(FolderSchema), 400: ErrorRef, 404: ErrorRef, 429: ErrorRef, 504: ErrorRef }
    }
  }, async ({ query }, reply) => app.folders.list(query, reply.closed))

  app.get('/folders/places', {
    schema: {
      tags,
      operationId: 'listFolderPlaces',
      summary: 'Returns folders to start from: home, workspace, drives, those of conversations and tasks',
      response: { 200: ref(FolderPlacesSchema), 429: ErrorRef, 504: ErrorRef }
    }
  }, async (_request, reply) => app.folders.places(reply.closed))
}

export default routes
