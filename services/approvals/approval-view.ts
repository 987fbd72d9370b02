import type { ApprovalView } from '../../schemas/approvals.ts'
import type { TaskApproval, ThreadApproval } from './approval-record.ts'

/** The public form of an approval, without the internal fields. */
export function approvalView (approval: ThreadApproval | TaskApproval): ApprovalView {
  const { segment, approved, ...shown } = approval
  if (shown.kind === 'result') return shown
  const { identity, folder, replacedBy, places, granted, scopes, ...call } = shown
  return { ...call, ...(scopes && { scopes }) }
}
