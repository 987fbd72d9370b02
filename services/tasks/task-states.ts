import type { TaskStatus, TaskType } from '../../schemas/tasks.ts'
import { isFinished } from './task-records.ts'

/** What lists ask of a task; nothing is known of one whose record cannot be read. */
export interface TaskState {
  status?: TaskStatus
  taskType?: TaskType
}

export type TaskStates = ReturnType<typeof createTaskStates>

/** The states of tasks by their ids, which are in the order in which tasks were made. */
export function createTaskStates () {
  const states = new Map<string, TaskState>()
  /** All ids, oldest first; undefined until it is asked for after one went, or came in between. */
  let order: string[] | undefined = []
  let finished = 0

  function ids (): string[] {
    order ??= [...states.keys()].sort()
    return order
  }
  const weigh = (state: TaskState | undefined) => state !== undefined && isFinished(state) ? 1 : 0

  return {
    get: (taskId: string) => states.get(taskId),
    has: (taskId: string) => states.has(taskId),

    /** Undefined when the task is gone. */
    set (taskId: string, state: TaskState | undefined) {
      const before = states.get(taskId)
      finished += weigh(state) - weigh(before)
      if (state === undefined) {
        if (states.delete(taskId)) order = undefined
        return
      }
      states.set(taskId, state)
      if (before !== undefined) return
      if (order !== undefined && (order.length === 0 || order.at(-1)! < taskId)) order.push(taskId)
      else order = undefined
    },

    get finished () {
      return finished
    },
    get unfinished () {
      return states.size - finished
    },

    /** The ids of tasks that are not finished, oldest first. */
    notFinished: (): string[] => ids().filter((taskId) => !isFinished(states.get(taskId)!)),

    /** The ids of tasks of that status and type, newest first, behind `after`. Those that cannot be read may be any. */
    matching ({ status, type, after }: { status?: TaskStatus, type?: TaskType, after?: string }): string[] {
      return ids().filter((taskId) => {
        const { status: is, taskType } = states.get(taskId)!
        return (after === undefined || taskId < after) &&
          (is === undefined || ((status === undefined || is === status) && (type === undefined || taskType === type)))
      }).reverse()
    }
  }
}
