import type { SteerBody, SteeredRun, When } from '../../schemas/agent.ts'
import type { Schedule } from '../../schemas/schedule.ts'
import type { Task, TaskBody } from '../../schemas/tasks.ts'

/** Takes requests for background work. `origin` identifies the words of a conversation that asked for it. */
export interface TaskLauncher {
  /**
   * Creates a task and starts it. The signal aborts the planning. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409).
   */
  launch(body: TaskBody, signal: AbortSignal, origin: string): Promise<Task>
  /**
   * Keeps what the user says to a run that waits, for a person or its provider, until the run goes on. Throws NoActiveRun (404) or
   * SteeringFull (429).
   */
  steerRun(taskId: string, runId: string, body: SteerBody): Promise<SteeredRun>
  /** The task that `launch` created for that origin, while the task is started and has not ended. */
  launched(origin: string): Promise<Task | undefined>
  /**
   * Reads a time as a model heard it; undefined when there is none. `everyMs`: it runs so often that a person must confirm it. Throws
   * BadSchedule (400) when the time is in doubt.
   */
  readWhen (when: When): Promise<{ schedule: Schedule, words: string, everyMs?: number } | undefined>
}
