import type { ApprovalView } from '../../schemas/approvals.ts'
import type { TaskApproval, ThreadApproval } from '../contracts/approval-record.ts'

/** The public form of an approval, without the internal fields. */
export function approvalView (approval: ThreadApproval | TaskApproval): ApprovalView {
  const { segment, ...item } = approval
  if (item.kind === 'question') {
    const { answers, ...shown } = item
    return shown
  }
  const { approved, ...shown } = item
  if (shown.kind === 'result') return shown
  const { identity, folder, replacedBy, places, granted, scopes, ...call } = shown
  return { ...call, ...(scopes && { scopes }) }
}
