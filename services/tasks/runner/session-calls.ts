import type { Deadline } from '../../lib/deadline.ts'
import { intentsIn } from '../../run-log/open-calls.ts'
import { openCalls, type RunEvent } from '../../contracts/run-events.ts'
import type { TaskItem } from '../../contracts/approval-record.ts'
import type { Op } from '../../store/store-types.ts'
import { createCallGrants } from '../../approvals/grants/call-grants.ts'
import type { Grant } from '../../contracts/grant-record.ts'
import type { AskedCall, Call } from '../../contracts/call.ts'
import type { CallEnd } from '../../step/call-ports.ts'
import { whoIsAsked } from '../../step/who-is-asked.ts'
import { settleCalls } from '../../step/step-calls.ts'
import type { CallQuestions, QuestionOutcome } from '../../contracts/tool.ts'
import { questionView } from '../../approvals/question-view.ts'
import { forModel } from '../../tools/model-output.ts'
import type { ObjectAnswer } from '../../objects/object-answer.ts'
import { isAnswerCall } from '../../objects/take-answer.ts'
import type { Meter } from '../../usage/meter.ts'
import { runEvents, type TaskLogEvent } from '../../run-log/run-history.ts'
import type { RunDeps } from '../task-deps.ts'
import { BudgetExceeded } from '../task-errors.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { answerOfStep } from './owed-answer.ts'
import { PHASE_TOOL } from '../../contracts/model-texts.ts'
import { mostSteps } from './run-steps.ts'
import type { AttemptApprovals } from './attempt-approvals.ts'
import { createTaskTools } from './task-tools.ts'

const MIB = 1024 * 1024
/** Characters of tool output that a run may collect. All of it is stored, and held in memory while the run executes. */
const MAX_OUTPUT_CHARACTERS = 32 * MIB

/** What the parts of a session share. */
export interface SessionParts {
  task: StoredTask
  items: AttemptApprovals
  current: () => StoredRun
  /** The structured answer that the run owes. */
  owed: () => ObjectAnswer | undefined
  log: readonly TaskLogEvent[]
  record: (changes: Partial<StoredRun>, fresh?: TaskLogEvent[], approvals?: TaskItem[], ops?: Op[]) => Promise<void>
  attempt: number
  signal: AbortSignal
  meter: Meter
  /** Waits without letting the time of the run pass. */
  pause: Deadline['pause']
  deps: RunDeps
}

/** The reason of a denial in mode `granted`, for the model. */
const NOT_GRANTED = 'Nobody is asked in this task, and no grant covers this call. Do the rest without it, and report what was left out.'

/** Whether the runs of a task use what approved runs have taught: after the first N, and in mode `granted`. */
export const usesLearned = ({ approval: { mode, firstN, approvedRuns } }: Pick<StoredTask, 'approval'>): boolean =>
  mode === 'granted' || (mode === 'first_n' && approvedRuns >= firstN)

/** Whether a person follows the runs of the task, at least the first ones. */
const asksForResults = ({ approval: { mode } }: Pick<StoredTask, 'approval'>): boolean => mode === 'always' || mode === 'first_n'

export type SessionCalls = ReturnType<typeof createSessionCalls>

/** Settles the tool calls of a run, and records each before and after it runs. */
export function createSessionCalls ({ task, items, current, owed, log, record, attempt, signal, pause, deps }: SessionParts) {
  const { host, grants, liveQuestions, emit } = deps
  const ids = { taskId: task.id, runId: current().runId }
  const running = new Set<Promise<unknown>>()
  const { interactive } = current().options ?? task.options
  const mayAsk = interactive ?? asksForResults(task)
  const tools = createTaskTools(host, () => current().phases, mayAsk)
  const callsToAsk: AskedCall[] = []
  const callGrants = createCallGrants({
    grants,
    owner: { taskId: task.id },
    tools,
    events: () => log,
    usesLearned: usesLearned(task)
  })
  const sizeOf = (event: TaskLogEvent) => event.type === 'tool-output' ? JSON.stringify(event.output).length : 0
  let outputCharacters = log.reduce((sum, event) => sum + sizeOf(event), 0)
  const modelView = (event: RunEvent): RunEvent =>
    event.type === 'tool-output' ? { ...event, output: { ...host.forModel(event.output, event.toolName) } } : event

  /** Whether the tool needs a person's approval before it runs. */
  function needsApproval (toolName: string): boolean {
    return tools.permission(toolName) === 'ask' && task.approval.mode !== 'never'
  }

  function checkLimit () {
    if (outputCharacters > MAX_OUTPUT_CHARACTERS) {
      throw new BudgetExceeded(
        `The tools of this run returned more than ${MAX_OUTPUT_CHARACTERS / MIB} MiB, so the run was stopped. ` +
        'Change the goal so that the run reads less at a time.'
      )
    }
  }

  async function begin ({ toolCallId, toolName: tool, input }: Call, isDurable: boolean, ops: Op[], grant?: Grant): Promise<boolean> {
    const approvals = items.moved(toolCallId, 'executing')
    if (grant !== undefined) {
      const intent: TaskLogEvent = { type: 'tool-intent', toolCallId, grantId: grant.grantId }
      if (!await grants.use(grant, (used) => record({}, [intent], approvals, [used, ...ops]))) return false
    } else if (isDurable) await record({}, [{ type: 'tool-intent', toolCallId }], approvals, ops)
    if (tool !== PHASE_TOOL) emit({ type: 'task:tool-start', ...ids, tool, input })
    return true
  }

  /**
   * Asks the user in the middle of a call. A call that has asked is not repeated after a crash, also when it only reads: nobody is asked
   * twice.
   */
  async function ask ({ toolCallId }: Call, questions: CallQuestions): Promise<QuestionOutcome> {
    if (!intentsIn(runEvents(log)).has(toolCallId)) await record({}, [{ type: 'tool-intent', toolCallId }])
    return pause(liveQuestions.ask({
      ...questions,
      ...{ owner: { taskId: task.id }, runId: ids.runId, toolCallId },
      changed (item) {
        if (item.state !== 'pending') return
        const { createdAt, expiresAt, ...shown } = questionView({ ...item, taskId: task.id, threadId: undefined })
        emit({ type: 'task:approval', ...ids, ...shown })
      }
    }))
  }

  /** Stores the end of a call, then emits it. */
  async function end ({ toolCallId, toolName: tool, input }: Call, { event, state, durationMs, ops }: CallEnd): Promise<void> {
    const phases = tools.reportedPhases()
    const timed = { ...event, ...(durationMs !== undefined && { durationMs }) }
    await record({ ...(phases && { phases }) }, [timed], items.moved(toolCallId, state), ops)
    outputCharacters += sizeOf(event)
    if (tool !== PHASE_TOOL) emit({ type: 'task:tool', ...ids, tool, input, ...resultOf(event) })
  }

  /** Takes the structured answer of the step, when its other calls have their outcomes. */
  async function takeOwed (owing: ObjectAnswer): Promise<void> {
    const { options = task.options, steps } = current()
    const given = openCalls(runEvents(log))
    const { changes, events } = answerOfStep(runEvents(log), owing, steps >= mostSteps(options))
    await record(changes, events)
    for (const event of events) {
      if (event.type !== 'tool-output' && event.type !== 'tool-error') continue
      const { toolName: tool, toolCallId } = event
      emit({ type: 'task:tool', ...ids, tool, input: given.find((call) => call.toolCallId === toolCallId)?.input, ...resultOf(event) })
    }
  }

  async function settle (): Promise<{ events: RunEvent[], waiting: boolean }> {
    const from = log.length
    const owing = owed()
    const calls = openCalls(runEvents(log)).filter((call) => owing === undefined || !isAnswerCall(call))
    const work = settleCalls(calls, {
      tools,
      run: { runId: ids.runId, owner: task.id, attempt, cwd: task.cwd, signal },
      events: log,
      repeatsReads: true,
      approvalOf: items.approvalOf,
      answerOf: items.answerOf,
      needsApproval,
      grants: callGrants,
      ...whoIsAsked(interactive, mayAsk),
      ...mayAsk && { ask },
      ...(task.approval.mode === 'granted' && { deniesUngranted: NOT_GRANTED }),
      wasDenied: items.wasDenied,
      checkLimit,
      begin,
      end
    })
    running.add(work)
    try {
      const { asked, isWaiting } = await work
      callsToAsk.push(...asked)
      if (!isWaiting && owing !== undefined) await takeOwed(owing)
      return { events: runEvents(log.slice(from)).map(modelView), waiting: isWaiting }
    } finally {
      running.delete(work)
    }
  }

  return {
    settle,
    tools,
    callsToAsk,
    /** The events with outputs reduced to the form that a model may see. */
    shown: (events: RunEvent[]): RunEvent[] => events.map(modelView),
    /** Resolves when no call is running. */
    quiet: () => Promise.allSettled(running)
  }
}

/** Returns the result of a call for the readers of task events. */
function resultOf (event: CallEnd['event']) {
  switch (event.type) {
    case 'tool-output':
      return { output: forModel(event.output), status: 'complete' as const }
    case 'tool-error':
      return { output: { error: event.errorText }, status: 'error' as const }
    case 'tool-denied':
      return { output: { error: event.reason }, status: 'denied' as const }
  }
}
