import type { ApprovalDecision } from '../../schemas/approvals.ts'
import type { Decision } from './decision.ts'
import { AnswersRefused } from './questions/check-answers.ts'

/** Returns the decision of a request: answers to questions count as approval. Throws AnswersRefused (400) unless it is one decision. */
export function givenDecision (approvalId: string, { approved, answers, reason, ...granted }: ApprovalDecision): Decision {
  if (approved === undefined && answers === undefined) {
    throw new AnswersRefused('Give "approved", true or false, or the "answers" to questions.')
  }
  if (approved === false && answers !== undefined) {
    throw new AnswersRefused('Questions are either answered, with "answers", or declined, with "approved": false.')
  }
  return { approvalId, approved: approved ?? true, ...(answers && { answers }), ...(reason && { reason }), ...granted }
}
