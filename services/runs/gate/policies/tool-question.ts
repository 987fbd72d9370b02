import { isOpenedPath } from '../../../lib/obeyed-names.ts'
import type { CallPolicy, CheckedCall, StepSoFar } from '../call-policy.ts'
import { asksThoughAllowed } from '../run-policy.ts'

/**
 * Adds a concern (a reason to ask a person) if the tool asks about this particular call, even if the tool is allowed in general, or if the
 * call writes files that programs execute, or act on by themselves, when somebody opens their folder.
 */
export const toolQuestion: CallPolicy = {
  name: 'toolQuestion',
  async decide (checked, step, concerns) {
    const { run: { runId, cwd }, policy, tools, addresses } = step
    const { toolName, input } = checked.call
    const tool = tools.find(toolName)
    if (concerns.length > 0 || tool?.execute.by !== undefined || checked.ownConcerns !== undefined) return concerns
    const about = { runId, cwd, textOfOthers: addresses?.textOfOthers }
    const { permission } = tool?.policy ?? {}
    const asks = typeof permission === 'object' ? permission.everyTime : permission
    const own = typeof asks === 'function' && asksThoughAllowed(policy, tools, toolName) ? await asks(input, about) : undefined
    const reason = own ?? await findOpened(checked, step)
    checked.ownConcerns = reason === undefined ? [] : [{ policy: 'toolQuestion', isOfCall: true, reason }]
    return checked.ownConcerns
  }
}

/**
 * Returns why a call that writes a file needs an approval although its tool is allowed: programs act on the file by themselves. Undefined
 * for other files, on a copy (because applying the copy asks), and if the tool cannot say which files the call would change.
 */
async function findOpened ({ call, copied }: CheckedCall, { policy, tools, run: { cwd } }: StepSoFar): Promise<string | undefined> {
  const files = policy.asks && copied === undefined ? tools.find(call.toolName)?.effects?.files : undefined
  const found = await files?.(call.input, { cwd, givenCwd: cwd }).catch(() => undefined)
  const opened = found?.changed.find(({ path }) => isOpenedPath(path))
  return opened && `Programs obey ${JSON.stringify(opened.path)} as soon as somebody opens or enters its folder.`
}
