import { isDeepStrictEqual } from 'node:util'
import { inputDigest } from '../../lib/canonical-json.ts'
import { shownFolder, type ToolItem, type WaitingCall } from '../../contracts/approval-record.ts'
import { OUTCOME_UNKNOWN } from '../../contracts/model-texts.ts'
import type { ShownPlace, WorkFolder } from '../../contracts/tool.ts'
import {
  askedAgain,
  type CallLeft,
  changedPlaces,
  changedSince,
  folderGone,
  type KeptCall,
  type ToolHost,
  within
} from '../../tools/index.ts'
import { type CallEnd, completedCall, failedCall, withCorrection } from './call-end.ts'
import type { Concern, Granted } from '../../approvals/index.ts'
import type { CheckedCall } from './call-policy.ts'
import { requestAgain } from './request-approval.ts'
import type { SettledStep } from './settled-step.ts'

/**
 * The result for a call that was to run. `over`: the call has ended. `asked`: a person must be asked once more. `refused`: the call is not
 * what was allowed.
 */
type Outcome = { is: 'over' } | { is: 'asked', request: WaitingCall } | { is: 'refused', concerns: Concern[] }
const OVER: Outcome = { is: 'over' }

type Result = Awaited<ReturnType<ToolHost['execute']>>

/** The state of a call during the steps of EXECUTION. */
interface Execution {
  checked: CheckedCall
  step: SettledStep
  /** The input of the model, or the input with which the person replaced it. */
  input: unknown
  approval?: ToolItem
  granted?: Granted
  /** The folder for which the call was approved or granted. */
  folder?: WorkFolder
  /** The identity of the tool that was approved; the tool might have been replaced since. */
  identity?: string
  /**
   * Whether the intent (the record that the tool is about to start) is stored before the call starts, and the outcome when the call has
   * ended.
   */
  isDurable: boolean
  kept?: KeptCall & { paths?: string[] }
  paths?: string[]
  /** The states that the paths of the call must have. */
  shown?: readonly ShownPlace[]
  result?: Result
}

/** One step of the execution. A returned outcome ends the execution. */
type ExecutionStep = (execution: Execution) => Promise<Outcome | undefined>

/** The steps of the execution of a call, in this order. */
const EXECUTION: readonly ExecutionStep[] = [stillAsShown, keepForUndo, intent, run, record]

/** Runs a checked call, after the intent and the copies of what the call is about to change are on disk. Rejects if the run is aborted. */
export async function executeCall (checked: CheckedCall, step: SettledStep, granted?: Granted): Promise<Outcome> {
  const execution = openExecution(checked, step, granted)
  step.checkLimit()
  for (const part of EXECUTION) {
    const outcome = await part(execution)
    if (outcome !== undefined) return outcome
  }
  return OVER
}

/**
 * Hands out a call to the application. Before that, stores the use of a grant, and the record that an undo will not cover what the call
 * might change.
 */
export async function handOutCall (checked: CheckedCall, step: SettledStep, granted?: Granted): Promise<Outcome> {
  const { input } = openExecution(checked, step, granted)
  const { call } = checked
  const { by, ...app } = step.tools.find(call.toolName)!.execute
  step.checkLimit()
  const named = await step.tools.keep({ ...agreedCall(checked, step), input })
  const ops = 'errorText' in named ? [] : named.ops
  if (granted === undefined) await step.store(ops)
  else if (!await step.begin(call, true, ops, granted.grant)) return refuse({ checked })
  const { toolCallId, toolName } = call
  return { is: 'asked', request: { kind: 'app', toolCallId, toolName, input, ...app } }
}

function openExecution (checked: CheckedCall, step: SettledStep, granted: Granted | undefined): Execution {
  const { call } = checked
  const { approval } = step.itemsOf(call.toolCallId)
  const agreed = approval ?? granted?.grant
  const isRead = step.tools.find(call.toolName)?.policy.effect === 'read'
  return {
    ...{ checked, step, approval, granted },
    input: approval?.correctedInput ?? call.input,
    folder: approval === undefined ? granted?.folder : shownFolder(approval),
    identity: agreed === undefined ? step.tools.identity(call.toolName) : agreed.identity,
    isDurable: agreed !== undefined || !isRead
  }
}

const agreedCall = ({ call: { toolCallId: callId, toolName: name } }: CheckedCall, { run: { runId, owner, cwd, signal } }: SettledStep) =>
  ({ name, callId, runId, owner, cwd, signal })

/** Refuses a call that is not what was allowed, or whose grant has ended, and returns the concerns (the reasons) for asking a person. */
function refuse ({ checked }: Pick<Execution, 'checked'>): Outcome {
  const { takenBack } = checked
  checked.copied = undefined
  return { is: 'refused', concerns: takenBack.length > 0 ? takenBack : [NOT_AS_ALLOWED] }
}

const NOT_AS_ALLOWED: Concern = { policy: 'workingCopy', reason: 'It would change more than the copy that the run works in.' }

async function end ({ checked, step }: Execution, ended: CallEnd): Promise<Outcome> {
  await step.end(checked.call, ended)
  return OVER
}

/**
 * Checks that the folder of the call is the one that was shown to the person. An approved call asks again if its folder has moved, and ends
 * if the folder is gone.
 */
async function stillAsShown (execution: Execution): Promise<Outcome | undefined> {
  const { checked: { call }, step, input, approval, folder } = execution
  const { tools, run: { cwd, signal } } = step
  const where = folder && await tools.folders.whereabouts(call.toolName, input, cwd, folder)
  if (where?.is === 'moved') {
    if (approval === undefined) return refuse(execution)
    const seen = await tools.foresee({ name: call.toolName, input, cwd, folder: where.to, signal })
    const bound = { shown: seen?.shown ?? [], note: askedAgain(folder!.path, where.to), asks: approval.asks ?? 0 }
    return { is: 'asked', request: await requestAgain(call, approval, where.to, step, bound) }
  }
  if (step.isHeld && approval !== undefined) return OVER
  if (where?.is === 'gone') return end(execution, failedCall(call, folderGone(folder!.path)))
  signal.throwIfAborted()
  return undefined
}

/** Copies what the call is about to change, for an undo, and compares it with what was allowed. */
async function keepForUndo (execution: Execution): Promise<Outcome | undefined> {
  const { checked, step, input, granted, folder, identity } = execution
  const kept = await step.tools.keep({ ...agreedCall(checked, step), input, identity, folder })
  if ('errorText' in kept) return end(execution, failedCall(checked.call, kept.errorText))
  const { paths = granted?.paths } = kept
  Object.assign(execution, { kept, paths })
  const outcome = leadsElsewhere(execution) ? refuse(execution) : await compareWithShown(execution)
  if (outcome !== undefined) await kept.discard()
  return outcome
}

/** Whether a call without an approval would change a path outside its copy, or a path that its grant does not cover. */
function leadsElsewhere ({ checked: { copied }, approval, granted, paths }: Execution): boolean {
  if (approval !== undefined) return false
  if (copied !== undefined && !(paths ?? []).every((path) => within(path, copied.copy))) return true
  return granted?.paths !== undefined && !isDeepStrictEqual(granted.paths, paths)
}

/**
 * Compares what is at the paths of a call with what was shown at its approval, or with what was learned. Returns undefined if nothing
 * differs, or if nothing was shown.
 */
async function compareWithShown (execution: Execution): Promise<Outcome | undefined> {
  const { checked: { call }, step, input, approval, granted, folder } = execution
  const agreed = approval?.shown ?? granted?.shown
  if (agreed === undefined) return undefined
  const seen = await step.tools.foresee({ name: call.toolName, input, cwd: step.run.cwd, folder, signal: step.run.signal })
  // If the call is approved, the tool itself refuses it with the reason.
  if (seen === undefined || seen.refused !== undefined) return approval === undefined ? refuse(execution) : undefined
  const expected = approval?.unbound ? agreed.map(({ state, ...place }) => place) : agreed
  const preview = approval?.unbound ? undefined : approval?.previewDigest
  // A person whose preview differed from the request approved only that preview, even if the files are now again as in the request.
  const isOther = preview !== undefined && preview !== inputDigest(agreed)
  const changed = preview === inputDigest(seen.shown)
    ? []
    : isOther ? seen.shown.map(({ path }) => path) : await changedPlaces(expected, seen.shown)
  execution.shown = approval?.unbound ? expected : seen.shown
  if (changed.length === 0) return undefined
  if (approval === undefined) return refuse(execution)
  const bound = { shown: seen.shown, note: changedSince(changed), asks: (approval.asks ?? 0) + 1 }
  return { is: 'asked', request: await requestAgain(call, approval, folder!, step, bound) }
}

/** Stores in one transaction the intent, the names of the copies for undo, the use of the grant, and the grants that this call suspends. */
async function intent (execution: Execution): Promise<Outcome | undefined> {
  const { checked, step, approval, granted, isDurable, kept, paths = [] } = execution
  // A granted command might execute a file that is written without an approval.
  const resting = approval === undefined ? await step.grants.suspend(paths, granted?.grant) : []
  try {
    if (await step.begin(checked.call, isDurable, [...kept!.ops, ...resting], granted?.grant)) return undefined
  } catch (error) {
    await kept!.discard()
    throw error
  }
  await kept!.discard()
  return refuse(execution)
}

async function run (execution: Execution): Promise<undefined> {
  const { checked, step, input, approval, granted, folder, identity, paths, shown } = execution
  const { call, copied } = checked
  const { addresses, grants, ask, progress, run: { attempt } } = step
  const approvedIn = approval?.boundary?.is === 'confined' ? approval.boundary.folder : undefined
  const confinedTo = approvedIn ?? granted?.confinedTo ?? copied?.confinedTo
  execution.result = await orUnknown(execution, () => step.tools.execute({
    ...{ ...agreedCall(checked, step), input, identity, folder, attempt, paths, shown, confinedTo },
    progress: (each) => progress?.(call, each),
    mayRedirect: (from, to) => addresses.mayRedirect(call.toolName, { from, to }, (host) => grants.coversHost(call.toolName, host)),
    innerAddresses: addresses.inner,
    ask: ask && ((questions) => ask(call, questions))
  }))
}

/** Stores how the call ended, and what it changed. */
async function record (execution: Execution): Promise<Outcome> {
  const { checked: { call }, step, approval, kept, result } = execution
  const { durationMs, changes, stays, ...outcome } = result!
  const { event, state } = outcome.status === 'completed'
    ? completedCall(call, { output: outcome.output })
    : failedCall(call, outcome.errorText)
  if (stays !== undefined) kept!.finishAfter?.(stays)
  const isOver = stays === undefined || kept!.finishAfter === undefined
  const output = event.type === 'tool-output' ? event.output : {}
  const left: CallLeft = isOver ? await orUnknown(execution, () => kept!.finish({ changes, output })) : { ops: [] }
  const found = changes ?? left.changes
  const ops = [...left.ops, ...await orUnknown(execution, () => step.grants.made(call, changes))]
  return end(execution, { event: { ...withCorrection(event, approval), ...(found && { changes: found }) }, state, durationMs, ops })
}

/**
 * Does the work. If it fails, ends the call with an unknown outcome, because nobody knows how much of the call was done, and rejects with
 * the same error.
 */
async function orUnknown<T> ({ checked: { call }, step, isDurable, kept }: Execution, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { ops } = await kept!.finish()
    if (isDurable || !step.repeatsReads) await step.end(call, { ...failedCall(call, OUTCOME_UNKNOWN, 'unknown'), ops })
    throw error
  }
}
