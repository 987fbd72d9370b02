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

/** The health of a task. `asked`: a person was asked what to do with the failing task. */
export type StoredHealth = TaskHealth & { asked?: true }

/** The state of the triggers of a task since its start. Times are milliseconds since the Unix epoch. */
export interface FiringState {
  /** When the task was last started or resumed. */
  since: number
  /** The task was resumed from a pause, not started. */
  rested?: true
  /** When a trigger last fired. */
  lastAt?: number
  /** The times within the last hour at which triggers began runs. */
  runs?: number[]
  /** The number of stored firings. */
  count?: number
  /** The newest firing. */
  last?: Pick<Firing, 'id' | 'type' | 'fate' | 'reason'>
}

/** The most steering comments (the user's comments on how to go on) stored with a task; older comments are dropped. */
export const MAX_COMMENTS = 200

/** The most characters of the user's messages that are stored with a task which a conversation created. */
export const WORDS_KEPT = 20_000

/** A stored task: the public fields, and the fields that only the task engine needs. */
export interface StoredTask extends Omit<Task, 'budget' | 'health' | 'name'> {
  /** The name that a person gave the task. */
  name?: string
  options: RunOptions
  /** Absent for a healthy task. */
  health?: StoredHealth
  /**
   * The number of the newest run that had begun when the goal or plan last changed. Approvals of this run and
   * earlier ones do not count towards `firstN`.
   */
  outdatedRun?: number
  /** If a model wrote the goal of the task: all that the user wrote in the conversation that created the task, shortened. */
  said?: string
  /** The parsed schedule, set when the task is started. */
  timing?: Timing
  /** The time of the newest slot (planned time) of which it is decided whether it gets a run; milliseconds since the Unix epoch. */
  lastSlot?: number
  /** The state of the triggers. Absent for a task that got its triggers after its start, until a trigger fires. */
  firing?: FiringState
  /** The number of stored slots. */
  slotCount?: number
  /** The number of runs that the schedule has begun; `maxRuns` limits it. */
  slotRuns: number
  /** The run that is queued or executes, waits for a person, or continues when the task is resumed. */
  liveRun?: RunPointer
  /** The run that is queued behind the live run. */
  nextRun?: RunPointer
  /** The run whose result waits for a person while the task continues, and the time since which it waits. */
  reviewRun?: RunPointer & { since: number }
  /** The status to which the task returns after a manual run, or after the decision about the last result of its schedule. */
  returnTo?: Task['status']
  /** The time at which the first open approval of the task expires; milliseconds since the Unix epoch. */
  waitsUntil?: number
  /** The time since which the live run waits for a person; milliseconds since the Unix epoch. */
  waitsSince?: number
  /** The open question about the task in a person's inbox. */
  choice?: { approvalId: string, about: ChoiceTopic }
}

/** The stored record of a run. The events of the run are stored separately. */
export type StoredRun = TaskRun

/** The stored record of which task a request to `/run` created. `at`: milliseconds since the Unix epoch. */
export interface Origin {
  taskId: string
  at: number
}

/** Whether the task has ended, so that it runs only after another start. A task whose record cannot be read counts as unfinished. */
export const isFinished = ({ status }: { status?: Task['status'] }): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/**
 * Returns the end time of the task, milliseconds since the Unix epoch; Infinity for a task without an end time, and for a finished task.
 */
export const endOf = ({ endsAt = Infinity, status }: Pick<StoredTask, 'endsAt' | 'status'>): number =>
  isFinished({ status }) ? Infinity : endsAt

/**
 * Returns the status to which a task returns, after its live run or a pause, if its schedule is over or was never started; undefined for
 * a task that continues its schedule.
 */
export const restingStatus = ({ returnTo }: Pick<StoredTask, 'returnTo'>): Task['status'] | undefined =>
  returnTo === 'planned' || isFinished({ status: returnTo }) ? returnTo : undefined

/** Whether the active schedule has begun all the runs that maxRuns allows. */
export const hasUsedAllRuns = ({ timing, slotRuns }: StoredTask) => timing?.maxRuns !== undefined && slotRuns >= timing.maxRuns

/** Returns the task without an active schedule. */
export function withoutTiming ({ timing, lastSlot, nextRunAt, missedAt, ...task }: StoredTask): StoredTask {
  return task
}

/** Returns the task with the active schedule of the second task, another version of the same task. */
export function withTimingOf (task: StoredTask, { timing, lastSlot, nextRunAt }: StoredTask): StoredTask {
  return { ...task, ...(timing && { timing, lastSlot }), ...(nextRunAt !== undefined && { nextRunAt }) }
}

/** Whether the goal or plan of the task has changed since the run began. */
export const isOutdated = ({ outdatedRun = 0 }: Pick<StoredTask, 'outdatedRun'>, { runNumber }: RunPointer) => runNumber <= outdatedRun

/**
 * Returns the task in this final status. While the result of an earlier run still waits for a person, the task
 * waits with that run and gets the final status afterwards.
 */
export function withFinalStatus ({ reviewRun, ...task }: StoredTask, status: Task['status']): StoredTask {
  return reviewRun === undefined ? { ...task, status } : { ...task, status: 'pending_approval', liveRun: reviewRun, returnTo: status }
}
