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
import { BudgetMet } from '../task-errors.ts'
import { runEvents, type TaskLogEvent } from '../run-history.ts'
import { createPhaseTool, PHASE_TOOL } from './phases.ts'
import { learnedName, type StoredRun, type StoredTask } from '../task-records.ts'
import { openCalls } from './worker-loop.ts'

const MIB = 1024 * 1024
/** Characters that the tools of a run may answer: all of it is kept, and held while the run works. */
const MOST_ANSWERED = 32 * MIB

type Call = ReturnType<typeof openCalls>[number]

/** A call that a person is to be asked about: the folder it would work in, and why it is asked again. */
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

/** The tool calls of a run: which run, which ask, and what is on disk before and after each. */
export function createSessionCalls ({ task, current, log, record, attempt, signal, deps }: Parts) {
  const { host, emit } = deps
  const { runId } = current()
  const running = new Set<Promise<unknown>>()
  const invalid = createValidator()
  let moved: Phase[] | undefined
  const phaseTool = createPhaseTool({
    phases: () => moved ?? current().phases,
    move: ({ phases }) => {
      moved = phases
    }
  })
  const toAsk: AskedCall[] = []
  /** An approved call is to be asked about anew. */
  let isHeld = false
  const sizeOf = (event: TaskLogEvent) => event.type === 'tool-output' ? JSON.stringify(event.output).length : 0
  let answered = log.reduce((sum, event) => sum + sizeOf(event), 0)

  /** Whether a person is asked before the tool runs. */
  function asks (toolName: string): boolean {
    const { mode } = task.approval
    if (toolName === PHASE_TOOL || host.permission(toolName) !== 'ask' || mode === 'never') return false
    return current().needsApproval || !task.learnedTools.includes(learnedName(toolName, host.identity(toolName)))
  }

  /** The newest question about a call. */
  const questionOf = ({ toolCallId }: Call) => current().questions.findLast((question) => question.toolCallId === toolCallId)
  const find = (name: string): Tool | undefined => name === PHASE_TOOL ? phaseTool : host.find(name)
  const isRead = ({ toolName }: Call) => find(toolName)?.effect === 'read'
  const shownOf = (event: RunEvent): RunEvent =>
    event.type === 'tool-output' ? { ...event, output: { ...host.forModel(event.output, event.toolName) } } : event

  async function note (call: Call, outcome: TaskLogEvent & { type: 'tool-output' | 'tool-error' | 'tool-denied' }) {
    await record({ ...(moved && { phases: moved }) }, [outcome])
    answered += sizeOf(outcome)
    const { toolName: tool, input } = call
    const told = outcome.type === 'tool-output'
      ? { output: forModel(outcome.output), status: 'complete' }
      : {
          output: { error: outcome.type === 'tool-error' ? outcome.errorText : outcome.reason },
          status: outcome.type === 'tool-error' ? 'error' : 'denied'
        }
    if (tool !== PHASE_TOOL) emit({ type: 'task:tool', taskId: task.id, runId, tool, input, ...told })
  }

  async function execute (call: Call): Promise<void> {
    const { toolCallId, toolName, input } = call
    if (answered > MOST_ANSWERED) {
      throw new BudgetMet(
        `The tools of this run have answered with more than ${MOST_ANSWERED / MIB} MiB, and it was stopped. Have it ask for less at a time.`
      )
    }
    if (toolName === PHASE_TOOL) {
      const outcome = await phaseTool.execute(input as never, { signal, runId, callId: toolCallId, cwd: task.cwd, givenCwd: task.cwd })
        .then(
          (output): RunEvent => ({ type: 'tool-output', toolCallId, toolName, output }),
          (error): RunEvent => ({ type: 'tool-error', toolCallId, toolName, errorText: error.message })
        )
      return note(call, outcome as never)
    }
    const question = questionOf(call)
    // Its server may have changed the tool since: it is then asked about like any other.
    if (question?.state !== 'approved' && asks(toolName)) return putAside(call)
    const shown = question?.cwd === undefined || question.folder === undefined ? undefined : { path: question.cwd, ...question.folder }
    const where = shown && await host.folders.whereabouts(toolName, input, task.cwd, shown)
    if (where?.is === 'moved') {
      isHeld = true
      toAsk.push({ ...call, shown: where.to, reason: askedAgain(shown!.path, where.to) })
    }
    // An approved call behind one that is asked about anew waits for it, so that the order is kept.
    if (isHeld && question !== undefined) return
    if (where?.is === 'gone') return note(call, { type: 'tool-error', toolCallId, toolName, errorText: folderGone(shown!.path) })
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
        folder: shown
      })
      const { durationMs } = result
      await note(
        call,
        result.status === 'complete'
          ? { type: 'tool-output', toolCallId, toolName, output: result.output, durationMs }
          : { type: 'tool-error', toolCallId, toolName, errorText: result.errorText, durationMs }
      )
    } catch (error) {
      // A read may simply be made again when the run goes on.
      if (signal.aborted && !isRead(call)) await note(call, { type: 'tool-error', toolCallId, toolName, errorText: OUTCOME_UNKNOWN })
      throw error
    }
  }

  /** Keeps a call for the person to be asked about; one without a folder to work in fails instead. */
  async function putAside (call: Call): Promise<void> {
    const { toolCallId, toolName, input } = call
    const shown = await host.folders.of(toolName, input, task.cwd)
    if (shown === undefined) return note(call, { type: 'tool-error', toolCallId, toolName, errorText: folderGone(task.cwd) })
    toAsk.push({ ...call, shown })
  }

  /** What is known of a call before anything runs: 'run' it, 'ask' a person, or its outcome. */
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
    return question?.state === 'approved' || !asks(toolName) ? 'run' : 'ask'
  }

  async function settle (): Promise<{ events: RunEvent[], waiting: boolean }> {
    const from = log.length
    const open = openCalls(runEvents(log))
    const judged = open.map((call) => [call, judgeCall(call)] as const)
    const of = (verdict: string) => judged.filter(([, found]) => found === verdict).map(([call]) => call)
    if (of('wait').length > 0) return { events: [], waiting: true }
    for (const [call, found] of judged) if (typeof found === 'object') await note(call, found)
    const work = runInOrder(of('run'), isRead, execute)
    running.add(work)
    try {
      await work
    } finally {
      running.delete(work)
    }
    for (const call of of('ask')) await putAside(call)
    return { events: runEvents(log.slice(from)).map(shownOf), waiting: toAsk.length > 0 }
  }

  return {
    settle,
    toAsk,
    /** The tools on offer, with the one that tells how far the run is. */
    offered: (): Tool[] => [...host.offered().filter(({ name }) => name !== PHASE_TOOL), phaseTool],
    validate (name: string, input: unknown): Validation {
      if (name !== PHASE_TOOL) return host.validate(name, input)
      const error = invalid(phaseTool, input)
      return error === undefined ? { ok: true, input } : { ok: false, error }
    },
    /** The same events with outputs shortened to what a model may see. */
    shown: (events: RunEvent[]): RunEvent[] => events.map(shownOf),
    /** Resolves when no call runs any more. */
    quiet: () => Promise.allSettled(running)
  }
}
