import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import {
  ConfigureBodySchema,
  ConfiguredSchema,
  ModelListSchema,
  ModelsQuerySchema,
  ProviderListSchema,
  ProviderTestedSchema,
  TestBodySchema
} from '../schemas/providers.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/providers', {
    schema: {
      tags: ['providers'],
      operationId: 'listProviders',
      summary: 'Lists the providers of models, and the models in use',
      response: { 200: ref(ProviderListSchema) }
    }
  }, async () => app.providers.overview())

  app.post('/providers/configure', {
    schema: {
      tags: ['providers'],
      operationId: 'configureProviders',
      summary: 'Sets the model and the keys of providers; the next run uses them',
      body: ref(ConfigureBodySchema),
      response: { 200: ref(ConfiguredSchema), 400: ErrorRef }
    }
  }, async (request, reply) => app.providers.configure(request.body, reply.closed))

  app.get('/models', {
    schema: {
      tags: ['providers'],
      operationId: 'listModels',
      summary: 'Lists the models of every provider; the lists are cached for five minutes',
      querystring: ModelsQuerySchema,
      response: { 200: ref(ModelListSchema) }
    }
  }, async (request, reply) => app.providers.models(reply.closed, request.query))

  app.post('/providers/test', {
    // A request without a body tests the active model.
    config: { optionalBody: true },
    schema: {
      tags: ['providers'],
      operationId: 'testProvider',
      summary: 'Makes one small call to a model and returns its result and latency',
      body: ref(TestBodySchema),
      response: { 200: ref(ProviderTestedSchema), 400: ErrorRef }
    }
  }, async (request, reply) => app.providers.test(request.body, app.usage.meter({}), reply.closed))
}

export default routes
