import { OUTCOME_UNKNOWN } from '../../../contracts/model-texts.ts'
import { answeredCall, failedCall, refusedCall } from '../call-end.ts'
import type { CallPolicy } from '../call-policy.ts'

const UNANSWERED = 'Nobody answered in time.'

/** The ledger decides what was approved. What had begun before never runs again. */
export const decidedBefore: CallPolicy = {
  name: 'decidedBefore',
  async decide ({ call }, { begun, approvalOf, answerOf }, concerns) {
    const approval = approvalOf(call.toolCallId)
    const answer = answerOf(call.toolCallId)
    if (answer !== undefined) return answer.is === 'open' ? { is: 'wait' } : { is: 'ended', end: answeredCall(call, answer, approval) }
    if (begun.has(call.toolCallId)) return { is: 'ended', end: failedCall(call, OUTCOME_UNKNOWN, 'unknown') }
    switch (approval?.state) {
      case undefined:
        return concerns
      case 'approved':
        return { is: 'run' }
      case 'open':
        return { is: 'wait' }
      case 'begun':
        return { is: 'ended', end: failedCall(call, OUTCOME_UNKNOWN, 'unknown') }
      case 'denied':
        return { is: 'ended', end: refusedCall(call, 'denied', approval!.reason, approval!.approvalId) }
      case 'expired':
        return { is: 'ended', end: refusedCall(call, 'expired', UNANSWERED) }
    }
  }
}
