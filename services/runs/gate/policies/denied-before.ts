import { inputDigest } from '../../../lib/canonical-json.ts'
import type { CallPolicy } from '../call-policy.ts'

const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'

/**
 * Refuses a call with concerns (reasons to ask a person) if the user has denied the same call (same tool, same input) before. The call does
 * not ask again, and no grant covers it.
 */
export const deniedBefore: CallPolicy = {
  name: 'deniedBefore',
  async decide ({ call: { toolName, input } }, { refused }, concerns) {
    const alike = concerns.length === 0 ? [] : refused.filter((call) => call.toolName === toolName)
    if (alike.length === 0) return concerns
    const digest = inputDigest(input)
    return alike.some((call) => call.digest === digest) ? { is: 'deny', reason: REFUSED_BEFORE } : concerns
  }
}
