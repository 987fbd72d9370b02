import { folderGone } from '../../../tools/index.ts'
import { failedCall } from '../call-end.ts'
import type { CallPolicy } from '../call-policy.ts'

/** Lets a call with concerns (reasons to ask a person) run if a grant of its conversation or task covers it. */
export const grants: CallPolicy = {
  name: 'grants',
  async decide (checked, { run: { cwd }, tools, grants }, concerns) {
    if (concerns.length === 0 || grants === undefined) return concerns
    const { call } = checked
    const folder = await tools.folders.of(call.toolName, call.input, cwd)
    if (folder === undefined) return { is: 'ended', end: failedCall(call, folderGone(cwd)) }
    const because = await grants.covering(call, folder)
    if (because === undefined) return concerns
    checked.takenBack = concerns
    return { is: 'run', because }
  }
}
