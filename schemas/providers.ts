import { Type, type Static } from '@sinclair/typebox'
import * as examples from './examples/providers.ts'

const ModelId = Type.String({ description: '`<provider>/<model>`' })

export const ProviderListSchema = Type.Object({
  active_model: ModelId,
  gateway_configured: Type.Boolean(),
  providers: Type.Array(Type.Object({
    name: Type.String(),
    default_model: ModelId,
    kind: Type.Union([Type.Literal('offline'), Type.Literal('direct'), Type.Literal('gateway')]),
    configured: Type.Boolean()
  })),
  roles: Type.Object({ fast: ModelId, capable: ModelId, vision: ModelId })
}, { $id: 'ProviderList', description: 'The providers of models, and the models in use', examples: [examples.providerList] })
export type ProviderList = Static<typeof ProviderListSchema>

export const ConfigureBodySchema = Type.Object({
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: '`<provider>/<model>`: the model that the next run uses' })
  ),
  gateway_key: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'The key of the model gateway, for the models of all its providers; stored encrypted' }))
}, { $id: 'ConfigureBody', additionalProperties: false, minProperties: 1, examples: [examples.configureBody] })
export type ConfigureBody = Static<typeof ConfigureBodySchema>

export const ConfiguredSchema = Type.Object({
  status: Type.Literal('configured'),
  active_model: ModelId,
  gateway_configured: Type.Boolean(),
  warning: Type.Optional(Type.String())
}, { $id: 'Configured', description: 'The settings that apply from the next run on', examples: [examples.configured] })

const ModelInfoSchema = Type.Object({
  id: ModelId,
  name: Type.String(),
  provider: Type.String(),
  contextWindow: Type.Optional(Type.Integer({ description: 'Size of the context window in tokens' })),
  pricing: Type.Optional(Type.Object({
    input: Type.Optional(Type.String()),
    output: Type.Optional(Type.String())
  }, { description: 'Prices in US dollars per token' }))
})

export const ModelListSchema = Type.Object({
  models: Type.Array(ModelInfoSchema),
  errors: Type.Array(Type.Object({ provider: Type.String(), error: Type.String() }), {
    description: 'Providers whose models could not be listed, and why'
  })
}, { $id: 'ModelList', description: 'The models of every provider', examples: [examples.modelList] })
export type ModelList = Static<typeof ModelListSchema>

export const TestBodySchema = Type.Object({
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: '`<provider>/<model>`; by default the active model' }))
}, { $id: 'TestBody', additionalProperties: false, examples: [examples.testBody] })

export const ProviderTestedSchema = Type.Object({
  ok: Type.Boolean(),
  model: ModelId,
  latencyMs: Type.Integer({ description: 'Duration of the call in milliseconds' }),
  error: Type.Optional(Type.String({ description: 'What went wrong, and what to do' }))
}, { $id: 'ProviderTested', description: 'The result of the test call', examples: [examples.tested] })
export type ProviderTested = Static<typeof ProviderTestedSchema>
