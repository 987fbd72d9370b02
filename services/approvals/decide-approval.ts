import { ApprovalDecided, ApprovalExpired, ApprovalWithdrawn } from './approval-errors.ts'
import type { TaskApproval, ThreadApproval } from './approval-record.ts'
import { inState } from './approval-states.ts'

export interface Decision {
  approvalId: string
  approved: boolean
  reason?: string
}

/** Whether the time to answer has passed. An overdue approval counts as expired, even before that is stored. */
export const isOverdue = ({ state, expiresAt }: { state: string, expiresAt: number }, now: number): boolean =>
  state === 'pending' && expiresAt <= now

/**
 * Returns the approval with the decision; undefined if the same decision was made before. Throws ApprovalDecided (409) for the
 * opposite decision, ApprovalWithdrawn (409) or ApprovalExpired (410).
 */
export function decideApproval (approval: ThreadApproval, decision: Omit<Decision, 'approvalId'>, now: number): ThreadApproval | undefined
export function decideApproval (approval: TaskApproval, decision: Omit<Decision, 'approvalId'>, now: number): TaskApproval | undefined
export function decideApproval (
  approval: ThreadApproval | TaskApproval,
  { approved, reason }: Omit<Decision, 'approvalId'>,
  now: number
): ThreadApproval | TaskApproval | undefined {
  const { approvalId } = approval
  if (approval.state === 'expired' || isOverdue(approval, now)) throw new ApprovalExpired(approvalId)
  if (approval.kind === 'tool' && approval.state === 'withdrawn' && approval.replacedBy === undefined) {
    throw new ApprovalWithdrawn(
      approvalId,
      approval.threadId === undefined ? 'its run has ended' : 'the user sent a new message instead of an answer'
    )
  }
  if (approval.state === 'pending') {
    return { ...inState(approval, approved ? 'approved' : 'denied'), approved, ...(reason && { reason }) }
  }
  if ((approval.approved ?? false) !== approved) throw new ApprovalDecided(approvalId, approval.approved ? 'approved' : 'denied')
  return undefined
}
