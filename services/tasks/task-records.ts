import type { Task } from '../../schemas/tasks.ts'
import type { TaskQuestion, TaskRun, TaskToolCall } from '../../schemas/task-runs.ts'
import type { Summary } from '../models/compaction/items.ts'
import type { Plan as Timing } from './scheduling/calendar/schedule-plan.ts'
import { historyKey } from '../store/record-names.ts'
import type { WorkFolder } from '../tools/work-folder.ts'

/** Points at a run of the task. */
export interface RunPointer {
  runId: string
  runNumber: number
}

/** A task as it is stored: what callers see, and what only the engine needs. */
export interface StoredTask extends Task {
  /** Tools that were used in approved runs, see `learnedName`: after the first N they go unasked. */
  learnedTools: string[]
  /** The run that was under way when goal or plan last changed: approved, it counts for nothing now. */
  outdatedRun?: number
  /** Failed runs since the last one that did not fail. */
  failuresInRow: number
  /** Its schedule, read when it was started. */
  timing?: Timing
  /** The newest planned time that has its fate. */
  lastSlot?: number
  /** How many slots are stored. */
  slotCount?: number
  /** Runs that its schedule began, towards maxRuns. */
  slotRuns: number
  /** The run that works, waits for a person, or is to go on when the task is resumed. */
  liveRun?: RunPointer
  /** A run that follows the live one. */
  nextRun?: RunPointer
  /** Where a run by hand leaves the task when it is over. */
  returnTo?: Task['status']
}

export interface StoredQuestion extends TaskQuestion {
  toolCallId?: string
  /** Of the tool: another one of its name is not run. */
  identity?: string
  /** Which folder `cwd` was when it was shown, see `WorkFolder`. Absent in older records, which are bound to the path alone. */
  folder?: Omit<WorkFolder, 'path'>
  /** `withdrawn`: it was approved, but its folder had changed, and another question took its place. */
  state: 'open' | 'approved' | 'rejected' | 'withdrawn'
  notes?: string
}

/** A run as it is stored beside its events. */
export interface StoredRun extends Omit<TaskRun, 'questions' | 'toolCalls'> {
  questions: StoredQuestion[]
  /** Written once, at the end, shortened; until then the events tell. */
  toolCalls: TaskToolCall[]
  /** How many chunks of events are stored. */
  chunks: number
  /** Model calls so far. */
  steps: number
  /** The run had its one refinement. */
  refined: boolean
  /** Milliseconds of work, without waiting for people. */
  activeMs: number
  /** Times the service or its worker died under it. */
  crashes: number
  /** It was put down in order, by a shutdown: going on is no crash. */
  putDown?: boolean
  /** A person looks at this run. */
  needsApproval: boolean
  /** What stands for its older steps before a model. */
  summaries?: Summary[]
  /** What it learned, for the task's memory when it completes. */
  learned?: { findings: string[], decisions: string[] }
}

export const TASKS = 'task/'
export const taskKey = (taskId: string) => TASKS + taskId
export const runsPrefix = (taskId: string) => `task-run/${taskId}/`
export const runKey = (taskId: string, runNumber: number) => historyKey('task-run', taskId, runNumber)
/** Finds a run by its id. */
export const runIndexKey = (runId: string) => `task-run-id/${runId}`
export const eventsPrefix = (runId: string) => `task-event/${runId}/`
export const eventsKey = (runId: string, chunk: number) => historyKey('task-event', runId, chunk)
export const slotsPrefix = (taskId: string) => `task-slot/${taskId}/`
/** Slots come in the order of their times; one that stands for many takes no other's place. */
export const slotKey = (taskId: string, { at, from }: { at: number, from?: number }) =>
  slotsPrefix(taskId) + [at, ...from === undefined ? [] : [from]].map((time) => String(time).padStart(16, '0')).join('-')
/** Which task a request to `/run` has made. */
export const ORIGINS = 'task-origin/'
export interface Origin {
  taskId: string
  at: number
}
/** A task that is being deleted: its runs go after it, also when the service dies in between. */
export const TRASH = 'task-trash/'

/** Whether nothing of the task is to come unless somebody starts it again. One whose record cannot be read is not. */
export const isFinished = ({ status }: { status?: Task['status'] }): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

export const isOver = ({ status }: Pick<StoredRun, 'status'>) => !['queued', 'running', 'pending_approval'].includes(status)

/** The question about a tool that a person said no to: what the run then lacks is no fault of its own. */
export const deniedTool = (run: StoredRun) => run.questions.find(({ kind, state }) => kind === 'tool' && state === 'rejected')

export const openQuestions = (run: StoredRun) => run.questions.filter(({ state }) => state === 'open')

/** Whether its schedule is under way and has begun all the runs that it may. */
export const isSpent = ({ timing, slotRuns }: StoredTask) => timing?.maxRuns !== undefined && slotRuns >= timing.maxRuns

/** The task without a schedule under way. */
export function withoutTiming ({ timing, lastSlot, nextRunAt, ...task }: StoredTask): StoredTask {
  return task
}

/** The task with the schedule of another state of it under way. */
export function withTimingOf (task: StoredTask, { timing, lastSlot, nextRunAt }: StoredTask): StoredTask {
  return { ...task, ...(timing !== undefined && { timing, lastSlot }), ...(nextRunAt !== undefined && { nextRunAt }) }
}

/** What is remembered of a tool that a person has approved: one of a tool server is no longer that tool when it has changed. */
export const learnedName = (tool: string, identity?: string) => identity === undefined ? tool : `${tool} ${identity}`
