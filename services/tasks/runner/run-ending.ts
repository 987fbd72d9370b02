import type { TaskStreamEvent } from '../../../schemas/task-events.ts'
import type { RunStatus, TaskStatus } from '../../../schemas/tasks.ts'
import { filesCreated, mergeMemory, sources } from './run-memory.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { CALL_SHOWN, toolCallsOf } from '../../runs/index.ts'
import { endPhases } from './phases.ts'
import { hasUsedAllRuns, withoutTiming, type StoredRun, type StoredTask } from '../task-records.ts'

/** Consecutive failed runs after which a task is paused. */
const MAX_FAILURES = 5

export type TerminalStatus = Exclude<RunStatus, 'queued' | 'running' | 'pending_approval'>

/** How a run ends: its final status, and the reason unless it completed. */
export interface RunEnding {
  status: TerminalStatus
  error?: string
}

/** The ended run, and the events that announce its end. The last event is the only terminal event of the run. */
export function closeRun (
  run: StoredRun,
  log: readonly RunEvent[],
  { status, error }: RunEnding,
  now: number
): { run: StoredRun, events: TaskStreamEvent[] } {
  const completed = status === 'completed'
  const { phases, changed } = endPhases(run.phases, completed)
  const { taskId, runId, runNumber, output = '', object, toolCount, qualityScore = 0 } = run
  const ended = { taskId, runId, runNumber }
  const reason = error ?? `The run was ${status}.`
  const durationMs = Math.max(now - run.startedAt, 0)
  const closed: StoredRun = {
    ...run,
    status,
    phases,
    completedAt: now,
    durationMs,
    toolCalls: toolCallsOf(log, CALL_SHOWN),
    ...(!completed && { error: reason })
  }
  const phaseEvents: TaskStreamEvent[] = changed.map(({ id: phaseId, description: phase, status }) =>
    ({ type: 'task:phase', taskId, runId, phaseId, phase, status }))
  return {
    run: closed,
    events: [
      ...phaseEvents,
      completed
        ? { type: 'task:complete', ...ended, status, output, object, durationMs, toolCount, qualityScore }
        : { type: 'task:error', taskId, runId, status, error: reason }
    ]
  }
}

/** The task after its live run has ended, with its memory, counters and next status. */
export function afterRun (task: StoredTask, run: StoredRun, log: readonly RunEvent[], now: number): StoredTask {
  const completed = run.status === 'completed'
  const { liveRun, returnTo, pausedReason, ...rest } = task
  // A task that was paused while its run waited for a person stays paused, as it does after a manual run.
  const nextStatus = task.status === 'paused' && task.taskType !== 'one_shot' ? 'paused' : returnTo
  return withStatusAfterRun(
    {
      ...rest,
      memory: mergeMemory(task.memory, {
        ...(completed && run.learned),
        filesCreated: filesCreated(log),
        sources: sources(toolCallsOf(log))
      }),
      lastRunAt: now,
      lastRunStatus: run.status,
      successfulRuns: task.successfulRuns + (completed ? 1 : 0),
      failuresInRow: run.status === 'failed' ? task.failuresInRow + 1 : run.status === 'interrupted' ? task.failuresInRow : 0
    },
    run,
    nextStatus,
    pausedReason
  )
}

/** Sets the status after a run: running again when a run is queued behind it, the status before the run, or the status by task type. */
function withStatusAfterRun (
  task: StoredTask,
  run: StoredRun,
  returnTo: TaskStatus | undefined,
  pausedReason: string | undefined
): StoredTask {
  if (task.nextRun !== undefined) {
    const { nextRun, ...rest } = task
    return { ...rest, liveRun: nextRun, status: 'running', returnTo, pausedReason }
  }
  if (task.taskType === 'one_shot') return { ...task, status: ONE_SHOT[run.status as TerminalStatus] }
  if (task.failuresInRow >= MAX_FAILURES) {
    const { nextRunAt, ...halted } = task
    return { ...halted, status: 'paused', pausedReason: 'failures', failuresInRow: 0 }
  }
  if (returnTo !== undefined) {
    return { ...task, status: returnTo, pausedReason: returnTo === 'paused' ? pausedReason : undefined }
  }
  if (hasUsedAllRuns(task)) return { ...withoutTiming(task), status: 'completed' }
  return { ...task, status: 'scheduled' }
}

const ONE_SHOT = {
  completed: 'completed',
  failed: 'failed',
  interrupted: 'failed',
  rejected: 'planned',
  stopped: 'planned',
  cancelled: 'planned'
} as const satisfies Record<TerminalStatus, TaskStatus>
