import { defineError } from '../lib/service-error.ts'

/** The same sentence for every wrong secret, so that a guesser learns nothing. */
export const PairingRefused = defineError(
  'ERR_PAIRING_REFUSED',
  'This code is not valid, or not any more. Run `local-agent reach` on the computer and scan the new one.'
)
export const TooManyPairings = defineError('ERR_TOO_MANY_TRIES', 'Too many devices have tried to pair; wait a minute.')
export const TooManyDevices = defineError(
  'ERR_TOO_MANY_DEVICES',
  '%d devices are paired, and no more can be: remove one with `local-agent reach revoke`.'
)
export const NotPaired = defineError(
  'ERR_UNAUTHORIZED',
  'This device is not paired, or not any more. Run `local-agent reach` on the computer and scan the code.'
)
export const DeviceNotFound = defineError('ERR_DEVICE_NOT_FOUND', 'There is no device "%s". GET /devices lists them.')
export const RequestChanged = defineError(
  'ERR_APPROVAL_CHANGED',
  'What the approval request "%s" would do has changed since it was shown, so nothing was decided. Look at it again.'
)
export const DecidedElsewhere = defineError(
  'ERR_FORBIDDEN',
  'A device cannot answer this request in this way; answer it on the computer.'
)
export const TooManyLooks = defineError('ERR_TOO_MANY_TRIES', 'Too many requests are being looked at; try again in a moment.')
