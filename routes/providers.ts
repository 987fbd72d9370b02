import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import {
  ConfigureBodySchema,
  ConfiguredSchema,
  ModelListSchema,
  ProviderListSchema,
  ProviderTestedSchema,
  TestBodySchema
} from '../schemas/providers.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of [ConfigureBodySchema, ConfiguredSchema, ModelListSchema, ProviderListSchema, ProviderTestedSchema, TestBodySchema]) {
    app.addSchema(schema)
  }

  app.get('/providers', {
    schema: {
      tags: ['providers'],
      operationId: 'listProviders',
      summary: 'Where models come from, and which are in use',
      response: { 200: ref(ProviderListSchema) }
    }
  }, async () => app.providers.overview())

  app.post('/providers/configure', {
    schema: {
      tags: ['providers'],
      operationId: 'configureProviders',
      summary: 'Chooses the model or sets the gateway key, from the next run on',
      body: ref(ConfigureBodySchema),
      response: { 200: ref(ConfiguredSchema), 400: ErrorRef }
    }
  }, async (request) => app.providers.configure(request.body))

  app.get('/models', {
    schema: {
      tags: ['providers'],
      operationId: 'listModels',
      summary: 'The models of every provider; lists are kept for five minutes',
      response: { 200: ref(ModelListSchema) }
    }
  }, async (_request, reply) => app.providers.models(reply.closed))

  app.post('/providers/test', {
    // Without a body the active model is meant.
    config: { optionalBody: true },
    preValidation: async (request) => {
      request.body ??= {}
    },
    schema: {
      tags: ['providers'],
      operationId: 'testProvider',
      summary: 'Makes one small call to a model and says how it went',
      body: ref(TestBodySchema),
      response: { 200: ref(ProviderTestedSchema), 400: ErrorRef }
    }
  }, async (request, reply) => app.providers.test(request.body.model, reply.closed))
}

export default routes
