import { defineError } from '../lib/service-error.ts'

export const InvalidModelId = defineError('ERR_INVALID_MODEL', 'The model %s is not valid: %s')
export const ProviderNotConfigured = defineError('ERR_PROVIDER_NOT_CONFIGURED', 'The model %s cannot be used yet: %s')
