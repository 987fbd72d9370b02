import { isDeepStrictEqual } from 'node:util'
import { ApprovalDecided, ApprovalExpired, ApprovalWithdrawn, GrantRefused } from './approval-errors.ts'
import {
  isUnanswered,
  type AppCallItem,
  type Approval,
  type TaskApproval,
  type ThreadApproval,
  type ToolItem,
  type QuestionItem
} from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import { AnswersRefused, checkAnswers } from './questions/check-answers.ts'
import type { Decision } from './decision.ts'

/**
 * Whether the time to answer has passed. What is overdue counts as expired, even before that is stored; a call that the application
 * has claimed, as one with an unknown outcome, when the claim was not renewed.
 */
export const isOverdue = (item: Pick<Approval, 'state' | 'expiresAt'> & Pick<AppCallItem, 'claim'>, now: number): boolean =>
  isUnanswered(item) && (item.state === 'claimed' && item.claim !== undefined ? item.claim.until : item.expiresAt) <= now

/**
 * Returns the approval with the decision; undefined if the same decision was made before. Throws ApprovalDecided (409) for the
 * opposite decision, another scope or another end of it, ApprovalWithdrawn (409), ApprovalExpired (410), GrantRefused (400) for the scope
 * of a result, or AnswersRefused (400); for questions see `decideQuestions`.
 */
export function decideApproval (approval: ThreadApproval, decision: Omit<Decision, 'approvalId'>, now: number): ThreadApproval | undefined
export function decideApproval (approval: TaskApproval, decision: Omit<Decision, 'approvalId'>, now: number): TaskApproval | undefined
export function decideApproval (
  approval: ThreadApproval | TaskApproval,
  decision: Omit<Decision, 'approvalId'>,
  now: number
): ThreadApproval | TaskApproval | undefined {
  const { approvalId } = approval
  const { approved, answers, reason, scope, until } = decision
  if (approval.state === 'expired' || isOverdue(approval, now)) throw new ApprovalExpired(approvalId)
  if (approval.state === 'withdrawn' && !('replacedBy' in approval)) {
    throw new ApprovalWithdrawn(
      approvalId,
      approval.threadId === undefined ? 'its run has ended' : 'its run was stopped, or the user sent a new message instead of an answer'
    )
  }
  if (approval.kind === 'question') return decideQuestions(approval, decision)
  if (answers !== undefined) throw new AnswersRefused('"answers" belong to questions; this request is approved or denied with "approved".')
  if (approval.state === 'pending') {
    const decided = { ...inState(approval, approved ? 'approved' : 'denied'), approved, ...(reason && { reason }) }
    if (scope === undefined && until === undefined) return decided
    if (decided.kind === 'result') throw new GrantRefused('"scope" and "until" belong to the approval of a tool call.')
    return { ...decided, granted: { scope: scope ?? 'once', ...(until && { until }) } }
  }
  if ((approval.approved ?? false) !== approved) throw new ApprovalDecided(approvalId, approval.approved ? 'approved' : 'denied')
  if (approval.kind === 'tool' && (scope !== undefined || until !== undefined)) assertSameGrant(approval, { scope: scope ?? 'once', until })
  return undefined
}

/** Throws ApprovalDecided (409), which says what was granted, for an answer that would cover something else. */
function assertSameGrant ({ approvalId, granted: { scope, until } = { scope: 'once' } }: ToolItem, again: ToolItem['granted']) {
  if (isDeepStrictEqual({ scope, until }, again)) return
  const end = until !== undefined ? ` and "until" ${JSON.stringify(until)}` : scope === 'once' ? '' : ' and no "until"'
  throw new ApprovalDecided(approvalId, `approved with the scope "${scope}"${end}`)
}

/**
 * Returns open or decided questions with the answers of their user, or declined; undefined if the same was decided before. Throws
 * AnswersRefused (400) for answers that do not fit, GrantRefused (400) for a scope, or ApprovalDecided (409) for another decision.
 */
export function decideQuestions<Q extends QuestionItem> (
  item: Q,
  { approved, answers, reason, scope, until }: Omit<Decision, 'approvalId'>
): Q | undefined {
  const { approvalId, questions, state } = item
  if (scope !== undefined || until !== undefined) throw new GrantRefused('"scope" and "until" belong to the approval of a tool call.')
  if (approved && answers === undefined) {
    throw new AnswersRefused('Questions are not approved: send "answers", or "approved": false to decline them.')
  }
  if (answers !== undefined) checkAnswers(questions, answers)
  if (state === 'pending') {
    return { ...inState(item, answers === undefined ? 'declined' : 'answered'), ...(answers && { answers }), ...(reason && { reason }) }
  }
  if (state === 'answered' ? isDeepStrictEqual(answers, item.answers) : answers === undefined) return undefined
  throw new ApprovalDecided(approvalId, state === 'answered' ? `answered with ${JSON.stringify(item.answers)}` : state)
}
