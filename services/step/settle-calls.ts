import { DENIED, inputDigest, type Approval } from '../approvals/approval-record.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { OUTCOME_UNKNOWN } from '../tools/tool-errors.ts'
import { runInOrder } from '../tools/run-in-order.ts'
import { readInput } from '../tools/read-input.ts'
import { folderGone, type WorkFolder } from '../tools/work-folder.ts'
import { shownFolder, type MovedCall } from '../approvals/approved-folder.ts'
import { wasDenied, type ConversationState } from '../agent/refused-calls.ts'
import type { AgentDeps } from '../agent/agent-deps.ts'
import type { ActiveRun } from '../agent/active-runs.ts'
import { recordAnswer } from '../agent/answer-record.ts'
import { checkLength, commit } from '../agent/run-repository.ts'
import type { ToolCall } from './step-writer.ts'

/** A call whose tool exists and whose input is valid. */
export interface ReadyCall {
  toolCallId: string
  toolName: string
  input: unknown
}

/** A call that needs an approval, with its working folder. */
export interface AskedCall extends ReadyCall {
  folder: WorkFolder
}

/** One execution of an active run, with its number at the fence. */
export interface RunAttempt {
  live: ActiveRun
  attempt: number
  conversation: ConversationState
}

const NO_STEPS_LEFT = 'The steps of this run are used up; no tool was called.'
const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'

/**
 * Settles the calls of one step: an invalid call becomes a tool error that the model sees, a permitted call runs now, and a
 * refused call is refused again. Returns the calls that need an approval.
 */
export async function settleCalls (calls: ToolCall[], attempt: RunAttempt, deps: AgentDeps): Promise<AskedCall[]> {
  const { log } = attempt.live.run
  const permitted: ReadyCall[] = []
  const questions: ReadyCall[] = []
  const ask = (call: ReadyCall) => {
    const { toolCallId, toolName, input } = call
    if (!wasDenied(attempt.conversation, toolName, inputDigest(input))) questions.push(call)
    else log.append({ type: 'tool-denied', toolCallId, toolName, reason: REFUSED_BEFORE })
  }
  for (const { toolCallId, toolName, input: text, providerMetadata } of calls) {
    const checked = readInput(toolName, text, deps.host.validate)
    if (!checked.ok) {
      log.append({ type: 'tool-input-error', toolCallId, toolName, input: checked.input, errorText: checked.error, providerMetadata })
      continue
    }
    const call = { toolCallId, toolName, input: checked.input }
    log.append({ type: 'tool-input', ...call, providerMetadata })
    if (deps.host.permission(toolName) === 'allow') permitted.push(call)
    else ask(call)
  }
  const changed = await runPermitted(permitted, attempt, deps)
  changed.forEach(ask)
  return withFolders(questions, attempt, deps)
}

/** Finds where each call would work, which is shown with the question; a call without a folder fails instead. */
async function withFolders (calls: ReadyCall[], { live }: RunAttempt, { host }: AgentDeps): Promise<AskedCall[]> {
  const { head: { cwd }, log } = live.run
  const found = await Promise.all(calls.map(async (call) => ({ ...call, folder: await host.folders.of(call.toolName, call.input, cwd) })))
  return found.flatMap(({ folder, ...call }) => {
    if (folder !== undefined) return [{ ...call, folder }]
    log.append({ type: 'tool-error', toolCallId: call.toolCallId, toolName: call.toolName, errorText: folderGone(cwd) })
    return []
  })
}

/** Answers calls that the model made although tools were no longer offered, so that no reader shows them as open. */
export function refuseCalls (calls: ToolCall[], { live: { run: { log } } }: RunAttempt, deps: AgentDeps) {
  for (const { toolCallId, toolName, input: text, providerMetadata } of calls) {
    log.append({
      type: 'tool-input-error',
      toolCallId,
      toolName,
      input: readInput(toolName, text, deps.host.validate).input,
      errorText: NO_STEPS_LEFT,
      providerMetadata
    })
  }
}

/** Runs the permitted calls. Returns the calls whose tool needs an approval by now, because its server changed it meanwhile. */
async function runPermitted (calls: ReadyCall[], attempt: RunAttempt, deps: AgentDeps): Promise<ReadyCall[]> {
  const { log } = attempt.live.run
  const changed: ReadyCall[] = []
  await runInOrder(calls, ({ toolName }) => deps.host.find(toolName)?.effect === 'read', async (call) => {
    checkLength(log)
    if (deps.host.permission(call.toolName) !== 'allow') {
      changed.push(call)
      return
    }
    // Bind the call to the current tool: a tool that is replaced while its server reconnects may need an approval.
    const identity = deps.host.identity(call.toolName)
    log.append(
      await execute({ ...call, identity }, attempt, deps).catch((error) => {
        log.append(interrupted(call))
        throw error
      })
    )
  })
  return changed
}

/** A call with what was agreed to: which tool, and where. */
interface AgreedCall extends ReadyCall {
  identity?: string
  folder?: WorkFolder
}

async function execute (call: AgreedCall, { live, attempt }: RunAttempt, { host }: AgentDeps): Promise<RunEvent> {
  const { toolCallId, toolName, input, identity, folder } = call
  const { runId, cwd } = live.run.head
  const result = await host.execute({
    name: toolName,
    input,
    runId,
    attempt,
    callId: toolCallId,
    cwd,
    signal: live.signal,
    identity,
    folder
  })
  const { changes } = result
  return result.status === 'complete'
    ? { type: 'tool-output', toolCallId, toolName, output: result.output, ...(changes && { changes }) }
    : { type: 'tool-error', toolCallId, toolName, errorText: result.errorText, ...(changes && { changes }) }
}

const interrupted = ({ toolCallId, toolName }: Pick<ReadyCall, 'toolCallId' | 'toolName'>): RunEvent => ({
  type: 'tool-error',
  toolCallId,
  toolName,
  errorText: OUTCOME_UNKNOWN
})

/**
 * Executes the decisions on the calls of a step, in their order. A tool runs only after the state `executing` is on disk. A
 * call that is found in that state later has an unknown outcome and never runs again. Each outcome is stored in the thread
 * immediately. Returns the approved calls that did not run because their working folder is no longer the one that was shown.
 * Approved calls behind the first of these stay approved until that one is decided again, so that the order is kept.
 */
export async function executeDecisions (approvals: Approval[], attempt: RunAttempt, deps: AgentDeps): Promise<MovedCall[]> {
  const { run } = attempt.live
  const { ledger, host } = deps
  const moved: MovedCall[] = []
  const settle = async (approval: Approval, state: Approval['state'], outcome: RunEvent) =>
    commit(run, deps, { finalEvents: [outcome], ops: [ledger.move(approval, state).op, ...await recordAnswer(run, deps, [outcome])] })
  for (const approval of approvals) {
    const { toolCallId, toolName } = approval
    if (hasOutcome(run.log.events, approval)) continue
    if (approval.state === 'approved') {
      const folder = shownFolder(approval)
      const where = folder && await host.folders.whereabouts(toolName, approval.input, run.head.cwd, folder)
      if (where?.is === 'moved') moved.push({ approval, to: where.to })
      if (moved.length > 0) continue
      if (where?.is === 'gone') {
        await settle(approval, 'done', { type: 'tool-error', toolCallId, toolName, errorText: folderGone(approval.cwd) })
        continue
      }
      const executing = ledger.move(approval, 'executing')
      await commit(run, deps, { ops: [executing.op] })
      let outcome: RunEvent
      try {
        outcome = await execute({ ...approval, folder }, attempt, deps)
      } catch (error) {
        await settle(executing.approval, 'unknown', interrupted(approval))
        throw error
      }
      await settle(executing.approval, 'done', outcome)
    } else if (approval.state === 'executing' || approval.state === 'unknown') {
      await settle(approval, 'unknown', interrupted(approval))
    } else if (approval.state === 'denied') {
      run.log.append({ type: 'tool-denied', toolCallId, toolName, reason: approval.reason ?? DENIED, approvalId: approval.approvalId })
    } else {
      await commit(run, deps, {
        finalEvents: [{ type: 'tool-denied', toolCallId, toolName, reason: 'Nobody answered in time.' }],
        ops: ledger.expire(approval)
      })
    }
  }
  // Requests for moved calls are committed with the end of the segment.
  if (moved.length === 0 && run.stored < run.log.events.length) await commit(run, deps)
  return moved
}

function hasOutcome (events: readonly RunEvent[], { toolCallId }: Approval) {
  return events.some((event) =>
    'toolCallId' in event && event.toolCallId === toolCallId &&
    (event.type === 'tool-output' || event.type === 'tool-error' || event.type === 'tool-denied')
  )
}
