import type { RunTask, SteerBody, SteeredRun } from '../../schemas/agent.ts'
import type { Schedule } from '../../schemas/schedule.ts'
import type { Task, TaskBody, TaskChanges, TaskList } from '../../schemas/tasks.ts'

/** When something is to be done, as a model or a person says it. */
export interface When {
  /** Once, or first. */
  at?: string
  /** How often. */
  every?: string
  zone?: string
}

/** The conversation that a task comes from: the task keeps what the conversation knows of addresses, and what a person said. */
export interface TaskSource {
  threadId: string
  /** Identifies the wish: while the task that it became has not ended, it becomes no second one. */
  origin: string
  /** What the user wrote in it; the newest message, which is the last one, asked for the task. */
  written: string[]
}

/** A time as it was read. `confirm`: why a person must confirm it. Times in milliseconds since the Unix epoch. */
export interface ReadTime {
  schedule: Schedule
  words: string
  /** The time zone of its local times, and the next planned times. */
  zone: string
  next: number[]
  confirm?: string
}

/** Takes requests for background work. */
export interface TaskCreation {
  /**
   * Creates a task and starts it. The signal aborts the planning. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409).
   */
  launch(body: TaskBody, signal: AbortSignal, source: TaskSource): Promise<Task>
  /**
   * Keeps what the user says to a run that waits, for a person or its provider, until the run goes on. Throws NoActiveRun (404) or
   * SteeringFull (429).
   */
  steerRun(taskId: string, runId: string, body: SteerBody): Promise<SteeredRun>
  /** The task that `launch` created for that origin, while the task is started and has not ended. */
  launched(origin: string): Promise<Task | undefined>
  /**
   * Reads a time as a model heard it in what a person has `written`; undefined when there is none. Throws BadSchedule (400) when the time
   * is in doubt.
   */
  readWhen(when: When, written?: string): Promise<ReadTime | undefined>
}

/** What can be done with the tasks that there are. All but the lists throw TaskNotFound (404); see services/tasks. */
export interface TaskControl extends TaskCreation {
  /** Counts the tasks that were made in a conversation and that were not deleted. */
  countMadeIn(threadId: string): Promise<number>
  count(): Promise<number>
  list(query: { limit: number, cursor?: string }): Promise<TaskList>
  get(taskId: string): Promise<Task>
  /** `by`: the conversation whose model changes it; the task then inherits what that knows of addresses. */
  update(taskId: string, changes: TaskChanges, by?: Omit<TaskSource, 'origin'>): Promise<Task>
  pause(taskId: string): Promise<Task>
  resume(taskId: string): Promise<Task>
  cancel(taskId: string): Promise<Task>
  /** With a key that was used for it before, no further run starts. */
  run(taskId: string, body: object, key?: string): Promise<unknown>
  remove(taskId: string): Promise<unknown>
}

/** A task as runs of conversations show it. */
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
