import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AssetParams, fileAnswer, ItemParams, PageParams } from '../schemas/docs.ts'
import { ErrorRef } from '../schemas/errors.ts'

const tags = ['service']

// A browser sends no token when it opens a page. The page and its files hold no user data, and the page asks for the token.
const routes: FastifyPluginAsyncTypebox = async (app) => {
  const page = (operationId: string, summary: string) => ({
    tags,
    operationId,
    summary,
    response: { 200: fileAnswer('The page', ['text/html']), 404: ErrorRef }
  })
  app.get('/console', {
    config: { open: true },
    schema: page('getConsole', 'Returns a web page that shows and controls the service')
  }, async (request, reply) => reply.sendFile(await app.console.page(request.takesGzip)))

  app.get('/console/:page', {
    config: { open: true },
    schema: { ...page('getConsolePage', 'Returns the console, for the address of one of its pages'), params: PageParams }
  }, async (request, reply) => reply.sendFile(await app.console.page(request.takesGzip)))

  app.get('/console/:page/:item', {
    config: { open: true },
    schema: { ...page('getConsoleItem', 'Returns the console, for the address of an item of one of its pages'), params: ItemParams }
  }, async (request, reply) => reply.sendFile(await app.console.page(request.takesGzip)))

  app.get('/console/assets/:file', {
    config: { open: true },
    schema: {
      tags,
      operationId: 'getConsoleFile',
      summary: 'Returns a file that the console loads',
      params: AssetParams,
      response: { 200: fileAnswer('The file', ['text/css', 'text/javascript', 'image/svg+xml']), 404: ErrorRef }
    }
  }, async (request, reply) => reply.sendFile(await app.console.asset(request.params.file, request.takesGzip)))
}

export default routes
