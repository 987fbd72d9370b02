import type { Config } from '../../schemas/config.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { RunTrigger } from '../../schemas/tasks.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import { newId } from '../lib/ids.ts'
import { tracedFields } from '../lib/request-trace.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { Op } from '../store/index.ts'
import { newRunFields } from '../runs/index.ts'
import { noUsage } from '../usage/index.ts'
import type { TaskDeps } from './task-deps.ts'
import type { TaskRepository } from './task-repository.ts'
import type { RunPointer, StoredRun, StoredTask } from './task-records.ts'

/** The default number of steps with tools. */
const STEPS = 200

/** Returns the number of steps with tools of a run. After them the model must answer without tools. */
const stepLimit = ({ maxSteps }: RunOptions, { agent }: Config): number => maxSteps ?? agent?.steps?.task ?? STEPS

/** The number of runs that are kept of each task. */
const MAX_RUNS = 1_000

/** Creates a queued run with the next number. `ops` remove the oldest run if there would be more than MAX_RUNS. */
export async function newRun (
  repository: TaskRepository,
  task: StoredTask,
  trigger: RunTrigger,
  now: number,
  slot: { plannedAt?: number, standsFor?: number, causes?: string[] } = {}
): Promise<{ task: StoredTask, run: StoredRun, ops: Op[] }> {
  const runNumber = task.totalRuns + 1
  const run: StoredRun = { ...blankRun(task, { runId: newId(), runNumber }, trigger, now), ...slot }
  const oldest = runNumber > MAX_RUNS ? await repository.runNumbered(task.id, runNumber - MAX_RUNS) : undefined
  return { task: { ...task, totalRuns: runNumber }, run, ops: oldest === undefined ? [] : await repository.removal(oldest) }
}

/** A replacement for a run whose record is missing or damaged. */
export const interruptedRun = (task: StoredTask, pointer: RunPointer, now: number): StoredRun =>
  blankRun(task, pointer, task.schedule === undefined ? 'start' : 'schedule', now)

/**
 * Triggers for which a run belongs to the trace of its request. The timer of a schedule would otherwise pass on the trace of the request
 * that set it.
 */
const BY_REQUEST: RunTrigger[] = ['start', 'manual', 'steer', 'rehearsal']

/** Returns a run of the task before it begins. */
export function blankRun (task: StoredTask, { runId, runNumber }: RunPointer, trigger: RunTrigger, now: number): StoredRun {
  return {
    ...newRunFields(runId, now),
    ...(BY_REQUEST.includes(trigger) && tracedFields()),
    taskId: task.id,
    runNumber,
    trigger,
    status: 'queued',
    cwd: task.cwd,
    // Holds until the run starts.
    maxSteps: STEPS,
    phases: task.plan.phases.map((phase) => ({ ...phase, status: 'pending' as const })),
    usage: noUsage(),
    attempts: 0,
    refined: false,
    crashes: 0,
    needsApproval: true
  }
}

/** Returns the options with which a run of the task starts now, or why it cannot start: its agent no longer fits. */
export async function optionsOf (
  { options }: Pick<StoredTask, 'options'>,
  agents: Pick<TaskDeps['agents'], 'resolve'>
): Promise<{ options?: RunOptions } | { error: string }> {
  try {
    return await agents.resolve([options])
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'ERR_INVALID_REQUEST') return { error: error.message }
    throw error
  }
}

/** The first attempt at a queued run, which has its options: its record, the steering that it receives, and its start event. */
export function firstStart (task: StoredTask, run: StoredRun, now: number, config: Config) {
  const { mode, firstN, approvedRuns } = task.approval
  const started: StoredRun = {
    ...run,
    status: 'running',
    startedAt: now,
    attempts: 1,
    cwd: task.cwd,
    maxSteps: stepLimit(run.options ?? {}, config),
    phases: task.plan.phases.map((phase) => ({ ...phase, status: 'pending' as const })),
    steering: task.steeringHistory.filter(({ runId }) => runId === undefined).map(({ comment }) => comment),
    needsApproval: mode === 'always' || ((mode === 'changes' || mode === 'first_n') && approvedRuns < firstN)
  }
  const { runId, runNumber, phases } = started
  return {
    task: { ...task, steeringHistory: task.steeringHistory.map((entry) => ({ ...entry, runId: entry.runId ?? runId })) },
    run: started,
    events: [{ type: 'task:start', taskId: task.id, runId, runNumber, startedAt: now, phases }] satisfies TaskStreamEvent[]
  }
}
