import type { TaskStreamEvent } from '../../../schemas/task-events.ts'
import type { RunStatus, TaskStatus } from '../../../schemas/tasks.ts'
import { filesCreated, sources } from '../../judge/evidence.ts'
import { remember } from './run-memory.ts'
import { toolCallsOf, type TaskLogEvent } from '../run-history.ts'
import { endPhases } from './phases.ts'
import { isSpent, withoutTiming, type StoredRun, type StoredTask } from '../task-records.ts'

/** Failures in a row after which a task waits for a person. */
const MOST_FAILURES = 5
/** Characters of each input and output that a run's own record keeps; the whole stands in its history. */
export const CALL_SHOWN = 2_000

export type TerminalStatus = Exclude<RunStatus, 'queued' | 'running' | 'pending_approval'>

/** How a run ends: what it is, and why when it is not completed. */
export interface RunEnding {
  status: TerminalStatus
  error?: string
}

/** A run once it is over, and the events that say so: the last of them is its one terminal event. */
export function closeRun (
  run: StoredRun,
  log: readonly TaskLogEvent[],
  { status, error }: RunEnding,
  now: number
): { run: StoredRun, events: TaskStreamEvent[] } {
  const completed = status === 'completed'
  const { phases, changed } = endPhases(run.phases, completed)
  const { taskId, runId, runNumber, output = '', toolCount, qualityScore = 0 } = run
  const why = error ?? `The run was ${status}.`
  const durationMs = Math.max(now - run.startedAt, 0)
  const closed: StoredRun = {
    ...run,
    status,
    phases,
    completedAt: now,
    durationMs,
    toolCalls: toolCallsOf(log, CALL_SHOWN),
    questions: run.questions.map((question) => question.state === 'open' ? { ...question, state: 'rejected' as const } : question),
    ...(!completed && { error: why })
  }
  const moved: TaskStreamEvent[] = changed.map(({ id, description, status }) => ({
    type: 'task:phase',
    taskId,
    runId,
    phaseId: id,
    phase: description,
    status
  }))
  return {
    run: closed,
    events: [
      ...moved,
      completed
        ? { type: 'task:complete', taskId, runId, runNumber, status, output, durationMs, toolCount, qualityScore }
        : { type: 'task:error', taskId, runId, status, error: why }
    ]
  }
}

/** The task once its live run is over: what it remembers, and where it stands. */
export function afterRun (task: StoredTask, run: StoredRun, log: readonly TaskLogEvent[], now: number): StoredTask {
  const completed = run.status === 'completed'
  const calls = toolCallsOf(log)
  const { liveRun, returnTo, pausedReason, ...rest } = task
  // Paused while its run waits for a person it stays so, as after a run by hand.
  const back = task.status === 'paused' && task.taskType !== 'one_shot' ? 'paused' : returnTo
  return settled(
    {
      ...rest,
      memory: remember(task.memory, { ...(completed && run.learned), filesCreated: filesCreated(calls), sources: sources(calls) }),
      lastRunAt: now,
      successfulRuns: task.successfulRuns + (completed ? 1 : 0),
      failuresInRow: run.status === 'failed' ? task.failuresInRow + 1 : run.status === 'interrupted' ? task.failuresInRow : 0
    },
    run,
    back,
    pausedReason
  )
}

/** Where the task stands after a run: with the one queued behind it, where it came from, or as its type says. */
function settled (task: StoredTask, run: StoredRun, returnTo: TaskStatus | undefined, pausedReason: string | undefined): StoredTask {
  if (task.nextRun !== undefined) {
    const { nextRun, ...rest } = task
    return {
      ...rest,
      liveRun: nextRun,
      status: 'running',
      ...(returnTo && { returnTo }),
      ...(pausedReason !== undefined && { pausedReason })
    }
  }
  if (task.taskType === 'one_shot') return { ...task, status: ONE_SHOT[run.status as TerminalStatus] }
  if (task.failuresInRow >= MOST_FAILURES) {
    const { nextRunAt, ...halted } = task
    return { ...halted, status: 'paused', pausedReason: 'failures', failuresInRow: 0 }
  }
  if (returnTo !== undefined) {
    return { ...task, status: returnTo, ...(returnTo === 'paused' && pausedReason !== undefined && { pausedReason }) }
  }
  if (isSpent(task)) return { ...withoutTiming(task), status: 'completed' }
  return { ...task, status: 'scheduled' }
}

const ONE_SHOT = {
  completed: 'completed',
  failed: 'failed',
  interrupted: 'failed',
  rejected: 'planned',
  cancelled: 'planned'
} as const satisfies Record<TerminalStatus, TaskStatus>
