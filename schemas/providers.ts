import { Type, type Static } from '@sinclair/typebox'

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
}, { $id: 'ProviderList' })
export type ProviderList = Static<typeof ProviderListSchema>

export const ConfigureBodySchema = Type.Object({
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: '`<provider>/<model>`, the model to use from the next run on' })),
  gateway_key: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: 'One key for all providers; kept encrypted' }))
}, { $id: 'ConfigureBody', additionalProperties: false, minProperties: 1 })
export type ConfigureBody = Static<typeof ConfigureBodySchema>

export const ConfiguredSchema = Type.Object({
  status: Type.Literal('configured'),
  active_model: ModelId,
  gateway_configured: Type.Boolean(),
  warning: Type.Optional(Type.String())
}, { $id: 'Configured' })

const ModelInfoSchema = Type.Object({
  id: ModelId,
  name: Type.String(),
  provider: Type.String(),
  contextWindow: Type.Optional(Type.Integer({ description: 'Tokens' })),
  pricing: Type.Optional(Type.Object({
    input: Type.Optional(Type.String()),
    output: Type.Optional(Type.String())
  }, { description: 'US dollars a token' }))
})

export const ModelListSchema = Type.Object({
  models: Type.Array(ModelInfoSchema),
  errors: Type.Array(Type.Object({ provider: Type.String(), error: Type.String() }), { description: 'Providers whose models could not be listed, and why' })
}, { $id: 'ModelList' })
export type ModelList = Static<typeof ModelListSchema>

export const TestBodySchema = Type.Object({
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: '`<provider>/<model>`; the active model when absent' }))
}, { $id: 'TestBody', additionalProperties: false })

export const ProviderTestedSchema = Type.Object({
  ok: Type.Boolean(),
  model: ModelId,
  latencyMs: Type.Integer({ description: 'How long the call took' }),
  error: Type.Optional(Type.String({ description: 'What went wrong, and what to do' }))
}, { $id: 'ProviderTested' })
export type ProviderTested = Static<typeof ProviderTestedSchema>
