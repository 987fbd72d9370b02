import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AssetParams, fileAnswer } from '../schemas/docs.ts'
import { ErrorRef } from '../schemas/errors.ts'

const tags = ['service']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/openapi.json', {
    schema: {
      tags,
      operationId: 'getOpenapi',
      summary: 'Returns this OpenAPI document',
      response: {
        200: fileAnswer(
          'The OpenAPI 3.1 description of the interface',
          ['application/json'],
          Type.Object({}, { additionalProperties: true })
        )
      }
    }
  }, async (request, reply) => reply.sendFile(await app.docs.document(request.takesGzip)))

  // A browser sends no token when it opens a page, so these routes need none. The page and its files hold no user data; the page asks for
  // the token before it reads /openapi.json or calls a route.
  app.get('/docs', {
    config: { open: true },
    schema: {
      tags,
      operationId: 'getDocs',
      summary: 'Returns a web page on which the operations of this document can be read and tried',
      response: { 200: fileAnswer('The page', ['text/html']) }
    }
  }, async (_request, reply) => reply.sendFile(await app.docs.page()))

  app.get('/docs/:file', {
    config: { open: true },
    schema: {
      tags,
      operationId: 'getDocsFile',
      summary: 'Returns a file that the documentation page loads',
      params: AssetParams,
      response: { 200: fileAnswer('The file', ['text/css', 'text/javascript', 'image/png']), 404: ErrorRef }
    }
  }, async (request, reply) => reply.sendFile(await app.docs.asset(request.params.file, request.takesGzip)))
}

export default routes
