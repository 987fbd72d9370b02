import type { RunTask, SteerBody, SteeredRun } from '../../schemas/agent.ts'
import type { Schedule } from '../../schemas/schedule.ts'
import type { Task, TaskBody, TaskChanges, TaskList } from '../../schemas/tasks.ts'

/** A time or a repetition, in the words of a model or a person. */
export interface When {
  /** The time of the only run, or of the first run of a repetition. */
  at?: string
  /** The repetition. */
  every?: string
  zone?: string
}

/** The conversation in which a task was created. The task inherits the provenance of the conversation, and the user's words. */
export interface TaskSource {
  threadId: string
  /** Identifies the request. While the task created for a request has not ended, the same request creates no second task. */
  origin: string
  /** The messages of the user, oldest first. The last one asked for the task. */
  written: string[]
}

/** The schedule that a text about time was parsed to. `confirm`: why a person must confirm it. */
export interface ReadTime {
  schedule: Schedule
  words: string
  /** The time zone of local times. `next`: the next planned times, milliseconds since the Unix epoch. */
  zone: string
  next: number[]
  confirm?: string
}

/** Creates background tasks. */
export interface TaskCreation {
  /** Creates a task and starts it. The signal aborts the planning. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409). */
  launch(body: TaskBody, signal: AbortSignal, source: TaskSource): Promise<Task>
  /**
   * Sends a message of the user to a run. For a run that waits for a person or for its provider, the message is
   * stored until the run continues. Throws NoActiveRun (404) or SteeringFull (429).
   */
  steerRun(taskId: string, runId: string, body: SteerBody): Promise<SteeredRun>
  /** Returns the task that `launch` created for this origin; undefined if the task has ended or is gone. */
  launched(origin: string): Promise<Task | undefined>
  /**
   * Parses a time in the words of a model. `written`: the user's message that the model read, to check the time
   * against. Returns undefined if there is no time. Throws BadSchedule (400) if the time is ambiguous.
   */
  readWhen(when: When, written?: string): Promise<ReadTime | undefined>
}

/** The operations on existing tasks. All except the lists and counts throw TaskNotFound (404); see services/tasks. */
export interface TaskControl extends TaskCreation {
  /** Counts the existing tasks that were created in a conversation. */
  countMadeIn(threadId: string): Promise<number>
  count(): Promise<number>
  list(query: { limit: number, cursor?: string }): Promise<TaskList>
  get(taskId: string): Promise<Task>
  /** `by`: the conversation whose model changes the task. With a new goal, the task then inherits the provenance of the conversation. */
  update(taskId: string, changes: TaskChanges, by?: Omit<TaskSource, 'origin'>): Promise<Task>
  pause(taskId: string): Promise<Task>
  resume(taskId: string): Promise<Task>
  cancel(taskId: string): Promise<Task>
  /** Starts a run. A second call with the same idempotency key starts no further run. */
  run(taskId: string, body: object, key?: string): Promise<unknown>
  remove(taskId: string): Promise<unknown>
}

/** Returns a task in the form in which runs of conversations show tasks. */
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
