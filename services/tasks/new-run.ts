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

/** The default number of steps in which a run can use tools. */
const STEPS = 200

/** Returns how many steps with tools a run can take. After these steps the model must answer without tools. */
const stepLimit = ({ maxSteps }: RunOptions, { agent }: Config): number => maxSteps ?? agent?.steps?.task ?? STEPS

/** The most runs that are stored for each task. */
const MAX_RUNS = 1_000

/**
 * Creates a queued run with the next run number. The returned `ops` remove the oldest run if the task would have more than MAX_RUNS runs.
 */
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

/** Creates a replacement record for a run whose own record is missing or damaged. */
export const interruptedRun = (task: StoredTask, pointer: RunPointer, now: number): StoredRun =>
  blankRun(task, pointer, task.schedule === undefined ? 'start' : 'schedule', now)

/**
 * Triggers for which a run joins the trace of the current request. Other runs do not join, because the timer of
 * a schedule would pass on the trace of the request that set the timer.
 */
const BY_REQUEST: RunTrigger[] = ['start', 'manual', 'steer', 'rehearsal']

/** Returns the record of a queued run. */
export function blankRun (task: StoredTask, { runId, runNumber }: RunPointer, trigger: RunTrigger, now: number): StoredRun {
  return {
    ...newRunFields(runId, now),
    ...(BY_REQUEST.includes(trigger) && tracedFields()),
    taskId: task.id,
    runNumber,
    trigger,
    status: 'queued',
    cwd: task.cwd,
    // `firstStart` replaces this value.
    maxSteps: STEPS,
    phases: task.plan.phases.map((phase) => ({ ...phase, status: 'pending' as const })),
    usage: noUsage(),
    attempts: 0,
    refined: false,
    crashes: 0,
    needsApproval: true
  }
}

/**
 * Returns the resolved options for a run that starts now, or an error message if the agent of the task can no
 * longer be used with its options.
 */
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

/**
 * Prepares the first attempt (one uninterrupted execution) at a queued run whose options are resolved. Returns the started run, the task
 * with its new steering comments assigned to this run, and the start event.
 */
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
