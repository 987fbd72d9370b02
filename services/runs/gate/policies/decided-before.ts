import { DENIED } from '../../../contracts/approval-record.ts'
import { OUTCOME_UNKNOWN, NOBODY_ANSWERED } from '../../../contracts/model-texts.ts'
import { answeredCall, failedCall, refusedCall } from '../call-end.ts'
import type { CallPolicy } from '../call-policy.ts'

/**
 * Follows the ledger for calls that have an item there. A call that began in an earlier attempt (an interrupted execution of the run) never
 * runs again.
 */
export const decidedBefore: CallPolicy = {
  name: 'decidedBefore',
  async decide ({ call }, { begun, itemsOf, isOpen }, concerns) {
    const { approval, answer } = itemsOf(call.toolCallId)
    if (answer !== undefined) return isOpen(answer) ? { is: 'wait' } : { is: 'ended', end: answeredCall(call, answer, approval) }
    if (begun.has(call.toolCallId)) return { is: 'ended', end: failedCall(call, OUTCOME_UNKNOWN, 'unknown') }
    switch (approval?.state) {
      case undefined:
        return concerns
      case 'approved':
        return { is: 'run' }
      case 'denied':
        return { is: 'ended', end: refusedCall(call, 'denied', approval!.reason ?? DENIED, approval!.approvalId) }
      case 'executing':
      case 'unknown':
        return { is: 'ended', end: failedCall(call, OUTCOME_UNKNOWN, 'unknown') }
      case 'pending':
      case 'done':
      case 'expired':
      case 'withdrawn':
        return isOpen(approval!) ? { is: 'wait' } : { is: 'ended', end: refusedCall(call, 'expired', NOBODY_ANSWERED) }
    }
  }
}
