import { defineError } from '../lib/service-error.ts'

export const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'There is no run "%s".')
export const TwoOwners = defineError('ERR_BAD_REQUEST', 'Give threadId or taskId, not both: a run belongs to one of them.')
export const TooManyWaits = defineError(
  'ERR_TOO_MANY_WAITS',
  'There are already %d requests that wait for runs. Ask without waitMs, or read GET /events.'
)
