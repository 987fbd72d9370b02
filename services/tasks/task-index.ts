import type { TaskStatus, TaskType } from '../../schemas/tasks.ts'
import { isDamage, type Op, type Store, TASK_STATES, taskKey, TASKS, taskStateKey } from '../store/index.ts'
import { TooManyFinishedTasks, TooManyTasks } from './task-errors.ts'
import { isFinished, type StoredTask } from './task-records.ts'

/** The fields by which task lists are filtered. Both are absent if the record of the task cannot be read. */
interface TaskState {
  status?: TaskStatus
  taskType?: TaskType
}

export type TaskStates = ReturnType<typeof createTaskStates>

/** Creates the map of task states by id. The order of ids is the order in which the tasks were created. */
function createTaskStates () {
  const states = new Map<string, TaskState>()
  /** All ids, oldest first; undefined if the ids must be sorted again after a removal or an insertion in between. */
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

    /**
     * Returns the ids of the tasks with this status and type, newest first, that are older than the task `after`.
     * Tasks whose record cannot be read always match.
     */
    matching ({ status, type, after }: { status?: TaskStatus, type?: TaskType, after?: string }): string[] {
      return ids().filter((taskId) => {
        const { status: taskStatus, taskType } = states.get(taskId)!
        return (after === undefined || taskId < after) &&
          (taskStatus === undefined || ((status === undefined || taskStatus === status) && (type === undefined || taskType === type)))
      }).reverse()
    }
  }
}

/** The most unfinished tasks, and the most finished tasks that are stored. */
const MAX_UNFINISHED = 1_000
const MAX_FINISHED = 10_000
/** How many index entries a repair of the index writes in one transaction. */
const BATCH = 500

/**
 * Creates the index of the status and type of every task, in memory. The index is read once from the keys of the
 * store and then updated by `write`.
 */
export function createTaskIndex (store: Pick<Store, 'get' | 'keys' | 'transact'>) {
  let states: TaskStates | undefined
  let loading: Promise<TaskStates> | undefined
  /** States that are written while the keys are being read. */
  const writtenMeanwhile = new Map<string, TaskState | undefined>()
  /** The number of unfinished tasks whose write is under way. They count towards MAX_UNFINISHED. */
  let reserved = 0

  async function load (): Promise<TaskStates> {
    if (states !== undefined) return states
    loading ??= read().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function read (): Promise<TaskStates> {
    writtenMeanwhile.clear()
    const known = new Map<string, TaskState>()
    const staleKeys = new Set<string>()
    for await (const key of store.keys(TASK_STATES)) {
      const [status, taskType, taskId] = key.slice(TASK_STATES.length).split('/') as [TaskStatus, TaskType, string]
      const other = known.get(taskId)
      if (other === undefined) known.set(taskId, { status, taskType })
      else staleKeys.add(key).add(taskStateKey(taskId, other))
    }
    const found = createTaskStates()
    const missing: string[] = []
    for await (const key of store.keys(TASKS)) {
      const taskId = key.slice(TASKS.length)
      const state = known.get(taskId)
      known.delete(taskId)
      if (state === undefined || staleKeys.has(taskStateKey(taskId, state))) missing.push(taskId)
      else found.set(taskId, state)
    }
    for (const [taskId, state] of known) staleKeys.add(taskStateKey(taskId, state))
    // After a repair of the database, tasks might lack their index entries.
    for (const taskId of missing) found.set(taskId, await stateOf(taskId))
    const readable = missing.flatMap((taskId) => {
      const state = found.get(taskId)
      return state?.status === undefined ? [] : [taskStateKey(taskId, state)]
    })
    await repair([...staleKeys], readable)
    for (const [taskId, state] of writtenMeanwhile) found.set(taskId, state)
    states = found
    return found
  }

  /** Deletes stale keys and writes missing keys. Failed writes, for example on a full disk, are retried at the next start. */
  async function repair (staleKeys: string[], missingKeys: string[]) {
    const ops = [...staleKeys.map((key): Op => ({ type: 'del', key })), ...missingKeys.map((key): Op => ({ type: 'put', key, value: {} }))]
    const idOf = (key: string) => key.slice(key.lastIndexOf('/') + 1)
    for (let at = 0; at < ops.length; at += BATCH) {
      await store.transact(ops.slice(at, at + BATCH).filter(({ key }) => !writtenMeanwhile.has(idOf(key)))).catch(() => {})
    }
  }

  async function stateOf (taskId: string): Promise<TaskState | undefined> {
    try {
      const task = await store.get<StoredTask>(taskKey(taskId))
      return task && { status: task.status, taskType: task.taskType }
    } catch (error) {
      if (isDamage(error)) return {}
      throw error
    }
  }

  function assertCapacity (found: TaskStates) {
    if (found.unfinished + reserved >= MAX_UNFINISHED) throw new TooManyTasks(MAX_UNFINISHED)
  }

  return {
    /** The states of all tasks. */
    load,

    /** Throws TooManyTasks or TooManyFinishedTasks (409) if no further task can be created. */
    async assertRoom (): Promise<void> {
      const found = await load()
      assertCapacity(found)
      if (found.finished >= MAX_FINISHED) throw new TooManyFinishedTasks(MAX_FINISHED)
    },

    /**
     * Updates the index for a task that `work` writes to the store; `after` undefined means that `work` removes the
     * task. `work` must include the operations that it receives in its transaction. A created or restarted task counts
     * towards the limit while `work` runs, so that concurrent writes cannot exceed the limit. Throws TooManyTasks (409).
     */
    async write (taskId: string, after: TaskState | undefined, work: (ops: Op[]) => Promise<void>): Promise<void> {
      const found = await load()
      const before = found.get(taskId)
      const added = after !== undefined && !isFinished(after) && (before === undefined || isFinished(before)) ? 1 : 0
      if (added > 0) assertCapacity(found)
      const [from, to] = [before, after].map((state) => state?.status === undefined ? undefined : taskStateKey(taskId, state))
      const ops: Op[] = []
      if (from !== undefined && from !== to) ops.push({ type: 'del', key: from })
      if (to !== undefined && from !== to) ops.push({ type: 'put', key: to, value: {} })
      reserved += added
      try {
        await work(ops)
      } catch (error) {
        // The failed write might have reached the disk, so the next load reads the keys again.
        states = undefined
        throw error
      } finally {
        reserved -= added
      }
      if (states === undefined) writtenMeanwhile.set(taskId, after)
      states?.set(taskId, after)
    }
  }
}
