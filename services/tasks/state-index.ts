import type { TaskStatus, TaskType } from '../../schemas/tasks.ts'
import { isFinished } from './task-records.ts'

/** The fields by which lists filter tasks. Both are absent when the record of the task cannot be read. */
export interface TaskState {
  status?: TaskStatus
  taskType?: TaskType
}

export type TaskStates = ReturnType<typeof createTaskStates>

/** The states of tasks by id. The order of ids is the order of creation. */
export function createTaskStates () {
  const states = new Map<string, TaskState>()
  /** All ids, oldest first; undefined when it must be sorted again after a removal or an insertion in between. */
  let order: string[] | undefined = []
  let finished = 0

  function ids (): string[] {
    order ??= [...states.keys()].sort()
    return order
  }
  const countFinished = (state: TaskState | undefined) => state !== undefined && isFinished(state) ? 1 : 0

  return {
    get: (taskId: string) => states.get(taskId),
    has: (taskId: string) => states.has(taskId),

    /** Sets the state of a task; `undefined` removes the task. */
    set (taskId: string, state: TaskState | undefined) {
      const before = states.get(taskId)
      finished += countFinished(state) - countFinished(before)
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

    /** The ids of the tasks with that status and type, newest first, older than `after`. Unreadable tasks always match. */
    matching ({ status, type, after }: { status?: TaskStatus, type?: TaskType, after?: string }): string[] {
      return ids().filter((taskId) => {
        const { status: taskStatus, taskType } = states.get(taskId)!
        return (after === undefined || taskId < after) &&
          (taskStatus === undefined || ((status === undefined || taskStatus === status) && (type === undefined || taskType === type)))
      }).reverse()
    }
  }
}
