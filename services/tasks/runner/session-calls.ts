import type { Phase } from '../../../schemas/tasks.ts'
import type { RunEvent } from '../../run-log/run-events.ts'
import type { Tool } from '../../tools/tool.ts'
import { OUTCOME_UNKNOWN } from '../../tools/tool-errors.ts'
import { runInOrder } from '../../tools/run-in-order.ts'
import { forModel } from '../../tools/model-output.ts'
import { createValidator } from '../../tools/input-validator.ts'
import { askedAgain, folderGone, type WorkFolder } from '../../tools/work-folder.ts'
import type { Validation } from '../../tools/host.ts'
import type { RunDeps } from '../task-deps.ts'
import { BudgetExceeded } from '../task-errors.ts'
import { runEvents, type TaskLogEvent } from '../run-history.ts'
import { createPhaseTool, PHASE_TOOL } from './phases.ts'
import { learnedToolKey, type StoredRun, type StoredTask } from '../task-records.ts'
import { openCalls } from './worker-loop.ts'

const MIB = 1024 * 1024
/** Characters of tool output that a run may collect. All of it is stored, and held in memory while the run executes. */
const MAX_OUTPUT_CHARACTERS = 32 * MIB

type Call = ReturnType<typeof openCalls>[number]

/** A call that needs a person's approval, the folder it would work in, and the reason when it is asked again. */
export type AskedCall = Call & { shown: WorkFolder, reason?: string }

interface Parts {
  task: StoredTask
  current: () => StoredRun
  log: readonly TaskLogEvent[]
  record: (changes: Partial<StoredRun>, fresh?: TaskLogEvent[]) => Promise<void>
  attempt: number
  signal: AbortSignal
  deps: RunDeps
}

export type SessionCalls = ReturnType<typeof createSessionCalls>

/** Executes the tool calls of a run: decides which run and which need approval, and records each before and after it runs. */
export function createSessionCalls ({ task, current, log, record, attempt, signal, deps }: Parts) {
  const { host, emit } = deps
  const { runId } = current()
  const running = new Set<Promise<unknown>>()
  const invalid = createValidator()
  let movedPhases: Phase[] | undefined
  const phaseTool = createPhaseTool({
    phases: () => movedPhases ?? current().phases,
    move: ({ phases }) => {
      movedPhases = phases
    }
  })
  const callsToAsk: AskedCall[] = []
  /** An approved call needs a new approval; approved calls behind it wait, so that the order is kept. */
  let isHeld = false
  const sizeOf = (event: TaskLogEvent) => event.type === 'tool-output' ? JSON.stringify(event.output).length : 0
  let outputCharacters = log.reduce((sum, event) => sum + sizeOf(event), 0)

  /** Whether the tool needs a person's approval before it runs. */
  function needsApproval (toolName: string): boolean {
    const { mode } = task.approval
    if (toolName === PHASE_TOOL || host.permission(toolName) !== 'ask' || mode === 'never') return false
    return current().needsApproval || !task.learnedTools.includes(learnedToolKey(toolName, host.identity(toolName)))
  }

  /** The newest question about the call. */
  const questionOf = ({ toolCallId }: Call) => current().questions.findLast((question) => question.toolCallId === toolCallId)
  const find = (name: string): Tool | undefined => name === PHASE_TOOL ? phaseTool : host.find(name)
  const isRead = ({ toolName }: Call) => find(toolName)?.effect === 'read'
  const modelView = (event: RunEvent): RunEvent =>
    event.type === 'tool-output' ? { ...event, output: { ...host.forModel(event.output, event.toolName) } } : event

  /** Stores the outcome of a call, then emits it. */
  async function recordOutcome (call: Call, outcome: TaskLogEvent & { type: 'tool-output' | 'tool-error' | 'tool-denied' }) {
    await record({ ...(movedPhases && { phases: movedPhases }) }, [outcome])
    outputCharacters += sizeOf(outcome)
    const { toolName: tool, input } = call
    const result = outcome.type === 'tool-output'
      ? { output: forModel(outcome.output), status: 'complete' }
      : {
          output: { error: outcome.type === 'tool-error' ? outcome.errorText : outcome.reason },
          status: outcome.type === 'tool-error' ? 'error' : 'denied'
        }
    if (tool !== PHASE_TOOL) emit({ type: 'task:tool', taskId: task.id, runId, tool, input, ...result })
  }

  async function execute (call: Call): Promise<void> {
    const { toolCallId, toolName, input } = call
    if (outputCharacters > MAX_OUTPUT_CHARACTERS) {
      throw new BudgetExceeded(
        `The tools of this run returned more than ${MAX_OUTPUT_CHARACTERS / MIB} MiB, so the run was stopped. ` +
        'Change the goal so that the run reads less at a time.'
      )
    }
    if (toolName === PHASE_TOOL) {
      const outcome = await phaseTool.execute(input as never, { signal, runId, callId: toolCallId, cwd: task.cwd, givenCwd: task.cwd })
        .then(
          (output): RunEvent => ({ type: 'tool-output', toolCallId, toolName, output }),
          (error): RunEvent => ({ type: 'tool-error', toolCallId, toolName, errorText: error.message })
        )
      return recordOutcome(call, outcome as never)
    }
    const question = questionOf(call)
    // The tool's server may have changed the tool since the call was judged; the changed tool needs approval, too.
    if (question?.state !== 'approved' && needsApproval(toolName)) return askLater(call)
    const approvedFolder = question?.cwd === undefined || question.folder === undefined
      ? undefined
      : { path: question.cwd, ...question.folder }
    const where = approvedFolder && await host.folders.whereabouts(toolName, input, task.cwd, approvedFolder)
    if (where?.is === 'moved') {
      isHeld = true
      callsToAsk.push({ ...call, shown: where.to, reason: askedAgain(approvedFolder!.path, where.to) })
      return
    }
    if (isHeld && question !== undefined) return
    if (where?.is === 'gone') return recordOutcome(call, { type: 'tool-error', toolCallId, toolName, errorText: folderGone(approvedFolder!.path) })
    if (!isRead(call)) await record({}, [{ type: 'tool-intent', toolCallId }])
    emit({ type: 'task:tool-start', taskId: task.id, runId, tool: toolName, input })
    try {
      const result = await host.execute({
        name: toolName,
        input,
        runId,
        attempt,
        callId: toolCallId,
        cwd: task.cwd,
        signal,
        identity: question?.identity ?? host.identity(toolName),
        folder: approvedFolder
      })
      const { durationMs, changes } = result
      const measured = { durationMs, ...(changes && { changes }) }
      await recordOutcome(
        call,
        result.status === 'complete'
          ? { type: 'tool-output', toolCallId, toolName, output: result.output, ...measured }
          : { type: 'tool-error', toolCallId, toolName, errorText: result.errorText, ...measured }
      )
    } catch (error) {
      // A call that only reads is repeated when the run continues, so its outcome stays open.
      if (signal.aborted && !isRead(call)) {
        await recordOutcome(call, { type: 'tool-error', toolCallId, toolName, errorText: OUTCOME_UNKNOWN })
      }
      throw error
    }
  }

  /** Adds the call to those that need approval. A call whose working folder does not exist fails instead. */
  async function askLater (call: Call): Promise<void> {
    const { toolCallId, toolName, input } = call
    const shown = await host.folders.of(toolName, input, task.cwd)
    if (shown === undefined) return recordOutcome(call, { type: 'tool-error', toolCallId, toolName, errorText: folderGone(task.cwd) })
    callsToAsk.push({ ...call, shown })
  }

  /** Decides about a call before any call runs: 'run' it, 'ask' a person, 'wait' for an open question, or its outcome. */
  function judgeCall (call: Call): 'run' | 'ask' | 'wait' | (TaskLogEvent & { type: 'tool-error' | 'tool-denied' }) {
    const { toolCallId, toolName } = call
    const question = questionOf(call)
    if (log.some((event) => event.type === 'tool-intent' && event.toolCallId === toolCallId)) {
      return { type: 'tool-error', toolCallId, toolName, errorText: OUTCOME_UNKNOWN }
    }
    if (question?.state === 'open') return 'wait'
    if (question?.state === 'rejected') {
      return {
        type: 'tool-denied',
        toolCallId,
        toolName,
        reason: question.notes ?? 'The user denied this call.',
        approvalId: question.approvalId
      }
    }
    return question?.state === 'approved' || !needsApproval(toolName) ? 'run' : 'ask'
  }

  async function settle (): Promise<{ events: RunEvent[], waiting: boolean }> {
    const from = log.length
    const open = openCalls(runEvents(log))
    const decisions = open.map((call) => [call, judgeCall(call)] as const)
    const callsWith = (verdict: string) => decisions.filter(([, decision]) => decision === verdict).map(([call]) => call)
    if (callsWith('wait').length > 0) return { events: [], waiting: true }
    for (const [call, decision] of decisions) if (typeof decision === 'object') await recordOutcome(call, decision)
    const work = runInOrder(callsWith('run'), isRead, execute)
    running.add(work)
    try {
      await work
    } finally {
      running.delete(work)
    }
    for (const call of callsWith('ask')) await askLater(call)
    return { events: runEvents(log.slice(from)).map(modelView), waiting: callsToAsk.length > 0 }
  }

  return {
    settle,
    callsToAsk,
    /** The tools offered to the model, with the tool that reports the phase. */
    offered: (): Tool[] => [...host.offered().filter(({ name }) => name !== PHASE_TOOL), phaseTool],
    validate (name: string, input: unknown): Validation {
      if (name !== PHASE_TOOL) return host.validate(name, input)
      const error = invalid(phaseTool, input)
      return error === undefined ? { ok: true, input } : { ok: false, error }
    },
    /** The events with outputs reduced to the form that a model may see. */
    shown: (events: RunEvent[]): RunEvent[] => events.map(modelView),
    /** Resolves when no call is running. */
    quiet: () => Promise.allSettled(running)
  }
}
