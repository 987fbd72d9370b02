import type { Task } from '../../schemas/tasks.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { TaskRun } from '../runs/index.ts'
import type { Plan as Timing } from './schedule/calendar/schedule-plan.ts'

/** A reference to a run of the task. */
export interface RunPointer {
  runId: string
  runNumber: number
}

/** A task as it is stored: the public fields, and the fields that only the engine needs. */
export interface StoredTask extends Omit<Task, 'budget'> {
  options: RunOptions
  /** The number of the run that was live when goal or plan last changed. Its approval does not count towards `firstN`. */
  outdatedRun?: number
  /** The user's words that became the task, where a model wrote its goal; shortened. */
  said?: string
  /** The number of consecutive failed runs. */
  failuresInRow: number
  /** The parsed schedule, set when the task is started. */
  timing?: Timing
  /** The newest slot whose fate is decided. */
  lastSlot?: number
  /** The number of stored slots. */
  slotCount?: number
  /** The number of runs that the schedule has begun; it is limited by maxRuns. */
  slotRuns: number
  /** The run that is queued or executes, waits for a person, or continues when the task is resumed. */
  liveRun?: RunPointer
  /** The run that is queued behind the live run. */
  nextRun?: RunPointer
  /** The status to which the task returns after a manual run. */
  returnTo?: Task['status']
  /** The time at which the first of the approvals that it waits for expires; milliseconds since the Unix epoch. */
  waitsUntil?: number
}

/** A run as it is stored beside its events. */
export type StoredRun = TaskRun

/** Maps a request to `/run` to the task it created. */
export interface Origin {
  taskId: string
  at: number
}

/** Whether the task has ended and runs only when it is started again. A task whose record cannot be read is not finished. */
export const isFinished = ({ status }: { status?: Task['status'] }): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** Whether the active schedule has begun all the runs that maxRuns allows. */
export const hasUsedAllRuns = ({ timing, slotRuns }: StoredTask) => timing?.maxRuns !== undefined && slotRuns >= timing.maxRuns

/** The task without an active schedule. */
export function withoutTiming ({ timing, lastSlot, nextRunAt, ...task }: StoredTask): StoredTask {
  return task
}

/** The task with the active schedule of another version of it. */
export function withTimingOf (task: StoredTask, { timing, lastSlot, nextRunAt }: StoredTask): StoredTask {
  return { ...task, ...(timing && { timing, lastSlot }), ...(nextRunAt !== undefined && { nextRunAt }) }
}

/** The public form of a task, without the internal fields. */
export function taskView ({
  outdatedRun, said, failuresInRow, timing, lastSlot, slotCount, slotRuns, liveRun, nextRun, returnTo, waitsUntil, waitingFor, ...task
}: StoredTask): Task {
  const { tokens, minutes } = task.options.budget ?? {}
  return {
    ...task,
    // The earlier form of the limits, for earlier clients.
    budget: { maxTokensPerRun: tokens, maxMinutesPerRun: minutes },
    waitingFor: task.status === 'pending_approval' ? waitingFor : undefined
  }
}
