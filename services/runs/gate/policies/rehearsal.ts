import { needsAny } from '../../../contracts/tool.ts'
import { shownBoundary } from '../../../approvals/index.ts'
import { folderGone } from '../../../tools/index.ts'
import { failedCall } from '../call-end.ts'
import type { Concern } from '../../../approvals/index.ts'
import type { CallPolicy, CheckedCall, Decision, Rehearsal, StepSoFar } from '../call-policy.ts'

const NOT_MADE = 'This is a rehearsal: the call was not made, as it would reach beyond the copy of the folder, and its outcome is ' +
  'unknown. Go on as if it had succeeded.'

/**
 * In a rehearsal, lets a call run if it only reads or changes only the copy. Any other call gets an answer without being executed. A line
 * is added to the sheet (the list that a person checks afterwards) for each call that would need an approval in a real run, and for each
 * call that was not executed. No grant is used up.
 */
export const rehearsal: CallPolicy = {
  name: 'rehearsal',
  async decide (checked, step, concerns) {
    if (step.rehearsal === undefined) return concerns
    if (checked.isRehearsed) return { is: 'run' }
    const decision = await rehearse(checked, step.tools, step.rehearsal, concerns)
    if (decision.is === 'run') checked.isRehearsed = true
    return decision
  }
}

async function rehearse (
  { call, copied, takenBack }: CheckedCall,
  tools: StepSoFar['tools'],
  { cwd, isOnCopy, grants, note }: Rehearsal,
  concerns: Concern[]
): Promise<Decision> {
  const { toolCallId, toolName, input } = call
  const tool = tools.find(toolName)
  if (tool === undefined) return { is: 'run' }
  const isCopied = copied !== undefined
  // If the real run also works on a copy, calls that change only that copy need no approval there either.
  const asking = isOnCopy ? concerns : [...concerns, ...takenBack]
  // Tools that show something to the user, and tools for commands in the background, change no files and reach no servers.
  const isRead = tool.policy.effect === 'read' && tool.effects?.proves === undefined && tool.execute.by === undefined
  if ((isRead || isCopied || needsAny(tool, 'commands')) && asking.length === 0) return { is: 'run' }
  const folder = await tools.folders.of(toolName, input, cwd)
  if (folder === undefined) return { is: 'ended', end: failedCall(call, folderGone(cwd)) }
  const isAsked = asking.length > 0 && await grants.covering(call, folder) === undefined
  if (isRead && !isAsked) return { is: 'run' }
  const { boundary, scopes = [], note: reason } = isAsked ? await grants.describe(call, folder, asking) : {}
  if (boundary?.is === 'refused') return { is: 'ended', end: failedCall(call, boundary.why) }
  const line = {
    ...{ toolCallId, toolName, input, identity: tools.identity(toolName) },
    asks: isAsked,
    reason,
    ...shownBoundary(boundary),
    toolServer: tools.toolServer(toolName),
    scopes: scopes.filter(({ scope }) => scope !== 'once')
  }
  if (isAsked || !isCopied) note({ ...line, outcome: isCopied ? 'copied' : 'unknown' })
  return isCopied ? { is: 'run' } : { is: 'answer', output: { rehearsed: NOT_MADE } }
}
