import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { ConfigureBodySchema, ConfiguredSchema, ProviderListSchema } from '../schemas/providers.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  for (const schema of [ConfigureBodySchema, ConfiguredSchema, ProviderListSchema]) app.addSchema(schema)

  app.get('/providers', {
    schema: {
      tags: ['providers'], operationId: 'listProviders', summary: 'Where models come from, and which are in use', response: { 200: ref(ProviderListSchema) }
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
}

export default routes
