import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { CommandListSchema, CommandParams, CommandStoppedSchema } from '../schemas/commands.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

const tags = ['commands']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/commands', {
    schema: {
      tags,
      operationId: 'listCommands',
      summary: 'Lists the commands that run in the background',
      response: { 200: ref(CommandListSchema) }
    }
  }, async () => ({ commands: app.backgroundCommands.list() }))

  app.post('/commands/:id/stop', {
    schema: {
      tags,
      operationId: 'stopCommand',
      summary: 'Ends a command that runs in the background, with all that it started',
      params: CommandParams,
      response: { 200: ref(CommandStoppedSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => {
    await app.backgroundCommands.end(request.params.id)
    return { ok: true }
  })
}

export default routes
