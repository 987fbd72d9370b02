import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'
import { MODEL_ID } from './ids.ts'

const ModelId = Type.String({ description: '`<provider>/<model>`' })

const Reach = oneOf(['machine', 'network', 'cloud'])

export const ProviderListSchema = Type.Object({
  active_model: ModelId,
  gateway_configured: Type.Boolean(),
  providers: Type.Array(Type.Object({
    name: Type.String(),
    default_model: ModelId,
    kind: oneOf(['offline', 'direct', 'gateway']),
    configured: Type.Boolean(),
    takesKey: Type.Boolean({ description: 'Whether it can be given a key: not the offline model, nor files of models' }),
    keyFrom: Type.Optional(oneOf(['stored', 'environment', 'config'], {
      description: 'Where its key comes from: stored by POST /providers/configure, which also removes it; the environment or the parent ' +
        'process; or config.json. Absent when it has none'
    }))
  })),
  roles: Type.Object({ fast: ModelId, capable: ModelId, vision: ModelId }),
  reach: Type.Object({ fast: Reach, capable: Reach, vision: Reach }, {
    description: "Where the model server of each role is: on this machine, in the user's own network, or elsewhere (cloud). " +
      'A role for which config.json names no model stays with the provider of the active model'
  })
}, { $id: 'ProviderList', description: 'The providers of models, and the models in use' })
export type ProviderList = Static<typeof ProviderListSchema>

/** White space at both ends is allowed; it is removed when the key is used. */
const ProviderKey = Type.String({ pattern: '^[ \\t-\\r]*[!-~]+[ \\t-\\r]*$', maxLength: 1000 })
const GatewayKey = Type.String({ minLength: 1, maxLength: 1000 })

export const ConfigureBodySchema = Type.Object({
  model: Type.Optional(
    Type.String({ ...MODEL_ID, minLength: 1, maxLength: 200, description: '`<provider>/<model>`: the model that the next run uses' })
  ),
  localServer: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The `baseURL` of a model server that `GET /models?discover=true` finds on this machine: it becomes a provider of ' +
      'config.json, and its first model the active one unless `model` names another'
  })),
  localFile: Type.Optional(Type.String({
    maxLength: 4096,
    description: 'The `path` of a model file that `GET /models?discover=true` finds on this machine: it becomes a model of the provider ' +
      '`local`, and the active one unless `model` names another'
  })),
  gateway_key: Type.Optional(Type.Union([GatewayKey, Type.Null()], {
    description: 'The key of the model gateway, for the models of all its providers; stored encrypted. `null` removes a stored key'
  })),
  keys: Type.Optional(Type.Record(
    Type.String(),
    Type.Union([ProviderKey, Type.Null()], { description: 'A key of visible ASCII characters without spaces, or null' }),
    {
      maxProperties: 64,
      description: 'Keys of direct providers by name; stored encrypted. A key of anthropic, openai or google makes that provider ' +
        'direct without an entry in config.json; other names must have one. `null` removes a stored key'
    }
  ))
}, {
  $id: 'ConfigureBody',
  additionalProperties: false,
  minProperties: 1,
  examples: [{ model: 'offline/assistant' }]
})
export type ConfigureBody = Static<typeof ConfigureBodySchema>

export const ConfiguredSchema = Type.Object({
  status: Type.Literal('configured'),
  active_model: ModelId,
  gateway_configured: Type.Boolean(),
  warning: Type.Optional(Type.String())
}, { $id: 'Configured', description: 'The settings that apply from the next run on' })

const ModelInfoSchema = Type.Object({
  id: ModelId,
  name: Type.String(),
  provider: Type.String(),
  contextWindow: Type.Optional(Type.Integer({ description: 'Size of the context window in tokens' })),
  pricing: Type.Optional(Type.Object({
    input: Type.Optional(Type.String()),
    output: Type.Optional(Type.String()),
    cachedInput: Type.Optional(Type.String({ description: 'A token that is read from the cache' })),
    cacheWrite: Type.Optional(Type.String({ description: 'A token that is written to the cache' }))
  }, { description: 'Prices in US dollars per token' })),
  sizeBytes: Type.Optional(Type.Integer({ description: 'For a file of weights' })),
  state: Type.Optional(oneOf(['stopped', 'loading', 'loaded'], { description: 'For a file of weights: whether it is in memory' })),
  tokensPerSecond: Type.Optional(Type.Number({ description: 'For a file of weights: the speed of its last answer' })),
  unavailable: Type.Optional(Type.String({ description: 'Why the model cannot be used, and what to do' }))
})

export const ModelsQuerySchema = Type.Object({
  discover: Type.Optional(Type.Boolean({ description: 'Also look for model servers on this machine: Ollama, LM Studio, llama.cpp' }))
}, { additionalProperties: false })

const LocalServerSchema = Type.Object({
  server: Type.String({ description: 'The program that was recognised' }),
  baseURL: Type.String(),
  models: Type.Array(Type.String()),
  provider: Type.Optional(Type.String({ description: 'The provider of config.json that has this address' })),
  config: Type.Optional(Type.Record(Type.String(), Type.Any(), { description: 'What to merge into config.json to use the server' })),
  use: Type.String({ description: 'How to use the server' })
})
export type LocalServer = Static<typeof LocalServerSchema>

const LocalFileSchema = Type.Object({
  program: Type.String({ description: 'The program that keeps it, such as Ollama' }),
  path: Type.String(),
  sizeBytes: Type.Integer(),
  model: Type.String({ description: 'The id of the model that it becomes: `local/<name>`' }),
  contextWindow: Type.Optional(Type.Integer({ description: 'The context window that fits this computer, tokens' })),
  unavailable: Type.Optional(Type.String({ description: 'Why the model could not be used, and what to do' })),
  use: Type.String({ description: 'How to use the file' })
})
export type LocalFile = Static<typeof LocalFileSchema>

export const ModelListSchema = Type.Object({
  models: Type.Array(ModelInfoSchema),
  errors: Type.Array(Type.Object({ provider: Type.String(), error: Type.String() }), {
    description: 'Providers whose models could not be listed, and why'
  }),
  discovered: Type.Optional(Type.Array(LocalServerSchema, { description: 'The model servers of this machine; with `discover` only' })),
  files: Type.Optional(Type.Array(LocalFileSchema, {
    description: 'Files of models that other programs left on this machine; with `discover` only'
  }))
}, { $id: 'ModelList', description: 'The models of every provider' })
export type ModelList = Static<typeof ModelListSchema>

export const TestBodySchema = Type.Object({
  model: Type.Optional(Type.String({
    ...MODEL_ID,
    minLength: 1,
    maxLength: 200,
    description: '`<provider>/<model>`; by default the active model, or with a key one of the provider that the key belongs to'
  })),
  gateway_key: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'A key of the model gateway to try; it is used for this call alone, and not stored'
  })),
  keys: Type.Optional(Type.Record(Type.String(), ProviderKey, {
    maxProperties: 1,
    description: 'The key of a direct provider to try, by its name; it is used for this call alone, and not stored'
  })),
  thorough: Type.Optional(Type.Boolean({
    description: 'true: about ten small calls find out what the model and its server can do. It takes some minutes on a small computer; ' +
      'what requests need is kept for the model'
  }))
}, { $id: 'TestBody', additionalProperties: false, examples: [{ model: 'offline/assistant' }] })
export type TestBody = Static<typeof TestBodySchema>

const FindingSchema = Type.Object({
  about: oneOf([
    ...['stream', 'system', 'tool-call', 'call-without-text', 'two-calls', 'two-messages', 'json', 'picture', 'long-prompt'] as const,
    ...['portable-ids', 'no-thoughts', 'thoughts', 'no-tool-pictures', 'no-pictures', 'no-system', 'one-call', 'tools-in-words'] as const
  ], { description: 'The feature that was tried, or (from portable-ids on) a need that requests to this model meet from now on' }),
  ok: Type.Boolean(),
  text: Type.String({ description: 'What was found, in a sentence' })
})
export type Finding = Static<typeof FindingSchema>

export const ProviderTestedSchema = Type.Object({
  ok: Type.Boolean(),
  model: ModelId,
  latencyMs: Type.Integer({ description: 'Duration of the call in milliseconds' }),
  error: Type.Optional(Type.String({ description: 'What went wrong, and what to do' })),
  code: Type.Optional(Type.String({ description: 'The code of the error, such as ERR_PROVIDER_AUTH for a key that the provider refuses' })),
  said: Type.Optional(Type.String({ description: "The provider's own words about the error, without keys" })),
  findings: Type.Optional(Type.Array(FindingSchema, { description: 'What a thorough test has found; absent when the first call failed' }))
}, { $id: 'ProviderTested', description: 'The result of the test call' })
export type ProviderTested = Static<typeof ProviderTestedSchema>
