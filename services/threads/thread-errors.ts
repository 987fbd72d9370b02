import { createError } from '@fastify/error'

export const ThreadNotFound = createError('ERR_THREAD_NOT_FOUND', 'There is no thread "%s". GET /threads lists them.', 404)
export const ThreadExists = createError('ERR_THREAD_EXISTS', 'There is a thread "%s" already. Change it with PUT /threads/:id.', 409)
export const ThreadDamaged = createError(
  'ERR_RECORD_DAMAGED',
  'The stored thread "%s" is damaged and cannot be read. DELETE /threads/:id removes it; only an earlier backup contains it undamaged.',
  500
)
