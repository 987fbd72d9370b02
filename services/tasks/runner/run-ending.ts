import type { TaskStreamEvent } from '../../../schemas/task-events.ts'
import type { RunFailure } from '../../../schemas/task-runs.ts'
import type { RunStatus, TaskStatus } from '../../../schemas/tasks.ts'
import { filesCreated, mergeMemory, sources, withLearned } from './task-memory.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { CALL_SHOWN, endedSteering, failureOf, steerOf, toolCallsOf, whyEnded } from '../../runs/index.ts'
import { endPhases } from './phases.ts'
import { WorkerDied } from './workers.ts'
import type { TaskDeps } from '../task-deps.ts'
import { healthAfter, WELL } from '../task-health.ts'
import {
  hasUsedAllRuns,
  isFinished,
  MAX_COMMENTS,
  withFinalStatus,
  withoutTiming,
  type StoredRun,
  type StoredTask
} from '../task-records.ts'

type TerminalStatus = Exclude<RunStatus, 'queued' | 'running' | 'pending_approval'>

/** How a run ends: its final status, an error message unless it completed, and the state of the approval of its result. */
export interface RunEnding {
  status: TerminalStatus
  error?: string
  /** The cause of the failure, of a run that failed. */
  failure?: RunFailure
  review?: StoredRun['review']
}

/**
 * Whether an error says that the store refused a write for a temporary reason, so that the same write might succeed later. False for any
 * other error.
 */
export const isStoreFailure = (error: unknown): boolean =>
  ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_BUSY'].includes((error as { code?: string })?.code ?? '')

/** The delay before a write that the store refused is retried; milliseconds. */
export const RETRY_MS = 1_000

/** Returns how a run ends whose present execution (attempt) failed with this error. */
export function endingOf (error: unknown, runId: string, log: TaskDeps['log']): RunEnding {
  if (error instanceof WorkerDied) {
    log.warn({ err: error, runId }, 'the worker of a task run died')
    return { status: 'interrupted', error: error.message }
  }
  if (isStoreFailure(error)) {
    return { status: 'interrupted', error: 'The store refused the records of this run; see the log of the service.' }
  }
  const why = whyEnded(error, runId, log)
  return { status: 'failed', error: why.type === 'error' ? why.errorText : (error as Error).message, failure: failureOf(error) }
}

/** Returns the ended run, and the events that announce its end. The last of them is the only terminal event of the run. */
export function closeRun (
  run: StoredRun,
  log: readonly RunEvent[],
  { status, error, failure, review }: RunEnding,
  { clock, runs }: Pick<TaskDeps, 'clock' | 'runs'>
): { run: StoredRun, events: TaskStreamEvent[] } {
  const now = clock.now()
  const completed = status === 'completed'
  const { phases, changed } = endPhases(run.phases, completed)
  const { taskId, runId, runNumber, output = '', object, toolCount, qualityScore = 0 } = run
  const ended = { taskId, runId, runNumber }
  // Without a readable history, the facts that were stored before are better than facts computed from nothing.
  const facts = log.length === 0 && run.facts !== undefined ? run.facts : runs.facts(log, run.cwd)
  const verified = run.verified === false && { verified: false }
  const reason = error ?? `The run was ${status}.`
  const durationMs = Math.max(now - run.startedAt, 0)
  const { retryAt, failure: _, outage, ...rest } = run
  const steered = endedSteering(log).map(steerOf)
  const closed: StoredRun = {
    ...rest,
    status,
    phases,
    completedAt: now,
    durationMs,
    toolCalls: toolCallsOf(log, CALL_SHOWN, true),
    facts,
    ...(steered.length > 0 && { steered }),
    ...(!completed && { error: reason }),
    ...(failure && { failure }),
    ...(review && { review })
  }
  const phaseEvents: TaskStreamEvent[] = changed.map(({ id: phaseId, description: phase, status }) =>
    ({ type: 'task:phase', taskId, runId, phaseId, phase, status }))
  return {
    run: closed,
    events: [
      ...phaseEvents,
      completed
        ? { type: 'task:complete', ...ended, status, output, object, durationMs, toolCount, qualityScore, ...verified, facts }
        : { type: 'task:error', taskId, runId, status, error: reason, ...(failure && { failure }), facts }
    ]
  }
}

/** Returns the task with updated memory, counters and status, after the end of its live run or of the run whose result waited. */
export function afterRun (task: StoredTask, run: StoredRun, log: readonly RunEvent[], now: number): StoredTask {
  const completed = run.status === 'completed'
  const counted: StoredTask = {
    ...withUnread(task, run, now),
    memory: completed && run.learned ? withLearned(withWork(task.memory, log), run.learned) : withWork(task.memory, log),
    successfulRuns: task.successfulRuns + (completed ? 1 : 0)
  }
  // The task has continued since this run did its work.
  if (task.reviewRun?.runId === run.runId) {
    const { reviewRun, ...rest } = counted
    const isNewest = task.lastRunAt === undefined || task.lastRunAt < task.reviewRun.since
    return isNewest ? { ...rest, lastRunAt: now, lastRunStatus: run.status } : rest
  }
  return afterLiveRun({
    ...counted,
    lastRunAt: now,
    lastRunStatus: run.status,
    health: healthAfter(task, run, now)
  }, run.status as TerminalStatus)
}

/**
 * Returns the task after its live run has reached its goal, while a person has to approve the result. The task continues as
 * after any run, and the result waits beside it (`reviewRun`). A task that would be finished waits for the approval instead.
 */
export function whileResultWaits (task: StoredTask, { runId, runNumber }: StoredRun, log: readonly RunEvent[], now: number): StoredTask {
  const waiting: StoredTask = { ...task, status: 'pending_approval' }
  if (task.taskType === 'one_shot') return waiting
  const { reviewRun, ...rest } = afterLiveRun({ ...task, memory: withWork(task.memory, log), health: WELL }, 'completed')
  return isFinished(rest) ? waiting : { ...rest, reviewRun: { runId, runNumber, since: now } }
}

/** Returns the task with new steering comments: the messages to the run that the run has not read. The next run gets these comments. */
function withUnread (task: StoredTask, { steered = [] }: StoredRun, now: number): StoredTask {
  const unread = steered.filter(({ state }) => state === 'unread').map(({ id, text: comment }) => ({ id, comment, createdAt: now }))
  return unread.length === 0 ? task : { ...task, steeringHistory: [...task.steeringHistory, ...unread].slice(-MAX_COMMENTS) }
}

/**
 * Returns the memory with the files that a run has written and the pages that it has read. They are kept even if the result is rejected.
 */
const withWork = (memory: StoredTask['memory'], log: readonly RunEvent[]) =>
  mergeMemory(memory, { filesCreated: filesCreated(log), sources: sources(toolCallsOf(log)) })

/** Returns the task without its live run, in the status that follows the end of that run. */
function afterLiveRun ({ liveRun, retryAt, returnTo, pausedReason, ...task }: StoredTask, runStatus: TerminalStatus): StoredTask {
  // A task that was paused while its run waited for a person stays paused, as it does after a manual run.
  const nextStatus = task.status === 'paused' && task.taskType !== 'one_shot' ? returnTo ?? 'paused' : returnTo
  if (task.nextRun !== undefined) {
    const { nextRun, ...rest } = task
    return { ...rest, liveRun: nextRun, status: 'running', returnTo: nextStatus, pausedReason }
  }
  if (task.taskType === 'one_shot') return { ...task, status: ONE_SHOT[runStatus] }
  if (nextStatus === undefined && hasUsedAllRuns(task)) return withFinalStatus(withoutTiming(task), 'completed')
  if (nextStatus === undefined) return { ...task, status: 'scheduled' }
  if (isFinished({ status: nextStatus })) return withFinalStatus(task, nextStatus)
  return { ...task, status: nextStatus, pausedReason: nextStatus === 'paused' ? pausedReason : undefined }
}

const ONE_SHOT = {
  completed: 'completed',
  failed: 'failed',
  interrupted: 'failed',
  rejected: 'planned',
  stopped: 'planned',
  cancelled: 'planned'
} as const satisfies Record<TerminalStatus, TaskStatus>
