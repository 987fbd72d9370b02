import type { ChoiceTopic } from '../../schemas/approvals.ts'
import type { Task, TaskHealth } from '../../schemas/tasks.ts'
import type { Firing } from '../../schemas/triggers.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { TaskRun } from '../runs/index.ts'
import type { Plan as Timing } from '../calendar/index.ts'

/** A reference to a run of the task. */
export interface RunPointer {
  runId: string
  runNumber: number
}

/** The health of a task, and whether its person was asked what to do with it. */
export type StoredHealth = TaskHealth & { asked?: true }

/** The state of a task's triggers since its start. Times are milliseconds since the Unix epoch. */
export interface FiringState {
  /** When the task was started or resumed. */
  since: number
  /** The task was paused before. */
  rested?: true
  /** When a trigger last fired. */
  lastAt?: number
  /** When triggers began runs, within the last hour. */
  runs?: number[]
  /** The number of stored firings. */
  count?: number
  /** The newest firing. */
  last?: Pick<Firing, 'id' | 'type' | 'fate' | 'reason'>
}

/** Steering comments that a task keeps; older comments are dropped. */
export const MAX_COMMENTS = 200

/** The most characters of the user's words that are kept with a task that a conversation made. */
export const WORDS_KEPT = 20_000

/** A task as it is stored: the public fields, and the fields that only the engine needs. */
export interface StoredTask extends Omit<Task, 'budget' | 'health' | 'name'> {
  /** The name that a person gave it. */
  name?: string
  options: RunOptions
  /** Absent for a task that is well. */
  health?: StoredHealth
  /** The newest run that had begun when goal or plan last changed. Approvals of it and of earlier runs do not count towards `firstN`. */
  outdatedRun?: number
  /** Everything that the user wrote in the conversation that made the task, if a model wrote its goal; shortened. */
  said?: string
  /** The parsed schedule, set when the task is started. */
  timing?: Timing
  /** The newest slot whose fate is decided. */
  lastSlot?: number
  /** The state of its triggers. Absent before the first firing, if the task was not started since it has triggers. */
  firing?: FiringState
  /** The number of stored slots. */
  slotCount?: number
  /** The number of runs that the schedule has begun; it is limited by maxRuns. */
  slotRuns: number
  /** The run that is queued or executes, waits for a person, or continues when the task is resumed. */
  liveRun?: RunPointer
  /** The run that is queued behind the live run. */
  nextRun?: RunPointer
  /** The run whose result waits for a person while the task continues, and the time since which it waits. */
  reviewRun?: RunPointer & { since: number }
  /** The status to which the task returns after a manual run. */
  returnTo?: Task['status']
  /** The time at which the first of the approvals that it waits for expires; milliseconds since the Unix epoch. */
  waitsUntil?: number
  /** The time since which the live run waits for a person; milliseconds since the Unix epoch. */
  waitsSince?: number
  /** The question to its person in the inbox. */
  choice?: { approvalId: string, about: ChoiceTopic }
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

/** Returns when the task must be over, milliseconds since the Unix epoch; Infinity without an end time, and once it is over. */
export const endOf = ({ endsAt = Infinity, status }: Pick<StoredTask, 'endsAt' | 'status'>): number =>
  isFinished({ status }) ? Infinity : endsAt

/** Whether the active schedule has begun all the runs that maxRuns allows. */
export const hasUsedAllRuns = ({ timing, slotRuns }: StoredTask) => timing?.maxRuns !== undefined && slotRuns >= timing.maxRuns

/** The task without an active schedule. */
export function withoutTiming ({ timing, lastSlot, nextRunAt, missedAt, ...task }: StoredTask): StoredTask {
  return task
}

/** Returns the task with the active schedule of another version of it. */
export function withTimingOf (task: StoredTask, { timing, lastSlot, nextRunAt }: StoredTask): StoredTask {
  return { ...task, ...(timing && { timing, lastSlot }), ...(nextRunAt !== undefined && { nextRunAt }) }
}

/** Whether goal or plan have changed since the run began. */
export const isOutdated = ({ outdatedRun = 0 }: Pick<StoredTask, 'outdatedRun'>, { runNumber }: RunPointer) => runNumber <= outdatedRun

/**
 * Returns the task in this final status. While the result of an earlier run waits for a person, the task waits with it and gets the status
 * afterwards.
 */
export function withFinalStatus ({ reviewRun, ...task }: StoredTask, status: Task['status']): StoredTask {
  return reviewRun === undefined ? { ...task, status } : { ...task, status: 'pending_approval', liveRun: reviewRun, returnTo: status }
}
