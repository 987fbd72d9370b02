import { DENIED, inputDigest, type Approval } from '../approvals/approval-record.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { OUTCOME_UNKNOWN } from '../tools/tool-errors.ts'
import { runInOrder } from '../tools/run-in-order.ts'
import { readInput } from '../tools/read-input.ts'
import { folderGone, type WorkFolder } from '../tools/work-folder.ts'
import { shownFolder, type MovedCall } from '../agent/ask-anew.ts'
import { wasDenied, type ConversationState } from '../agent/refused-calls.ts'
import type { AgentDeps } from '../agent/agent-deps.ts'
import type { ActiveRun } from '../agent/active-runs.ts'
import { recordAnswer } from '../agent/answer-record.ts'
import { checkLength, commit } from '../agent/run-repository.ts'
import type { ToolCall } from './step-writer.ts'

/** A call whose tool exists and whose input holds. */
export interface ReadyCall {
  toolCallId: string
  toolName: string
  input: unknown
}

/** A call that a person is to be asked about, and where it would work. */
export interface AskedCall extends ReadyCall {
  folder: WorkFolder
}

/** A live run's attempt, as the fence counts them. */
export interface RunAttempt {
  live: ActiveRun
  attempt: number
  conversation: ConversationState
}

const NO_STEPS_LEFT = 'The steps of this run are used up; no tool was called.'
const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'

/**
 * Settles the calls of one step: bad ones become tool errors that the model sees, permitted ones run now, the rest
 * are returned for the user to decide.
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
async function withFolders (
  calls: ReadyCall[],
  { live: { run: { head: { cwd }, log } } }: RunAttempt,
  { host }: AgentDeps
): Promise<AskedCall[]> {
  const found = await Promise.all(calls.map(async (call) => ({ ...call, folder: await host.folders.of(call.toolName, call.input, cwd) })))
  return found.flatMap(({ folder, ...call }) => {
    if (folder !== undefined) return [{ ...call, folder }]
    log.append({ type: 'tool-error', toolCallId: call.toolCallId, toolName: call.toolName, errorText: folderGone(cwd) })
    return []
  })
}

/** Answers calls that came although no tools were offered any more, so that none is left open in anybody's view of the run. */
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

/** Runs the permitted calls; returns those whose tool has come to need approval meanwhile, as its server changed it. */
async function runPermitted (calls: ReadyCall[], attempt: RunAttempt, deps: AgentDeps): Promise<ReadyCall[]> {
  const { log } = attempt.live.run
  const changed: ReadyCall[] = []
  await runInOrder(calls, ({ toolName }) => deps.host.find(toolName)?.effect === 'read', async (call) => {
    checkLength(log)
    if (deps.host.permission(call.toolName) !== 'allow') {
      changed.push(call)
      return
    }
    // The tool as it is now: one that is replaced while its server reconnects may need approval.
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

async function execute (
  { toolCallId, toolName, input, identity, folder }: ReadyCall & { identity?: string, folder?: WorkFolder },
  { live, attempt }: RunAttempt,
  { host }: AgentDeps
): Promise<RunEvent> {
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
  return result.status === 'complete'
    ? { type: 'tool-output', toolCallId, toolName, output: result.output }
    : { type: 'tool-error', toolCallId, toolName, errorText: result.errorText }
}

const interrupted = ({ toolCallId, toolName }: Pick<ReadyCall, 'toolCallId' | 'toolName'>): RunEvent => ({
  type: 'tool-error',
  toolCallId,
  toolName,
  errorText: OUTCOME_UNKNOWN
})

/**
 * Carries out what was decided about the calls of a step, in their order. A tool runs only after `executing` is on
 * disk; one that is found there later has an unknown outcome and never runs again. The thread learns every outcome at once.
 * Returns the approved calls that did not run since they would work in another folder than the one that was shown;
 * approved calls behind the first of these stay as they are until it is decided anew, so that the order is kept.
 */
export async function settleDecided (approvals: Approval[], attempt: RunAttempt, deps: AgentDeps): Promise<MovedCall[]> {
  const { run } = attempt.live
  const { ledger, host } = deps
  const moved: MovedCall[] = []
  const settle = async (approval: Approval, state: Approval['state'], outcome: RunEvent) =>
    commit(run, deps, { tail: [outcome], ops: [ledger.move(approval, state).op, ...await recordAnswer(run, deps, [outcome])] })
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
        tail: [{ type: 'tool-denied', toolCallId, toolName, reason: 'Nobody answered in time.' }],
        ops: ledger.expire(approval)
      })
    }
  }
  // What is asked anew is committed with the rest of the segment.
  if (moved.length === 0 && run.stored < run.log.events.length) await commit(run, deps)
  return moved
}

function hasOutcome (events: readonly RunEvent[], { toolCallId }: Approval) {
  return events.some((event) =>
    'toolCallId' in event && event.toolCallId === toolCallId &&
    (event.type === 'tool-output' || event.type === 'tool-error' || event.type === 'tool-denied')
  )
}
