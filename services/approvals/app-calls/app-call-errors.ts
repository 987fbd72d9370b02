import { defineError } from '../../lib/service-error.ts'

export const AppCallNotFound = defineError(
  'ERR_TOOL_CALL_NOT_FOUND',
  'There is no call "%s" of a tool of an application. GET /tool-calls lists the open ones.'
)
export const AppCallClaimed = defineError('ERR_TOOL_CALL_CLAIMED', 'The call "%s" is claimed by %s, which executes it.')
export const AppCallAnswered = defineError('ERR_TOOL_CALL_ANSWERED', 'The call "%s" has another answer already; the first one is kept.')
export const AppCallWithdrawn = defineError(
  'ERR_TOOL_CALL_WITHDRAWN',
  'The call "%s" was withdrawn, because %s; its answer is not needed any more.'
)
export const AppCallExpired = defineError('ERR_TOOL_CALL_EXPIRED', 'The call "%s" cannot be answered any more: %s.')
export const OutputTooLarge = defineError(
  'ERR_TOOL_OUTPUT_TOO_LARGE',
  'The answer to the call "%s" has %d bytes of JSON; at most %d are taken. Return the part that the agent needs.'
)
export const BadToolCallAnswer = defineError('ERR_INVALID_REQUEST', '%s')
