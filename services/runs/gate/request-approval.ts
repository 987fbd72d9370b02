import { boundTo, type ToolItem, type WaitingCall } from '../../contracts/approval-record.ts'
import type { Call, WorkFolder } from '../../contracts/tool.ts'
import { folderGone } from '../../tools/index.ts'
import { type CallEnd, failedCall } from './call-end.ts'
import type { Concern } from '../../approvals/index.ts'
import type { SettledStep } from './settled-step.ts'

type ApprovalRequest = Extract<WaitingCall, { kind: 'tool' }>

/**
 * Returns the approval request for a call, with everything that is shown to the person. If the call would fail, returns its end instead,
 * and nobody is asked.
 */
export async function requestApproval (
  call: Call,
  step: SettledStep,
  concerns: readonly Concern[]
): Promise<ApprovalRequest | { end: CallEnd }> {
  const { tools, run: { cwd } } = step
  const folder = await tools.folders.of(call.toolName, call.input, cwd)
  if (folder === undefined) return { end: failedCall(call, folderGone(cwd)) }
  const { refused, ...bound } = await bindRequest(call, folder, step)
  if (refused !== undefined) return { end: failedCall(call, refused) }
  const request = await describeRequest(call, folder, step, { ...bound, concerns })
  return request.boundary?.is === 'refused' ? { end: failedCall(call, request.boundary.why) } : request
}

/** Returns the new request for an approved call that would no longer do what was shown. The approved calls after it wait. */
export async function requestAgain (
  call: Call,
  { correctedInput }: ToolItem,
  folder: WorkFolder,
  step: SettledStep,
  bound: Required<Pick<ToolItem, 'shown' | 'note' | 'asks'>>
): Promise<ApprovalRequest> {
  step.isHeld = true
  const others = await step.grants.othersOf(bound.shown)
  const concerns: Concern[] = [{ policy: 'stillAsShown', reason: bound.note }]
  return describeRequest(call, folder, step, { ...bound, correctedInput, others, concerns })
}

/**
 * What the approval of a call is valid for: the state of the call's paths and, if the call asks again, the reason and the person's
 * corrected input.
 */
interface Bound extends Pick<ToolItem, 'shown' | 'others' | 'behind' | 'note' | 'asks' | 'correctedInput'> {
  concerns: readonly Concern[]
}

async function describeRequest (
  { toolCallId, toolName, input }: Call,
  folder: WorkFolder,
  { tools, grants, run: { cwd, signal } }: SettledStep,
  { concerns, ...bound }: Bound
): Promise<ApprovalRequest> {
  const { correctedInput = input } = bound
  const call = { name: toolName, input: correctedInput, cwd, folder, signal }
  // A corrected input is approved only for this call.
  const { boundary, ...offer } = bound.correctedInput !== undefined
    ? { boundary: await tools.boundary(call) }
    : await grants.describe({ toolName, input }, folder, concerns, bound)
  const undo = boundary && await tools.outlook(call)
  const { others, ...seen } = bound
  return {
    ...{ kind: 'tool', toolCallId, toolName, input, ...boundTo(folder), toolServer: tools.toolServer(toolName) },
    identity: tools.identity(toolName),
    ...offer,
    boundary: boundary && { ...boundary, ...(undo !== undefined && { undo }) },
    ...seen,
    reasons: concerns.map(({ policy, reason }) => ({ policy, text: reason }))
  }
}

/**
 * Returns what the approval of a call is valid for, given the files that the calls before it in the step would leave. `refused` is why the
 * call would fail; it is left out if an earlier call might change that.
 */
async function bindRequest (call: Call, folder: WorkFolder, { tools, grants, ahead, run: { cwd, signal } }: SettledStep) {
  const seen = await tools.foresee({ name: call.toolName, input: call.input, cwd, folder, signal }, ahead.files)
  const behind = [...ahead.calls]
  const leaves = seen?.preview?.leaves
  const shown = seen?.shown ?? []
  // If an earlier call changes a file of others, the file that it leaves counts as a file of others, too.
  const others = (await grants.othersOf(shown))?.filter((path) => !ahead.files.has(path) || ahead.others.has(path))
  for (const [path, content] of leaves ?? []) {
    ahead.files.set(path, content)
    if (others !== undefined && others.length > 0) ahead.others.add(path)
  }
  const refused = ahead.isKnown ? seen?.refused : undefined
  if (leaves !== undefined) ahead.calls.push(call.toolCallId)
  else if (refused === undefined) ahead.isKnown = false
  return { shown, others, refused, ...(behind.length > 0 && seen && { behind }) }
}
