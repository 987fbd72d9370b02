import { defineError } from '../lib/service-error.ts'

/** What a call is about to change could not be kept, so the call must not start. */
export const CopiesUnavailable = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'What is there could not be kept for an undo (%s). Nothing was changed. Make room on the disk of the configuration folder and try ' +
  'again.'
)
/** The disk failed in the middle of an undo. */
export const UndoCutShort = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'The undo stopped in the middle (%s): what it restored so far stays. Call it again for the rest when there is room on the disk.'
)
export const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'No run "%s" is known.')
export const RunLive = defineError(
  'ERR_RUN_LIVE',
  'The run "%s" is not over. Stop it, or answer what it waits for, before its changes are undone.'
)
export const NotChanged = defineError('ERR_NOT_CHANGED', 'The run changed no file at %s. GET /runs/:runId/changes lists its changes.')
