import type { Decision } from '../decision.ts'
import { AnswersRefused, isAnswers } from './check-answers.ts'

/**
 * Returns the decision on questions that a client gives as the result of their call: the same output that the call then has, or an
 * error, which declines. Throws AnswersRefused (400).
 */
export function answersInOutput (approvalId: string, result: { output: Record<string, unknown> } | { errorText: string }): Decision {
  if ('errorText' in result) return { approvalId, approved: false, reason: result.errorText.slice(0, REASON_KEPT) }
  const { answers, declined, reason } = result.output
  if (declined === true) return { approvalId, approved: false, ...(typeof reason === 'string' && { reason: reason.slice(0, REASON_KEPT) }) }
  if (isAnswers(answers)) return { approvalId, approved: true, answers }
  throw new AnswersRefused('The output of askUser must be {"answers": {"<id>": "<answer>"}} or {"declined": true}.')
}

/** Characters of a reason that are kept. */
const REASON_KEPT = 4_000
