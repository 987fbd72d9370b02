import { defineError } from '../../lib/service-error.ts'

export const InvalidModelId = defineError('ERR_INVALID_MODEL', 'The model %s is not valid: %s')
export const ProviderNotConfigured = defineError('ERR_PROVIDER_NOT_CONFIGURED', 'The model %s cannot be used yet: %s')
/** A model that a request asks for and that the configuration does not serve. */
export const ModelNotUsable = defineError('ERR_INVALID_MODEL', 'The model %s cannot be used yet: %s')
export const NoLocalServer = defineError(
  'ERR_UNKNOWN_PROVIDER',
  'No model server answers at %s on this machine, or it has no model. Start it and look for it again.'
)
export const UnknownProvider = defineError(
  'ERR_UNKNOWN_PROVIDER',
  'There is no provider %s to have a key: add it to config.json under "providers" first. Only openai, anthropic and google need no ' +
  'entry; the key of the gateway is "gateway_key".'
)
