import type { CallPolicy } from '../call-policy.ts'

/** Refuses a call that still has concerns (reasons to ask a person), if nobody can be asked. */
export const unattended: CallPolicy = {
  name: 'unattended',
  async decide (_checked, { policy: { refusal } }, concerns) {
    if (refusal === undefined || concerns.length === 0) return concerns
    const why = concerns.find(({ isOfCall }) => isOfCall)?.reason
    return { is: 'deny', reason: why === undefined ? refusal : `${refusal} ${why}` }
  }
}
