import { defineError } from '../lib/service-error.ts'

/** The error of new requests once the shutdown has begun. */
export const Draining = defineError('ERR_DRAINING', 'The service is shutting down; try again after its restart.')
