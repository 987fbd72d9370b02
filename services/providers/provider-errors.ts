import createError from '@fastify/error'

export const InvalidModelId = createError('ERR_INVALID_MODEL', 'The model %s is not valid: %s', 400)
export const ProviderNotConfigured = createError('ERR_PROVIDER_NOT_CONFIGURED', 'The model %s cannot be used yet: %s', 502)
export const UnknownProvider = createError(
  'ERR_UNKNOWN_PROVIDER',
  'There is no provider %s to have a key: add it to config.json under "providers" first. Only openai, anthropic and google need no entry; the key of the gateway is "gateway_key".',
  400
)
