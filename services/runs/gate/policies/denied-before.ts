import type { CallPolicy } from '../call-policy.ts'

const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'

/** What the user denied is not asked about again, and no grant covers it. */
export const deniedBefore: CallPolicy = {
  name: 'deniedBefore',
  decide: async ({ call }, { wasDenied }, concerns) =>
    concerns.length > 0 && wasDenied(call) ? { is: 'deny', reason: REFUSED_BEFORE } : concerns
}
