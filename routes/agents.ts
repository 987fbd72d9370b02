import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AgentBodySchema, AgentDeletedSchema, AgentListSchema, AgentParams, NamedAgentSchema } from '../schemas/agents.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/agents', {
    schema: { tags: ['agents'], operationId: 'listAgents', summary: 'Lists the agents by name', response: { 200: ref(AgentListSchema) } }
  }, async () => app.agents.list())

  app.get('/agents/:name', {
    schema: {
      tags: ['agents'],
      operationId: 'getAgent',
      summary: 'Returns an agent',
      params: AgentParams,
      response: { 200: ref(NamedAgentSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.agents.get(request.params.name))

  app.put('/agents/:name', {
    schema: {
      tags: ['agents'],
      operationId: 'putAgent',
      summary: 'Creates an agent, or replaces the one of that name',
      params: AgentParams,
      body: ref(AgentBodySchema),
      response: { 200: ref(NamedAgentSchema), 400: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.agents.put(request.params.name, request.body))

  app.delete('/agents/:name', {
    schema: {
      tags: ['agents'],
      operationId: 'deleteAgent',
      summary: 'Deletes an agent that no conversation and no task uses',
      params: AgentParams,
      response: { 200: ref(AgentDeletedSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => {
    await app.agents.remove(request.params.name)
    return { ok: true as const, name: request.params.name }
  })
}

export default routes
