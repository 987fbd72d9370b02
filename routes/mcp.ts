import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { ImportBodySchema, ImportedServersSchema } from '../schemas/mcp-import.ts'
import { PromptListSchema } from '../schemas/mcp-prompts.ts'
import { ResourceListQuery, ResourceListSchema, ResourceQuery, ResourceSchema } from '../schemas/mcp-resources.ts'
import {
  AcceptBody,
  AuthorizingSchema,
  ConnectBodySchema,
  ConnectedSchema,
  DisconnectedSchema,
  ServerName,
  ServerSettingsSchema,
  ToolServerDetailSchema,
  ToolServerListSchema,
  ToolServerSchema
} from '../schemas/mcp.ts'

const Named = Type.Object({ name: ServerName })

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/mcp/servers', {
    schema: {
      tags: ['mcp'],
      operationId: 'listToolServers',
      summary: 'Lists the tool servers and their connection states',
      response: { 200: ref(ToolServerListSchema) }
    }
  }, async () => app.mcp.list())

  app.get('/mcp/prompts', {
    schema: {
      tags: ['mcp'],
      operationId: 'listPrompts',
      summary: 'Lists the prompts of the connected tool servers',
      response: { 200: ref(PromptListSchema) }
    }
  }, async (_request, reply) => app.mcp.listPrompts(reply.closed))

  app.get('/mcp/resources', {
    schema: {
      tags: ['mcp'],
      operationId: 'listResources',
      summary: 'Lists the resources of the connected tool servers, with the templates of the addresses of further ones',
      querystring: ResourceListQuery,
      response: { 200: ref(ResourceListSchema), 404: ErrorRef }
    }
  }, async (request, reply) => app.mcp.listResources(request.query.server, reply.closed))

  app.get('/mcp/resources/read', {
    schema: {
      tags: ['mcp'],
      operationId: 'readResource',
      summary: 'Returns the content of a resource of a tool server',
      querystring: ResourceQuery,
      response: { 200: ref(ResourceSchema), 404: ErrorRef, 502: ErrorRef }
    }
  }, async (request, reply) => app.mcp.readResource(request.query, reply.closed))

  app.get('/mcp/servers/:name', {
    schema: {
      tags: ['mcp'],
      operationId: 'getToolServer',
      summary: 'Returns one tool server with the schemas of its tools, its resources, its prompts and its latest stderr output',
      params: Named,
      response: { 200: ref(ToolServerDetailSchema), 404: ErrorRef }
    }
  }, async (request, reply) => app.mcp.get(request.params.name, reply.closed))

  app.put('/mcp/servers/:name', {
    schema: {
      tags: ['mcp'],
      operationId: 'configureToolServer',
      summary: 'Changes settings of a tool server: whether it is enabled, which of its tools are offered and which of them ask',
      params: Named,
      body: ref(ServerSettingsSchema),
      response: { 200: ref(ToolServerSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.mcp.configure(request.params.name, request.body))

  app.post('/mcp/servers/:name/accept', {
    schema: {
      tags: ['mcp'],
      operationId: 'acceptToolServer',
      summary: 'Accepts the tools of a tool server as they are now: those that say that they only read run unasked from then on',
      params: Named,
      body: AcceptBody,
      response: { 200: ref(ToolServerSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.mcp.accept(request.params.name, request.body))

  app.delete('/mcp/servers/:name/accept', {
    schema: {
      tags: ['mcp'],
      operationId: 'takeBackToolServer',
      summary: 'Withdraws the acceptance of the tools of a tool server: all of them ask from then on',
      params: Named,
      response: { 200: ref(ToolServerSchema), 404: ErrorRef }
    }
  }, async (request) => app.mcp.takeBack(request.params.name))

  app.post('/mcp/connect', {
    schema: {
      tags: ['mcp'],
      operationId: 'connectToolServer',
      summary: 'Connects a tool server and saves it, so that it is connected at every start; a server of the same name is replaced',
      body: ref(ConnectBodySchema),
      response: { 200: ref(ConnectedSchema), 202: ref(AuthorizingSchema), 400: ErrorRef, 409: ErrorRef, 502: ErrorRef }
    }
  }, async (request, reply) => {
    const answer = await app.mcp.connect(request.body, reply.closed)
    return reply.code(answer.status === 'authorizing' ? 202 : 200).send(answer)
  })

  app.post('/mcp/import', {
    schema: {
      tags: ['mcp'],
      operationId: 'importToolServers',
      summary: 'Saves the tool servers that a README or the configuration of Claude Desktop, Cursor or VS Code names, and connects them',
      body: ref(ImportBodySchema),
      response: { 200: ref(ImportedServersSchema), 400: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.mcp.import(request.body))

  app.delete('/mcp/:name', {
    schema: {
      tags: ['mcp'],
      operationId: 'disconnectToolServer',
      summary: 'Stops a tool server and deletes it with its environment variables',
      params: Named,
      response: { 200: ref(DisconnectedSchema), 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.mcp.disconnect(request.params.name))
}

export default routes
