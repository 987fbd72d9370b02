import type { Task, TaskBody } from '../../schemas/tasks.ts'

/** Takes requests for background work. `origin` identifies the words of a conversation that asked for it. */
export interface TaskLauncher {
  /**
   * Creates a task and starts it. The signal aborts the planning. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409).
   */
  launch(body: TaskBody, signal: AbortSignal, origin: string): Promise<Task>
  /** The task that `launch` created for that origin, while the task is started and has not ended. */
  launched(origin: string): Promise<Task | undefined>
}
