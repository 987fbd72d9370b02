import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ConfigPatchSchema, ConfigSavedSchema } from '../schemas/config-patch.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { AboutSchema, ConfigReloadedSchema, ConfigViewSchema, HealthSchema, ReadySchema } from '../schemas/service.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  // A browser sends no token when it opens a page, so the page needs none. The console then asks for the token.
  app.get('/', {
    config: { open: ({ acceptsPage }) => acceptsPage },
    schema: {
      tags: ['service'],
      operationId: 'about',
      summary: 'Describes the service and lists its endpoints; leads a browser to the console',
      response: { 200: ref(AboutSchema), 303: Type.Null({ description: 'For a request that prefers text/html: the console' }) }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Origin, Accept')
    if (request.acceptsPage) return reply.redirect('/console', 303)
    return app.health.about()
  })

  app.get('/health', {
    config: { open: true, whileDraining: true },
    // Supervisors call this route right after the start; compiling a serializer would take a third of that wait.
    serializerCompiler: () => JSON.stringify,
    schema: {
      tags: ['service'],
      operationId: 'health',
      summary: 'Returns the health of the service and of its parts',
      response: { 200: ref(HealthSchema) }
    }
  }, async () => app.health.health())

  app.get('/ready', {
    config: { whileDraining: true },
    schema: {
      tags: ['service'],
      operationId: 'ready',
      summary: 'Returns whether the service accepts new work',
      response: { 200: ref(ReadySchema), 503: ref(ReadySchema) }
    }
  }, async (_request, reply) => {
    const ready = app.health.ready()
    return reply.code(ready ? 200 : 503).send({ ready })
  })

  app.get('/config', {
    schema: {
      tags: ['service'],
      operationId: 'getConfig',
      summary: 'Returns the current configuration with masked secrets',
      response: { 200: ref(ConfigViewSchema) }
    }
  }, async () => app.config.masked(app.secrets.all()))

  app.patch('/config', {
    schema: {
      tags: ['service'],
      operationId: 'patchConfig',
      summary: 'Changes keys of config.json',
      body: ref(ConfigPatchSchema),
      response: { 200: ref(ConfigSavedSchema), 400: ErrorRef, 403: ErrorRef, 409: ErrorRef, 503: ErrorRef }
    }
  }, async (request) => {
    const saved = await app.config.patch(request.body)
    return { status: 'saved' as const, ...saved, config: app.config.masked(app.secrets.all()) }
  })

  app.post('/config/reload', {
    schema: {
      tags: ['service'],
      operationId: 'reloadConfig',
      summary: 'Reads config.json again; an invalid file changes nothing',
      response: { 200: ref(ConfigReloadedSchema), 400: ErrorRef }
    }
  }, async () => {
    await app.config.reload()
    return { status: 'reloaded' as const }
  })
}

export default routes
