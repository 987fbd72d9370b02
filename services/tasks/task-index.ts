import type { TaskStatus, TaskType } from '../../schemas/tasks.ts'
import type { Op, Store } from '../store/store-types.ts'
import { isDamage } from '../store/store-errors.ts'
import { TooManyFinishedTasks, TooManyTasks } from './task-errors.ts'
import { isFinished, taskKey, TASKS, type StoredTask } from './task-records.ts'
import { createTaskStates, type TaskState, type TaskStates } from './task-states.ts'

/** Tasks that are not finished, and finished ones that are kept, at most. */
const MOST_TASKS = 1_000
const MOST_FINISHED = 10_000
/** Entries of an older store that are written together. */
const TOGETHER = 500

/** Beside each task, with nothing in it: its key tells what lists ask for, so that they read no task that they do not show. */
export const TASK_STATES = 'task-state/'
const stateKey = (taskId: string, { status, taskType }: TaskState) => `${TASK_STATES}${status}/${taskType}/${taskId}`

export type TaskIndex = ReturnType<typeof createTaskIndex>

/** The status and type of every task, in memory: read once from the keys of the store, and kept in step by `write`. */
export function createTaskIndex (store: Pick<Store, 'get' | 'keys' | 'transact'>) {
  let states: TaskStates | undefined
  let loading: Promise<TaskStates> | undefined
  /** What was written while the keys were being read. */
  const news = new Map<string, TaskState | undefined>()
  /** Tasks about to be written that take a place among those that are not finished. */
  let reserved = 0

  async function load (): Promise<TaskStates> {
    if (states !== undefined) return states
    loading ??= read().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function read (): Promise<TaskStates> {
    news.clear()
    const known = new Map<string, TaskState>()
    const unwanted = new Set<string>()
    for await (const key of store.keys(TASK_STATES)) {
      const [status, taskType, taskId] = key.slice(TASK_STATES.length).split('/') as [TaskStatus, TaskType, string]
      const other = known.get(taskId)
      if (other === undefined) known.set(taskId, { status, taskType })
      else unwanted.add(key).add(stateKey(taskId, other))
    }
    const found = createTaskStates()
    const missing: string[] = []
    for await (const key of store.keys(TASKS)) {
      const taskId = key.slice(TASKS.length)
      const state = known.get(taskId)
      known.delete(taskId)
      if (state === undefined || unwanted.has(stateKey(taskId, state))) missing.push(taskId)
      else found.set(taskId, state)
    }
    for (const [taskId, state] of known) unwanted.add(stateKey(taskId, state))
    // Tasks of a store that an older version wrote, or of its backup.
    for (const taskId of missing) found.set(taskId, await stateOf(taskId))
    const readable = missing.flatMap((taskId) => {
      const state = found.get(taskId)
      return state?.status === undefined ? [] : [stateKey(taskId, state)]
    })
    await mend([...unwanted], readable)
    for (const [taskId, state] of news) found.set(taskId, state)
    states = found
    return found
  }

  /** Writes the keys that lack. What a full disk does not take is made again at the next start. */
  async function mend (unwanted: string[], missing: string[]) {
    const ops = [...unwanted.map((key): Op => ({ type: 'del', key })), ...missing.map((key): Op => ({ type: 'put', key, value: {} }))]
    const idOf = (key: string) => key.slice(key.lastIndexOf('/') + 1)
    for (let at = 0; at < ops.length; at += TOGETHER) {
      await store.transact(ops.slice(at, at + TOGETHER).filter(({ key }) => !news.has(idOf(key)))).catch(() => {})
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

  function assertPlace (found: TaskStates) {
    if (found.unfinished + reserved >= MOST_TASKS) throw new TooManyTasks(MOST_TASKS)
  }

  return {
    /** What is known of all tasks. */
    load,

    /** Throws TooManyTasks or TooManyFinishedTasks (409) when no further task may be made. */
    async assertRoom (): Promise<void> {
      const found = await load()
      assertPlace(found)
      if (found.finished >= MOST_FINISHED) throw new TooManyFinishedTasks(MOST_FINISHED)
    },

    /**
     * Has a task written, or removed when `after` is undefined; `work` gets the operations that belong in its batch.
     * A task that is made, or begins anew after it was finished, needs a place, which is kept while `work` is under
     * way: also of those that come at the same moment only so many get one. Throws TooManyTasks (409).
     */
    async write (taskId: string, after: TaskState | undefined, work: (ops: Op[]) => Promise<void>): Promise<void> {
      const found = await load()
      const before = found.get(taskId)
      const places = after !== undefined && !isFinished(after) && (before === undefined || isFinished(before)) ? 1 : 0
      if (places > 0) assertPlace(found)
      const [from, to] = [before, after].map((state) => state?.status === undefined ? undefined : stateKey(taskId, state))
      const ops: Op[] = []
      if (from !== undefined && from !== to) ops.push({ type: 'del', key: from })
      if (to !== undefined && from !== to) ops.push({ type: 'put', key: to, value: {} })
      reserved += places
      try {
        await work(ops)
      } catch (error) {
        // Nobody knows whether it reached the disk: the keys are read again.
        states = undefined
        throw error
      } finally {
        reserved -= places
      }
      if (states === undefined) news.set(taskId, after)
      states?.set(taskId, after)
    }
  }
}
