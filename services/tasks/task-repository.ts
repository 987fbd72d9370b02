import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { TaskStatus, TaskType } from '../../schemas/tasks.ts'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Op, Store } from '../store/store-types.ts'
import { isDamage, unlessDamaged } from '../store/store-errors.ts'
import { RunDamaged, RunNotFound, TaskDamaged, TaskNotFound } from './task-errors.ts'
import type { TaskLogEvent } from './run-history.ts'
import { outcomeOfRun } from './scheduling/outcomes.ts'
import {
  eventsKey,
  eventsPrefix,
  openQuestions,
  runIndexKey,
  runKey,
  runsPrefix,
  taskKey,
  TRASH,
  type RunPointer,
  type StoredRun,
  type StoredTask
} from './task-records.ts'
import { createTaskIndex } from './task-index.ts'

/** What a change does: the task becomes `task`, `ops` go with it, then `events` leave, then `after` happens. */
export interface Change<T> {
  task: StoredTask
  runs?: StoredRun[]
  ops?: Op[]
  events?: TaskStreamEvent[]
  /** What the one who asked is told. */
  answer: T
  /** Once all of it is durable; not waited for. */
  after?: () => void
}

/** Only who is told nothing may leave everything as it is. */
type Unchanged<T> = T extends undefined ? undefined : never

export type TaskRepository = ReturnType<typeof createTaskRepository>

/**
 * The tasks and their runs on disk. Everything that changes a task goes through `change`, one at a time for each task:
 * what belongs together is one synced batch, and events leave when it is durable.
 */
export function createTaskRepository ({ store, clock, emit }: { store: Store, clock: Clock, emit: (event: TaskStreamEvent) => void }) {
  const locked = createKeyedLock()
  const index = createTaskIndex(store)
  /** When each task next wants to be looked at. */
  const due = new Map<string, number>()
  const listeners = new Set<() => void>()

  /** Throws TaskNotFound (404), TaskDamaged (500). */
  async function get (taskId: string): Promise<StoredTask> {
    const task = await store.get<StoredTask>(taskKey(taskId)).catch((error) => {
      throw isDamage(error) ? new TaskDamaged(taskId) : error
    })
    if (task === undefined) throw new TaskNotFound(taskId)
    return task
  }

  /** Undefined when it is gone, or damaged: `damaged` is told its id then. */
  async function find (taskId: string, damaged: (taskId: string) => void): Promise<StoredTask | undefined> {
    try {
      return await store.get<StoredTask>(taskKey(taskId))
    } catch (error) {
      if (!isDamage(error)) throw error
      damaged(taskId)
    }
    return undefined
  }

  /** Undefined also when what is stored of it is damaged. */
  const runAt = ({ runNumber }: Pick<RunPointer, 'runNumber'>, taskId: string) =>
    unlessDamaged(store.get<StoredRun>(runKey(taskId, runNumber)))

  /** Throws RunNotFound (404), RunDamaged (500). */
  async function run (taskId: string, runId: string): Promise<StoredRun> {
    const at = await store.get<{ taskId: string, runNumber: number }>(runIndexKey(runId))
    const found = at?.taskId === taskId
      ? await store.get<StoredRun>(runKey(taskId, at.runNumber)).catch((error) => {
        throw isDamage(error) ? new RunDamaged(runId) : error
      })
      : undefined
    if (found === undefined) throw new RunNotFound(runId)
    return found
  }

  /** Remembers when the task's next time or question is due; also for tasks that were read at the start. */
  function watch (task: StoredTask, live: StoredRun | undefined) {
    const times = live === undefined ? [] : openQuestions(live).map(({ expiresAt }) => expiresAt)
    if (task.status === 'scheduled' || task.status === 'running' || task.status === 'pending_approval') {
      times.push(task.nextRunAt ?? Infinity)
    }
    const next = Math.min(...times, Infinity)
    if (next === Infinity) due.delete(task.id)
    else due.set(task.id, next)
    for (const listener of listeners) listener()
  }

  async function commit<T> (
    before: StoredTask | undefined,
    { task, runs = [], ops = [], events = [], answer, after }: Change<T>
  ): Promise<T> {
    const now = clock.now()
    const writes: Op[] = [{ type: 'put', key: taskKey(task.id), value: { ...task, updatedAt: now } }]
    for (const run of runs) {
      writes.push({ type: 'put', key: runKey(task.id, run.runNumber), value: run })
      if (run.status === 'queued') {
        writes.push({ type: 'put', key: runIndexKey(run.runId), value: { taskId: task.id, runNumber: run.runNumber } })
      }
      writes.push(...outcomeOfRun('put', run))
    }
    await index.write(task.id, { status: task.status, taskType: task.taskType }, (more) => store.transact([...writes, ...more, ...ops]))
    const live = task.liveRun && (runs.find(({ runId }) => runId === task.liveRun?.runId) ?? await runAt(task.liveRun, task.id))
    watch(task, live)
    for (const event of events) emit(event)
    if (before !== undefined && before.status !== task.status) {
      emit({ type: 'task:status', taskId: task.id, status: task.status, previous: before.status })
    }
    after?.()
    return answer
  }

  return {
    index,
    get,
    find,
    run,
    runAt,
    watch,
    forget: (taskId: string) => {
      due.delete(taskId)
    },
    due: due as ReadonlyMap<string, number>,
    /** Calls back whenever `due` has changed. */
    onDue: (listener: () => void) => {
      listeners.add(listener)
    },

    /** One task at a time does `work`, which may read and write as it likes. */
    locked,

    /** Adds a task. */
    add: <T>(change: Change<T>) => commit(undefined, change),

    /**
     * Reads the task, lets `edit` decide on a copy, and makes the decision durable; undefined changes nothing. Throws
     * TaskNotFound (404) and whatever `edit` throws.
     */
    change: <T>(taskId: string, edit: (task: StoredTask) => Promise<Change<T> | Unchanged<T>> | Change<T>): Promise<T> =>
      locked(taskId, async () => {
        const before = await get(taskId)
        const change = await edit(structuredClone(before))
        return change === undefined ? undefined as T : commit(before, change)
      }),

    /** Tasks of that status and type, newest first: no other is read. `damaged` is told the ids of those that cannot be. */
    async * matching (
      { damaged, ...wanted }: { status?: TaskStatus, type?: TaskType, after?: string, damaged: (taskId: string) => void }
    ): AsyncGenerator<StoredTask> {
      for (const taskId of (await index.load()).matching(wanted)) {
        const task = await find(taskId, damaged)
        // It may have changed since.
        const { status = task?.status, type = task?.taskType } = wanted
        if (task !== undefined && task.status === status && task.taskType === type) yield task
      }
    },

    /** Removes a task, but not yet its runs. */
    remove: (taskId: string): Promise<void> =>
      index.write(
        taskId,
        undefined,
        (ops) => store.transact([{ type: 'del', key: taskKey(taskId) }, { type: 'put', key: TRASH + taskId, value: {} }, ...ops])
      ),

    /** The runs of a task, newest first, from behind the run with that number, but for damaged ones: `damaged` is told their numbers. */
    runs: (taskId: string, { before, damaged }: { before?: number, damaged: (runNumber: number) => void }) =>
      store.list<StoredRun>(runsPrefix(taskId), {
        reverse: true,
        ...(before !== undefined && { after: runKey(taskId, before) }),
        damaged: (key) => damaged(Number(key.slice(runsPrefix(taskId).length)))
      }),

    async events (runId: string): Promise<TaskLogEvent[]> {
      const events: TaskLogEvent[] = []
      for await (const [, chunk] of store.list<TaskLogEvent[]>(eventsPrefix(runId))) events.push(...chunk)
      return events
    },

    /** Makes a live run on disk what `run` says, with more of its history. Only its own session may. */
    async append (taskId: string, run: StoredRun, fresh: TaskLogEvent[]) {
      const written = fresh.length === 0 ? run : { ...run, chunks: run.chunks + 1 }
      await store.transact([
        { type: 'put', key: runKey(taskId, run.runNumber), value: written },
        ...(fresh.length === 0 ? [] : [{ type: 'put' as const, key: eventsKey(run.runId, run.chunks), value: fresh }])
      ])
      return written
    },

    /** The operations that remove a run and its history. */
    async removal (run: StoredRun): Promise<Op[]> {
      const { taskId, runId, runNumber } = run
      const ops: Op[] = [
        { type: 'del', key: runKey(taskId, runNumber) },
        { type: 'del', key: runIndexKey(runId) },
        ...outcomeOfRun('del', run)
      ]
      for await (const key of store.keys(eventsPrefix(runId))) ops.push({ type: 'del', key })
      return ops
    }
  }
}
