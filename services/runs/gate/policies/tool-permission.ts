import type { ToolEffect } from '../../../contracts/tool.ts'
import type { CallPolicy } from '../call-policy.ts'

/** Adds a concern (a reason to ask a person) if the permission of the tool is `ask`, by its own definition or in config.permissions. */
export const toolPermission: CallPolicy = {
  name: 'toolPermission',
  async decide ({ call: { toolName } }, { policy, tools }, concerns) {
    if (!policy.asks || tools.permission(toolName) !== 'ask') return concerns
    return [...concerns, { policy: 'toolPermission', reason: reasonOf(tools.find(toolName)?.policy.effect) }]
  }
}

function reasonOf (effect: ToolEffect | undefined): string {
  switch (effect) {
    case 'read':
      return 'This tool only reads, and your settings or its server say that it asks.'
    case 'write':
      return 'This tool can change files or what the service keeps.'
    case 'external':
      return 'What this tool does is not known beforehand.'
    case undefined:
      return 'Nobody knows what this tool does.'
  }
}
