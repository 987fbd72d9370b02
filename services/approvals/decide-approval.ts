import { isDeepStrictEqual } from 'node:util'
import { ApprovalDecided, ApprovalExpired, ApprovalWithdrawn, GrantRefused } from './approval-errors.ts'
import {
  isUnanswered,
  type Answerable,
  type Approval,
  type Decision,
  type TaskApproval,
  type TaskChoice,
  type ThreadApproval,
  type ToolItem,
  type QuestionItem
} from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import { AnswersRefused, checkAnswers } from './questions/check-answers.ts'

/**
 * Whether the time to answer has passed. What is overdue counts as expired, even before that is stored; a call that the application
 * has claimed, as one with an unknown outcome, when the claim was not renewed.
 */
export const isOverdue = (item: Answerable, now: number): boolean =>
  isUnanswered(item) && (item.state === 'claimed' && item.claim !== undefined ? item.claim.until : item.expiresAt ?? Infinity) <= now

/** Returns the final state of an overdue item: a call that was claimed may have had its effect. Undefined while it is not overdue. */
export const overdueState = (item: Answerable, now: number): 'unknown' | 'expired' | undefined =>
  !isOverdue(item, now) ? undefined : item.state === 'claimed' ? 'unknown' : 'expired'

const withdrawn = ({ approvalId, taskId }: Approval) =>
  new ApprovalWithdrawn(
    approvalId,
    taskId === undefined ? 'its run was stopped, or the user sent a new message instead of an answer' : 'its run has ended'
  )

/** Returns the error for what is not open any more: ApprovalExpired (410), ApprovalWithdrawn or ApprovalDecided (409). */
export function tooLate (item: Approval): Error {
  const { approvalId, kind, state } = item
  if (state === 'expired' || isUnanswered(item)) return new ApprovalExpired(approvalId)
  // A new request may have taken the place of an approved one.
  if (state === 'withdrawn' && !(kind === 'tool' && item.approved)) return withdrawn(item)
  if (kind === 'tool' || kind === 'result') return new ApprovalDecided(approvalId, item.approved ? 'approved' : 'denied')
  return new ApprovalDecided(approvalId, state)
}

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
  const { approved, answers, reason, scope, until, corrected } = decision
  if (approval.state === 'expired' || isOverdue(approval, now)) throw new ApprovalExpired(approvalId)
  if (approval.state === 'withdrawn' && !('replacedBy' in approval)) throw withdrawn(approval)
  if (approval.kind === 'question') return decideQuestions(approval, decision, now)
  if (answers !== undefined) throw new AnswersRefused('"answers" belong to questions; this request is approved or denied with "approved".')
  if (approval.state === 'pending') {
    const bound = boundBy(approval, decision)
    const decided = { ...inState(approval, approved ? 'approved' : 'denied'), approved, decidedAt: now, ...(reason && { reason }) }
    if (decided.kind !== 'tool') {
      if (scope !== undefined || until !== undefined) throw new GrantRefused('"scope" and "until" belong to the approval of a tool call.')
      return decided
    }
    const granted = (scope !== undefined || until !== undefined) && { granted: { scope: scope ?? 'once', ...(until && { until }) } }
    return { ...decided, ...bound, ...granted }
  }
  if ((approval.approved ?? false) !== approved) throw new ApprovalDecided(approvalId, approval.approved ? 'approved' : 'denied')
  if (corrected !== undefined && !(approval.kind === 'tool' && isDeepStrictEqual(corrected.correctedInput, approval.correctedInput))) {
    throw new ApprovalDecided(approvalId, 'approved with another input')
  }
  if (approval.kind === 'tool' && (scope !== undefined || until !== undefined)) assertSameGrant(approval, { scope: scope ?? 'once', until })
  return undefined
}

/** After so many requests for one call, the next may be approved with whatever is there then. */
const ASKS_WITH_STATE = 2

/** Whether the approval may be given for whatever is there when the call runs. */
export const offersUnbound = ({ asks = 0, shown = [] }: Pick<ToolItem, 'asks' | 'shown'>): boolean =>
  asks >= ASKS_WITH_STATE && shown.length > 0

/** Returns what a decision says of the input of a call, and of the state that it is bound to. Throws GrantRefused (400). */
function boundBy (
  approval: ThreadApproval | TaskApproval,
  { approved, scope, until, unbound, previewDigest, corrected }: Omit<Decision, 'approvalId'>
): Partial<ToolItem> {
  const isCorrected = corrected !== undefined || (approval.kind === 'tool' && approval.correctedInput !== undefined)
  if (isCorrected && (until !== undefined || (scope ?? 'once') !== 'once')) {
    throw new GrantRefused('A corrected input is approved once: leave out "scope" and "until".')
  }
  const given = [unbound, previewDigest, corrected].filter((each) => each !== undefined)
  if (given.length === 0) return {}
  if (approval.kind !== 'tool' || !approved) {
    throw new GrantRefused('"input", "unbound" and "previewDigest" belong to the approval of a tool call.')
  }
  if (unbound && !offersUnbound(approval)) {
    throw new GrantRefused('"unbound" is taken when the request offers it: after what it would change has changed two times.')
  }
  return { ...corrected, ...(unbound && { unbound }), ...(previewDigest !== undefined && { previewDigest }) }
}

/** Throws ApprovalDecided (409), which says what was granted, for an answer that would cover something else. */
function assertSameGrant ({ approvalId, granted: { scope, until } = { scope: 'once' } }: ToolItem, again: ToolItem['granted']) {
  if (isDeepStrictEqual({ scope, until }, again)) return
  const end = until !== undefined ? ` and "until" ${JSON.stringify(until)}` : scope === 'once' ? '' : ' and no "until"'
  throw new ApprovalDecided(approvalId, `approved with the scope "${scope}"${end}`)
}

/**
 * Returns a choice about a task with its answer; undefined if the same answer was given before. Throws AnswersRefused (400) for an answer
 * that was not offered, ApprovalDecided or ApprovalWithdrawn (409).
 */
export function decideChoice (item: TaskChoice, choice: string | undefined, now: number): TaskChoice | undefined {
  const { approvalId, choices, state } = item
  if (choice === undefined || !choices.some(({ value }) => value === choice)) {
    throw new AnswersRefused(`Send "choice" with one of ${choices.map(({ value }) => JSON.stringify(value)).join(', ')}.`)
  }
  switch (state) {
    case 'pending':
      return { ...inState(item, 'answered'), choice, decidedAt: now }
    case 'answered':
      if (choice !== item.choice) throw new ApprovalDecided(approvalId, `answered with ${JSON.stringify(item.choice)}`)
      return undefined
    case 'withdrawn':
      throw new ApprovalWithdrawn(approvalId, 'the task needs no answer any more')
  }
}

/**
 * Returns open or decided questions with the answers of their user, or declined; undefined if the same was decided before. Throws
 * AnswersRefused (400) for answers that do not fit, GrantRefused (400) for a scope, or ApprovalDecided (409) for another decision.
 */
export function decideQuestions<Q extends QuestionItem> (
  item: Q,
  { approved, answers, reason, scope, until }: Omit<Decision, 'approvalId'>,
  now: number
): Q | undefined {
  const { approvalId, questions, state } = item
  if (scope !== undefined || until !== undefined) throw new GrantRefused('"scope" and "until" belong to the approval of a tool call.')
  if (approved && answers === undefined) {
    throw new AnswersRefused('Questions are not approved: send "answers", or "approved": false to decline them.')
  }
  if (answers !== undefined) checkAnswers(questions, answers)
  if (state === 'pending') {
    const decided = { ...inState(item, answers === undefined ? 'declined' : 'answered'), decidedAt: now }
    return { ...decided, ...(answers && { answers }), ...(reason && { reason }) }
  }
  if (state === 'answered' ? isDeepStrictEqual(answers, item.answers) : answers === undefined) return undefined
  throw new ApprovalDecided(approvalId, state === 'answered' ? `answered with ${JSON.stringify(item.answers)}` : state)
}
