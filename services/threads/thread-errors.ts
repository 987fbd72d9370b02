import { defineError } from '../lib/service-error.ts'

export const ThreadNotFound = defineError('ERR_THREAD_NOT_FOUND', 'There is no thread "%s". GET /threads lists them.')
export const NotRestorable = defineError(
  'ERR_THREAD_NOT_FOUND',
  'No deleted thread "%s" is kept. It is kept for 30 days if DELETE /threads/:id had restorable=true. GET /threads?deleted=true lists all.'
)
export const ThreadExists = defineError('ERR_THREAD_EXISTS', 'There is a thread "%s" already. Change it with PUT /threads/:id.')
export const VersionNotFound = defineError(
  'ERR_VERSION_NOT_FOUND',
  'There is no earlier version "%s" of a message of this thread. GET /threads/:id/versions lists them.'
)
export const SettingsDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored settings of the thread "%s" are damaged, and a run without them could do more than they allow. Set them again with ' +
    'PUT /threads/:id {"settings": {…}}; {} stands for none.'
)
export const ThreadDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored thread "%s" is damaged and cannot be read. DELETE /threads/:id removes it; only an earlier backup contains it undamaged.'
)
