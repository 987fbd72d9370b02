import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AssetParams, fileAnswer } from '../schemas/docs.ts'
import { ErrorRef } from '../schemas/errors.ts'

const tags = ['service']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/openapi.json', {
    schema: {
      tags,
      operationId: 'getOpenapi',
      summary: 'This document',
      response: {
        200: fileAnswer(
          'The OpenAPI 3.1 description of the interface',
          ['application/json'],
          Type.Object({}, { additionalProperties: true })
        )
      }
    }
  }, async (_request, reply) => reply.sendFile(await app.docs.document()))

  // A browser sends no token with a page's address. The page and its files hold nothing of the user's and are the same
  // for everybody, so they are open; the page asks for the token before it reads /openapi.json and calls anything.
  app.get('/docs', {
    config: { open: true },
    schema: {
      tags,
      operationId: 'getDocs',
      summary: 'This document as a page to read and try',
      response: { 200: fileAnswer('The page', ['text/html']) }
    }
  }, async (_request, reply) => reply.sendFile(await app.docs.page()))

  app.get('/docs/:file', {
    config: { open: true },
    schema: {
      tags,
      operationId: 'getDocsFile',
      summary: 'What the page loads',
      params: AssetParams,
      response: { 200: fileAnswer('The file', ['text/css', 'text/javascript', 'image/png']), 404: ErrorRef }
    }
  }, async (request, reply) => reply.sendFile(await app.docs.asset(request.params.file)))
}

export default routes
