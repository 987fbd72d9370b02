import type { CallPolicy } from '../call-policy.ts'

/** If nobody can be asked, a call that would still ask is refused. */
export const unattended: CallPolicy = {
  name: 'unattended',
  async decide (_checked, { policy: { refusal } }, concerns) {
    if (refusal === undefined || concerns.length === 0) return concerns
    const why = concerns.find(({ isOfCall }) => isOfCall)?.reason
    return { is: 'deny', reason: why === undefined ? refusal : `${refusal} ${why}` }
  }
}
