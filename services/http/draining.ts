import { createError } from '@fastify/error'

/** The error of new requests once the shutdown has begun. */
export const Draining = createError('ERR_DRAINING', 'The service is shutting down; try again after its restart.', 503)
