import { boundTo, type ToolItem, type WaitingCall } from '../../contracts/approval-record.ts'
import type { Boundary } from '../../contracts/boundary.ts'
import type { Call, ShownPlace, WorkFolder } from '../../contracts/tool.ts'
import { folderGone } from '../../tools/index.ts'
import { type CallEnd, failedCall } from './call-end.ts'
import type { Concern } from './call-policy.ts'
import type { SettledStep } from './settled-step.ts'

type ApprovalRequest = Extract<WaitingCall, { kind: 'tool' }>

/** Returns the request for the approval of a call, with all that a person is shown; or the end of a call that cannot run. */
export async function requestApproval (
  call: Call,
  step: SettledStep,
  concerns: readonly Concern[]
): Promise<ApprovalRequest | { end: CallEnd }> {
  const { tools, grants, run: { cwd } } = step
  const identity = tools.identity(call.toolName)
  const folder = await tools.folders.of(call.toolName, call.input, cwd)
  if (folder === undefined) return { end: failedCall(call, folderGone(cwd)) }
  const offer = await grants.offer(call, folder, concerns)
  if (offer.boundary?.is === 'refused') return { end: failedCall(call, offer.boundary.why) }
  const bound = await bindRequest(call, folder, step)
  const reasons = concerns.map(({ policy, reason }) => ({ policy, text: reason }))
  return { ...describeCall(call, folder, step), identity, ...bound, ...await withOutlook(call, offer, step), reasons }
}

/** Returns the request for an approved call that would not do what was shown; the approved calls behind it wait. */
export async function requestAgain (
  call: Call,
  { correctedInput }: ToolItem,
  folder: WorkFolder,
  step: SettledStep,
  bound: { shown: ShownPlace[], note: string, asks: number }
): Promise<ApprovalRequest> {
  const { tools, grants, run: { cwd } } = step
  step.isHeld = true
  const identity = tools.identity(call.toolName)
  const input = correctedInput ?? call.input
  const boundary = await tools.boundary({ name: call.toolName, input, cwd, folder })
  // A corrected input is approved for this call alone.
  const isCorrected = correctedInput !== undefined
  const offer = isCorrected ? { correctedInput, boundary } : await grants.offer(call, folder, [])
  const others = await grants.othersOf(bound.shown)
  const teaching = isCorrected ? {} : await grants.teaching(call, folder, { ...bound, others })
  const outlook = await withOutlook({ ...call, input }, offer, step)
  const reasons = [{ policy: 'stillAsShown' as const, text: bound.note }]
  return { ...describeCall(call, folder, step), identity, ...outlook, ...bound, ...teaching, reasons }
}

const describeCall = ({ toolCallId, toolName, input }: Call, folder: WorkFolder, { tools }: SettledStep) =>
  ({ kind: 'tool' as const, toolCallId, toolName, input, ...boundTo(folder), toolServer: tools.toolServer(toolName) })

/** Adds to where a command would run what of it could be undone. */
async function withOutlook<T extends { boundary?: Boundary }> (
  { toolName: name, input }: Call,
  offer: T,
  { tools, run: { cwd, signal } }: SettledStep
): Promise<T> {
  if (offer.boundary === undefined) return offer
  const undo = await tools.outlook({ name, input, cwd, signal })
  return { ...offer, boundary: { ...offer.boundary, ...(undo !== undefined && { undo }) } }
}

/** Returns what the approval of a call is bound to, behind the calls that are asked before it. */
async function bindRequest (call: Call, folder: WorkFolder, { tools, grants, ahead, run: { cwd, signal } }: SettledStep) {
  const seen = await tools.foresee({ name: call.toolName, input: call.input, cwd, folder, signal }, ahead.files)
  const behind = [...ahead.calls]
  const leaves = seen?.preview?.leaves
  const shown = seen?.shown ?? []
  // What a call in front of this one leaves is of others if what it found was.
  const others = (await grants.othersOf(shown))?.filter((path) => !ahead.files.has(path) || ahead.others.has(path))
  for (const [path, content] of leaves ?? []) {
    ahead.files.set(path, content)
    if (others !== undefined && others.length > 0) ahead.others.add(path)
  }
  if (leaves !== undefined) ahead.calls.push(call.toolCallId)
  const teaching = await grants.teaching(call, folder, { shown, others })
  return { shown, ...teaching, ...(behind.length > 0 && seen && { behind }) }
}
