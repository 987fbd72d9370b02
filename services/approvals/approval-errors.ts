import { defineError } from '../lib/service-error.ts'

export const ApprovalNotFound = defineError(
  'ERR_APPROVAL_NOT_FOUND',
  'There is no approval request "%s". GET /approvals lists the open ones.'
)
export const ApprovalExpired = defineError('ERR_APPROVAL_EXPIRED', 'The approval request "%s" has expired; ask the agent again.')
export const ApprovalDecided = defineError(
  'ERR_APPROVAL_DECIDED',
  'The approval request "%s" was already %s; the first decision is kept.'
)
export const ApprovalWithdrawn = defineError('ERR_APPROVAL_WITHDRAWN', 'The approval request "%s" was withdrawn, because %s.')
export const OtherConversation = defineError('ERR_OTHER_CONVERSATION', '%s')
export const GrantRefused = defineError('ERR_GRANT_REFUSED', '%s')
/** Thrown if the input with which a person replaces the model's input cannot be used. */
export const InputRefused = defineError('ERR_INVALID_REQUEST', 'The corrected input cannot be used: %s')
export const GrantNotFound = defineError('ERR_GRANT_NOT_FOUND', 'There is no grant "%s". GET /grants lists them.')
export const TooManyTries = defineError('ERR_TOO_MANY_TRIES', 'Too many commands are being tried out; try again in a moment.')
export const TooManyGrants = defineError(
  'ERR_TOO_MANY_GRANTS',
  'A conversation or task can have %s grants; remove some with DELETE /grants/:id.'
)
