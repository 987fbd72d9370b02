import type { RunTask, SteerBody, SteeredRun } from '../../schemas/agent.ts'
import type { Schedule } from '../../schemas/schedule.ts'
import type { Task, TaskBody, TaskChanges, TaskList } from '../../schemas/tasks.ts'

/** A time or a repetition, in words of a model or a person. */
export interface When {
  /** The time of the only run, or of the first. */
  at?: string
  /** The repetition. */
  every?: string
  zone?: string
}

/** The conversation in which a task was made. The task takes over which addresses the conversation knows, and what the person said. */
export interface TaskSource {
  threadId: string
  /** Identifies the request: while the task made for it has not ended, the same request makes no second task. */
  origin: string
  /** The messages of the user; the last one is the newest, and asked for the task. */
  written: string[]
}

/** How a text was read as a time. `confirm`: why a person must confirm it. Times are milliseconds since the Unix epoch. */
export interface ReadTime {
  schedule: Schedule
  words: string
  /** The time zone of local times, and the next planned times. */
  zone: string
  next: number[]
  confirm?: string
}

/** Creates background tasks. */
export interface TaskCreation {
  /**
   * Creates a task and starts it. The signal aborts the planning. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409).
   */
  launch(body: TaskBody, signal: AbortSignal, source: TaskSource): Promise<Task>
  /**
   * Keeps what the user says to a run that waits for a person or for its provider, until the run continues. Throws NoActiveRun (404) or
   * SteeringFull (429).
   */
  steerRun(taskId: string, runId: string, body: SteerBody): Promise<SteeredRun>
  /** Returns the task that `launch` created for that origin, if it is started and has not ended. */
  launched(origin: string): Promise<Task | undefined>
  /**
   * Reads a time in the words of a model, which heard it in the words that the person has `written`; undefined if there is none. Throws
   * BadSchedule (400) if the time is ambiguous.
   */
  readWhen(when: When, written?: string): Promise<ReadTime | undefined>
}

/** The operations on existing tasks. All except the lists throw TaskNotFound (404); see services/tasks. */
export interface TaskControl extends TaskCreation {
  /** Counts the tasks that were made in a conversation and not deleted. */
  countMadeIn(threadId: string): Promise<number>
  count(): Promise<number>
  list(query: { limit: number, cursor?: string }): Promise<TaskList>
  get(taskId: string): Promise<Task>
  /** `by`: the conversation whose model changes the task; the task then takes over which addresses that conversation knows. */
  update(taskId: string, changes: TaskChanges, by?: Omit<TaskSource, 'origin'>): Promise<Task>
  pause(taskId: string): Promise<Task>
  resume(taskId: string): Promise<Task>
  cancel(taskId: string): Promise<Task>
  /** A second call with the same key starts no further run. */
  run(taskId: string, body: object, key?: string): Promise<unknown>
  remove(taskId: string): Promise<unknown>
}

/** Returns a task in the form in which the runs of conversations show it. */
export const asRunTask = (
  { id, goal, taskType, status, schedule, scheduleWords, nextRunAt }: Task,
  time?: Pick<ReadTime, 'zone' | 'next'>,
  { isNew = false }: { isNew?: boolean } = {}
): RunTask => ({
  taskId: id,
  goal,
  taskType,
  status,
  interval: schedule?.interval,
  words: scheduleWords,
  nextRunAt,
  zone: time?.zone,
  next: time?.next,
  isNew: isNew || undefined
})
