import type { CallPolicy } from '../call-policy.ts'
import { asksThoughAllowed } from '../run-policy.ts'

/** A tool may ask about this very call, though it does not ask about others. */
export const toolQuestion: CallPolicy = {
  name: 'toolQuestion',
  async decide (checked, { run: { runId, cwd }, policy, tools, addresses }, concerns) {
    const { toolName, input } = checked.call
    const tool = tools.find(toolName)
    if (concerns.length > 0 || tool?.policy.answeredBy !== undefined || checked.ownConcerns !== undefined) return concerns
    const about = { runId, cwd, textOfOthers: addresses?.textOfOthers }
    const asks = tool?.policy.permission
    const reason = typeof asks === 'function' && asksThoughAllowed(policy, tools, toolName) ? await asks(input, about) : undefined
    checked.ownConcerns = reason === undefined ? [] : [{ policy: 'toolQuestion', isOfCall: true, reason }]
    return checked.ownConcerns
  }
}
