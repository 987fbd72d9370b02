import { isDeepStrictEqual } from 'node:util'
import { ApprovalDecided, GrantRefused } from '../approval-errors.ts'
import type { QuestionItem } from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import type { Decision } from '../decision.ts'
import { AnswersRefused, checkAnswers } from './check-answers.ts'

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
