import type { CallPolicy } from '../call-policy.ts'

/** A tool asks by its permission: its own, or that of config.permissions. */
export const toolPermission: CallPolicy = {
  name: 'toolPermission',
  async decide ({ call: { toolName } }, { policy, tools }, concerns) {
    if (!policy.asks || tools.permission(toolName) !== 'ask') return concerns
    return [...concerns, { policy: 'toolPermission', reason: 'Calls of this tool ask.' }]
  }
}
