import type { RefusedCall } from '../../../contracts/approval-record.ts'
import type { Call } from '../../../contracts/tool.ts'
import { inputDigest } from '../../../lib/canonical-json.ts'
import type { CallPolicy } from '../call-policy.ts'

const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'

/** Whether the user refused the same call (same tool, same input). */
export const isRefused = (refused: readonly RefusedCall[], { toolName, input }: Call): boolean =>
  refused.some((call) => call.toolName === toolName && call.digest === inputDigest(input))

/** What the user denied is not asked about again, and no grant covers it. */
export const deniedBefore: CallPolicy = {
  name: 'deniedBefore',
  decide: async ({ call }, { wasDenied }, concerns) =>
    concerns.length > 0 && wasDenied(call) ? { is: 'deny', reason: REFUSED_BEFORE } : concerns
}
