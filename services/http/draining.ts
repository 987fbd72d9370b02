import { createError } from '@fastify/error'

/** Refuses new work once shutdown has begun. */
export const Draining = createError('ERR_DRAINING', 'The service is shutting down; try again after its restart.', 503)
