import { createError } from '@fastify/error'

export const ApprovalNotFound = createError(
  'ERR_APPROVAL_NOT_FOUND',
  'There is no approval request "%s". GET /approvals lists the open ones.',
  404
)
export const ApprovalExpired = createError('ERR_APPROVAL_EXPIRED', 'The approval request "%s" has expired; ask the agent again.', 410)
export const ApprovalDecided = createError(
  'ERR_APPROVAL_DECIDED',
  'The approval request "%s" was already %s; the first decision is kept.',
  409
)
export const ApprovalWithdrawn = createError('ERR_APPROVAL_WITHDRAWN', 'The approval request "%s" was withdrawn, because %s.', 409)
export const OtherConversation = createError('ERR_OTHER_CONVERSATION', '%s', 409)
