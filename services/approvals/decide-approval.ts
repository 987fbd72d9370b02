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
import { allowMore, isAllowed } from '../usage/index.ts'
import { AnswersRefused, checkAnswers } from './questions/check-answers.ts'

/**
 * Whether the time to answer an item has passed, even if the stored state does not show that yet. A call that an application has claimed is
 * overdue if its claim was not renewed in time. The outcome of such a call is unknown.
 */
export const isOverdue = (item: Answerable, now: number): boolean =>
  isUnanswered(item) && (item.state === 'claimed' && item.claim !== undefined ? item.claim.until : item.expiresAt ?? Infinity) <= now

/**
 * Returns an overdue item in its final state: `unknown` if the call was claimed, because it might have had an effect, else `expired`.
 * Returns undefined if the item is not overdue.
 */
export const closeOverdue = <I extends Approval>(item: I, now: number): I | undefined =>
  isOverdue(item, now) ? inState(item, item.state === 'claimed' ? 'unknown' : 'expired') : undefined

const withdrawn = ({ approvalId, taskId }: Approval) =>
  new ApprovalWithdrawn(
    approvalId,
    taskId === undefined ? 'its run was stopped, or the user sent a new message instead of an answer' : 'its run has ended'
  )

/** Returns the error for an item that is no longer open: ApprovalExpired (410), ApprovalWithdrawn or ApprovalDecided (409). */
export function tooLate (item: Approval): Error {
  const { approvalId, kind, state } = item
  if (state === 'expired' || isUnanswered(item)) return new ApprovalExpired(approvalId)
  // A new request might have replaced an approved one.
  if (state === 'withdrawn' && !(kind === 'tool' && item.approved)) return withdrawn(item)
  if (kind === 'tool' || kind === 'result') return new ApprovalDecided(approvalId, item.approved ? 'approved' : 'denied')
  return new ApprovalDecided(approvalId, state)
}

/**
 * Throws ApprovalDecided (409) if a paired device repeats a decision that was made elsewhere. A device can repeat only its own decision.
 */
function assertOwnDecision (item: ThreadApproval | TaskApproval | QuestionItem, device: Decision['device']): void {
  if (device === undefined || device.deviceId === item.device?.deviceId) return
  const was = item.kind === 'question' ? item.state : item.approved ? 'approved' : 'denied'
  throw new ApprovalDecided(item.approvalId, was)
}

/**
 * Returns the approval with the decision; undefined if the same decision was made before. Throws ApprovalDecided (409) for the opposite
 * decision or another scope, end of the grant or input, ApprovalWithdrawn (409), ApprovalExpired (410), GrantRefused (400) for a scope in
 * the decision about a result, or AnswersRefused (400). For questions see `decideQuestions`.
 */
export function decideApproval (approval: ThreadApproval, decision: Omit<Decision, 'approvalId'>, now: number): ThreadApproval | undefined
export function decideApproval (approval: TaskApproval, decision: Omit<Decision, 'approvalId'>, now: number): TaskApproval | undefined
export function decideApproval (
  approval: ThreadApproval | TaskApproval,
  decision: Omit<Decision, 'approvalId'>,
  now: number
): ThreadApproval | TaskApproval | undefined {
  const { approvalId } = approval
  const { approved, answers, reason, scope, until, corrected, device } = decision
  if (approval.state === 'expired' || isOverdue(approval, now)) throw new ApprovalExpired(approvalId)
  if (approval.state === 'withdrawn' && !('replacedBy' in approval)) throw withdrawn(approval)
  if (approval.kind === 'question') return decideQuestions(approval, decision, now)
  if (answers !== undefined) throw new AnswersRefused('"answers" belong to questions; this request is approved or denied with "approved".')
  if (approval.state === 'pending') {
    const bound = boundBy(approval, decision)
    const by = { decidedAt: now, ...(reason && { reason }), ...(device && { device }) }
    const decided = { ...inState(approval, approved ? 'approved' : 'denied'), approved, ...by }
    if (decided.kind !== 'tool') {
      if (scope !== undefined || until !== undefined) throw new GrantRefused('"scope" and "until" belong to the approval of a tool call.')
      return decided
    }
    const granted = (scope !== undefined || until !== undefined) && { granted: { scope: scope ?? 'once', ...(until && { until }) } }
    return { ...decided, ...bound, ...granted }
  }
  if ((approval.approved ?? false) !== approved) throw new ApprovalDecided(approvalId, approval.approved ? 'approved' : 'denied')
  assertOwnDecision(approval, device)
  if (corrected !== undefined && !(approval.kind === 'tool' && isDeepStrictEqual(corrected.correctedInput, approval.correctedInput))) {
    throw new ApprovalDecided(approvalId, 'approved with another input')
  }
  if (approval.kind === 'tool' && (scope !== undefined || until !== undefined)) assertSameGrant(approval, { scope: scope ?? 'once', until })
  return undefined
}

/** After this many requests for the same call, a further request offers an approval that is valid for any state of the call's paths. */
const ASKS_WITH_STATE = 2

/** Whether the request offers an approval that is valid whatever is at the call's paths when the call runs. */
export const offersUnbound = ({ asks = 0, shown = [] }: Pick<ToolItem, 'asks' | 'shown'>): boolean =>
  asks >= ASKS_WITH_STATE && shown.length > 0

/**
 * Returns the fields that a decision changes in an approval: the corrected input, and the state of the paths for which the approval is
 * valid. Throws GrantRefused (400).
 */
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
    throw new GrantRefused('"unbound" needs a request with "unboundOffered": its files have changed twice since they were shown.')
  }
  return { ...corrected, ...(unbound && { unbound }), ...(previewDigest !== undefined && { previewDigest }) }
}

/** Throws ApprovalDecided (409) if an answer is repeated with another scope or end. The message says what was granted. */
function assertSameGrant ({ approvalId, granted: { scope, until } = { scope: 'once' } }: ToolItem, again: ToolItem['granted']) {
  if (isDeepStrictEqual({ scope, until }, again)) return
  const end = until !== undefined ? ` and "until" ${JSON.stringify(until)}` : scope === 'once' ? '' : ' and no "until"'
  throw new ApprovalDecided(approvalId, `approved with the scope "${scope}"${end}`)
}

/**
 * Returns a choice about a task with the answer; undefined if the same answer was given before. Throws AnswersRefused (400) for an answer
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
 * Returns the item of questions with the user's answers, or as declined; undefined if the same decision was made before. Throws
 * AnswersRefused (400) for answers that do not fit, GrantRefused (400) for a scope, or ApprovalDecided (409) for another decision.
 */
export function decideQuestions<Q extends QuestionItem> (item: Q, decision: Omit<Decision, 'approvalId'>, now: number): Q | undefined {
  const { approvalId, questions, state } = item
  const { device } = decision
  const { approved, answers, reason, scope, until } = item.budget === undefined ? decision : asBudgetDecision(item, decision)
  if (scope !== undefined || until !== undefined) throw new GrantRefused('"scope" and "until" belong to the approval of a tool call.')
  if (approved && answers === undefined) {
    throw new AnswersRefused('Questions are not approved: send "answers", or "approved": false to decline them.')
  }
  if (answers !== undefined) checkAnswers(questions, answers)
  if (state === 'pending') {
    const decided = { ...inState(item, answers === undefined ? 'declined' : 'answered'), decidedAt: now }
    return { ...decided, ...(answers && { answers }), ...(reason && { reason }), ...(device && { device }) }
  }
  if (state === 'answered' ? isDeepStrictEqual(answers, item.answers) : answers === undefined) {
    assertOwnDecision(item, device)
    return undefined
  }
  throw new ApprovalDecided(approvalId, state === 'answered' ? `answered with ${JSON.stringify(item.answers)}` : state)
}

/** Returns a decision about a budget question in one form. A client can send either `approved` or the answer to the question. */
function asBudgetDecision (
  { questions }: QuestionItem,
  { answers, scope, ...decision }: Omit<Decision, 'approvalId'>
): Omit<Decision, 'approvalId'> {
  if (answers !== undefined) checkAnswers(questions, answers)
  const isYes = answers === undefined ? decision.approved : isAllowed(answers)
  return { ...decision, scope: scope === 'once' ? undefined : scope, approved: isYes, ...(isYes && { answers: allowMore() }) }
}
