import createError from '@fastify/error'

export const InvalidModelId = createError('ERR_INVALID_MODEL', 'The model %s is not valid: %s', 400)
export const ProviderNotConfigured = createError('ERR_PROVIDER_NOT_CONFIGURED', 'The model %s cannot be used yet: %s', 502)
