import { isUnanswered, type TaskChoice, type TaskItem } from '../contracts/approval-record.ts'
import type { Ledger } from '../approvals/index.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { TaskStatus, TaskType } from '../../schemas/tasks.ts'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import {
  isDamage,
  type Op,
  type Store,
  taskInputKey,
  taskKey,
  taskMadeInKey,
  taskRunKey,
  taskRunsPrefix,
  tasksMadeInPrefix,
  taskTrashKey,
  unlessDamaged
} from '../store/index.ts'
import type { UsageRepository } from '../usage/index.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import type { RunRepository } from '../runs/index.ts'
import { RunDamaged, RunNotFound, TaskDamaged, TaskNotFound } from './task-errors.ts'
import { outcomeOfRun } from './schedule/outcomes.ts'
import { cueOps, triggerIndexOps } from './triggers/cues.ts'
import { endOf, isFinished, type RunPointer, type StoredRun, type StoredTask } from './task-records.ts'
import { settleChoice } from './task-choices.ts'
import { asksAt, healthView, WELL } from './task-health.ts'
import type { TaskNotifications } from './task-notifications.ts'
import { createTaskIndex } from './task-index.ts'
import { inState } from '../contracts/approval-states.ts'

/**
 * Returns the fields of a task about its open items. Calls of the application do not count for `waitsUntil` and
 * `waitsSince`, because they have their own time limit, which ends no run.
 */
function waitingFields (
  open: readonly TaskItem[],
  liveRun: StoredTask['liveRun']
): Pick<StoredTask, 'waitingFor' | 'waitsUntil' | 'waitsSince'> {
  if (open.length === 0) return {}
  const ofPerson = open.filter(({ kind }) => kind !== 'app')
  const ofLiveRun = ofPerson.filter(({ runId }) => runId === liveRun?.runId)
  return {
    waitingFor: open.map(({ kind, approvalId: id }) => ({ kind, id })),
    ...(ofPerson.length > 0 && { waitsUntil: Math.min(...ofPerson.map(({ expiresAt }) => expiresAt)) }),
    ...(ofLiveRun.length > 0 && { waitsSince: Math.min(...ofLiveRun.map(({ createdAt }) => createdAt)) })
  }
}

/** Returns an item in its final state, after the end of the run that asked for it. */
function leftBehind (item: TaskItem): TaskItem {
  switch (item.kind) {
    case 'result':
      return inState(item, 'denied')
    case 'tool':
      return inState(item, item.state === 'executing' ? 'unknown' : 'withdrawn')
    case 'question':
    case 'app':
      return inState(item, 'withdrawn')
  }
}

/**
 * Returns the task with the items that it waits for, and the approvals to store: the `changed` ones, and those that
 * ended runs leave behind. An open item of a run that no longer waits becomes withdrawn, or denied if it is a result.
 * A call that was executing when its run ended has an unknown outcome. `waiting`: the runs of the task that might wait.
 */
async function settleApprovals (
  ledger: Ledger,
  { task: { waitingFor: before = [], waitsUntil, waitsSince, ...task }, runs, waiting, changed }: {
    task: StoredTask,
    runs: readonly StoredRun[],
    waiting: readonly StoredRun[],
    changed: readonly TaskItem[]
  }
): Promise<{ task: StoredTask, approvals: TaskItem[] }> {
  const asked = waiting.flatMap((run) => run.status === 'pending_approval' ? run.asked : [])
  const ended = new Set(runs.filter(({ completedAt }) => completedAt !== undefined).flatMap((run) => run.asked))
  const known = new Map(changed.map((item) => [item.approvalId, item]))
  const ids = [...new Set([...asked, ...before.map(({ id }) => id), ...ended])].filter((id) => !known.has(id))
  const items = [...await ledger.ofTask(ids), ...changed]
  const open = items.filter((item) => isUnanswered(item) && asked.includes(item.approvalId))
  const left = items.filter((item) =>
    (isUnanswered(item) && !open.includes(item)) || (item.state === 'executing' && ended.has(item.approvalId))
  )
  return {
    task: { ...task, ...waitingFields(open, task.liveRun) },
    approvals: [...changed.filter((item) => !left.includes(item)), ...left.map(leftBehind)]
  }
}

/** Sets or removes the time at which the live run, while it waits for its provider, continues. */
const withRetry = ({ retryAt: _, ...task }: StoredTask, retryAt: number | undefined): StoredTask =>
  retryAt === undefined ? task : { ...task, retryAt }

/**
 * Returns the operations that notify a person that a task which goes on is failing, or that it is healthy again. They close
 * the notification about a failing task that is paused, cancelled or completed.
 */
function healthOps (
  notifications: TaskNotifications,
  { before, task, error, now }: { before: StoredTask | undefined, task: StoredTask, error: string | undefined, now: number }
): Op[] {
  const [was, is] = [before?.health?.state ?? 'ok', task.health?.state ?? 'ok']
  const key = `failing/${task.id}`
  if (was === 'ok' && is === 'failing') {
    return isFinished(task) ? [] : notifications.ops({ kind: 'failing', key, taskId: task.id, ...(error !== undefined && { text: error }) })
  }
  if (was === 'ok' || before === undefined) return []
  if (is === 'failing') return ['paused', 'cancelled', 'completed'].includes(task.status) ? notifications.closing(key) : []
  // A finished task that is started again has not recovered yet.
  if (isFinished(before)) return notifications.closing(key)
  return notifications.ops({ kind: 'recovered', key: `recovered/${task.id}/${now}`, taskId: task.id, closes: key })
}

/**
 * A change of a task. `task`, `runs`, `approvals` and `ops` are written in one transaction. Then `events` are
 * emitted, and `after` is called.
 */
export interface Change<T> {
  task: StoredTask
  runs?: StoredRun[]
  /** New approvals, and approvals with a new state. Other open items that the task no longer waits for are closed automatically. */
  approvals?: TaskItem[]
  /** A question to a person about the task itself, new or answered. It is withdrawn automatically when the task no longer needs it. */
  choice?: TaskChoice
  ops?: Op[]
  events?: TaskStreamEvent[]
  /** The result for the caller of `change`. */
  answer: T
  /** Called once the change is durable, and not awaited. */
  after?: () => void
}

/** Lets an edit return undefined, for no change, only if its caller expects no result. */
type Unchanged<T> = T extends undefined ? undefined : never

/** When the schedule ticker must next check a task (`at`, milliseconds since the Unix epoch), and whether the task runs only once. */
interface DueTask {
  at: number
  /** When the computer must be awake for the next run; milliseconds since the Unix epoch, Infinity if no run is planned. */
  awakeFrom: number
  isOnce: boolean
}

type StoredListener = (task: StoredTask, change: { runs: readonly StoredRun[], cued: readonly string[] }) => void

export type TaskRepository = ReturnType<typeof createTaskRepository>

/**
 * Creates the repository of tasks and their runs. Every change of a task goes through `change`, one at a time
 * for each task. A change is one synced transaction, and its events are emitted once it is durable.
 */
export function createTaskRepository (
  { store, clock, runs: stored, ledger, usage, notifications, emit }: {
    store: Store,
    clock: Clock,
    runs: RunRepository,
    ledger: Ledger,
    usage: Pick<UsageRepository, 'forget'>,
    notifications: TaskNotifications,
    emit: (event: TaskStreamEvent) => void
  }
) {
  const locked = createKeyedLock()
  const index = createTaskIndex(store)
  const due = new Map<string, DueTask>()
  const listeners = new Set<() => void>()
  const storedListeners = new Set<StoredListener>()

  /** Reads a task. Throws TaskNotFound (404) or TaskDamaged (500). */
  async function get (taskId: string): Promise<StoredTask> {
    const task = await store.get<StoredTask>(taskKey(taskId)).catch((error) => {
      throw isDamage(error) ? new TaskDamaged(taskId) : error
    })
    if (task === undefined) throw new TaskNotFound(taskId)
    return task
  }

  /** Reads a task; undefined if it does not exist or is damaged. Calls `damaged` with the id of a damaged task. */
  async function find (taskId: string, damaged: (taskId: string) => void): Promise<StoredTask | undefined> {
    try {
      return await store.get<StoredTask>(taskKey(taskId))
    } catch (error) {
      if (!isDamage(error)) throw error
      damaged(taskId)
    }
    return undefined
  }

  /** Reads a run of any task by its id; undefined if there is none, or if it is damaged. */
  async function runById (runId: string): Promise<StoredRun | undefined> {
    const run = await unlessDamaged(stored.get(runId))
    return run?.taskId === undefined ? undefined : run
  }

  /**
   * Reads the runs that might wait for a person, oldest first: the run whose result waits while the task continues,
   * then the live run. `changed`: newer versions of runs, which are used instead of the stored ones.
   */
  async function openRuns ({ reviewRun, liveRun }: StoredTask, changed: readonly StoredRun[] = []): Promise<StoredRun[]> {
    const pointers = [reviewRun, liveRun].filter((pointer) => pointer !== undefined)
    const runs = await Promise.all(pointers.map(({ runId }) => changed.find((run) => run.runId === runId) ?? runById(runId)))
    return runs.filter((run) => run !== undefined)
  }

  /** Reads a run of a task by its number; undefined if the run does not exist or is damaged. */
  async function runNumbered (taskId: string, runNumber: number): Promise<StoredRun | undefined> {
    const pointer = await unlessDamaged(store.get<{ runId: string }>(taskRunKey(taskId, runNumber)))
    return pointer && runById(pointer.runId)
  }

  /** Reads a run of this task. Throws RunNotFound (404) or RunDamaged (500). */
  async function run (taskId: string, runId: string): Promise<StoredRun> {
    const found = await stored.get(runId).catch((error) => {
      throw isDamage(error) ? new RunDamaged(runId) : error
    })
    if (found?.taskId !== taskId) throw new RunNotFound(runId)
    return found
  }

  /** Updates `due` for a task: when the ticker must next check it. Also called for tasks that are read at startup. */
  function watch (task: StoredTask) {
    const { status, nextRunAt = Infinity, retryAt = Infinity, waitsUntil = Infinity } = task
    const isActive = status === 'scheduled' || status === 'running' || status === 'pending_approval'
    const runsAt = Math.min(isActive ? nextRunAt : Infinity, status === 'scheduled' ? retryAt : Infinity)
    const at = Math.min(runsAt, waitsUntil, asksAt(task), endOf(task))
    // A task with an end time must use the time that is left. So the computer stays awake for its run even while the
    // run waits for its provider or a person.
    const isUnderWay = isActive && task.liveRun !== undefined && task.endsAt !== undefined
    if (at === Infinity) due.delete(task.id)
    else due.set(task.id, { at, awakeFrom: isUnderWay ? 0 : runsAt, isOnce: task.taskType === 'one_shot' })
    for (const listener of listeners) listener()
  }

  async function commit<T> (
    before: StoredTask | undefined,
    { task: given, runs = [], approvals: changed = [], choice, ops = [], events = [], answer, after }: Change<T>
  ): Promise<T> {
    const now = clock.now()
    const waiting = await openRuns(given, runs)
    const retryAt = waiting.find(({ runId }) => runId === given.liveRun?.runId)?.retryAt
    const settled = await settleApprovals(ledger, { task: withRetry(given, retryAt), runs, waiting, changed })
    const { task, choices } = await settleChoice(ledger, settled.task, choice)
    const writes: Op[] = [
      { type: 'put', key: taskKey(task.id), value: { ...task, updatedAt: now } },
      ...ledger.record([...settled.approvals, ...choices]),
      ...healthOps(notifications, { before, task, error: runs.at(-1)?.error, now })
    ]
    for (const run of runs) {
      writes.push(...stored.put(run), ...outcomeOfRun('put', run))
    }
    const cues = await cueOps(store, runs, runById)
    writes.push(...cues.ops, ...triggerIndexOps(before, task))
    if (before === undefined && task.threadId !== undefined) {
      writes.push({ type: 'put', key: taskMadeInKey(store.digest(task.threadId), task.id), value: {} })
    }
    await index.write(
      task.id,
      { status: task.status, taskType: task.taskType },
      (indexOps) => store.transact([...writes, ...indexOps, ...ops])
    )
    watch(task)
    for (const listener of storedListeners) listener(task, { runs, cued: cues.cued })
    if (before === undefined) emit({ type: 'task:change', taskId: task.id, change: 'created' })
    for (const event of events) emit(event)
    if (before !== undefined && before.status !== task.status) {
      emit({ type: 'task:status', taskId: task.id, status: task.status, previous: before.status })
    }
    if ((before?.health ?? WELL).state !== (task.health ?? WELL).state) emit({ type: 'task:health', taskId: task.id, ...healthView(task) })
    after?.()
    return answer
  }

  return {
    index,
    get,
    find,
    run,
    runById,
    openRuns,
    runNumbered,
    watch,
    forget: (taskId: string) => void due.delete(taskId),
    due: due as ReadonlyMap<string, DueTask>,
    /** Registers a listener that is called whenever `due` has changed. */
    onDue: (listener: () => void) => void listeners.add(listener),
    /**
     * Registers a listener that is called with each durable change of a task. `cued`: the ids of tasks for which an ended run stored a cue:
     * the record that the task must run because of it.
     */
    onStored: (listener: StoredListener) => void storedListeners.add(listener),

    /** Runs `work` while no other change of the same task is under way. */
    locked,

    /** Stores a new task. */
    add: <T>(change: Change<T>) => commit(undefined, change),

    /**
     * Reads a task, passes a copy to `edit`, and writes the change that `edit` returns; undefined writes nothing.
     * Throws TaskNotFound (404) and the errors of `edit`.
     */
    change: <T>(taskId: string, edit: (task: StoredTask) => Promise<Change<T> | Unchanged<T>> | Change<T>): Promise<T> =>
      locked(taskId, async () => {
        const before = await get(taskId)
        const change = await edit(structuredClone(before))
        return change === undefined ? undefined as T : commit(before, change)
      }),

    /** Yields the tasks with this status and type, newest first, and reads no others. Calls `damaged` with the ids of damaged tasks. */
    async * matching (
      { damaged, ...filter }: { status?: TaskStatus, type?: TaskType, after?: string, damaged: (taskId: string) => void }
    ): AsyncGenerator<StoredTask> {
      for (const taskId of (await index.load()).matching(filter)) {
        const task = await find(taskId, damaged)
        // The task might have changed since the index was read.
        const { status = task?.status, type = task?.taskType } = filter
        if (task !== undefined && task.status === status && task.taskType === type) yield task
      }
    },

    /** Counts the existing tasks that were created in a conversation. Reads only keys, no records. */
    async countMadeIn (threadId: string): Promise<number> {
      const tasks = await index.load()
      const prefix = tasksMadeInPrefix(store.digest(threadId))
      let count = 0
      // When a task with a damaged record is removed, its key under this prefix stays behind.
      for await (const key of store.keys(prefix)) if (tasks.has(key.slice(prefix.length))) count++
      return count
    },

    /** Removes a task and its open items and marks its runs for removal, in one transaction with the operations in `more`. */
    remove: (taskId: string, { waitingFor = [], choice }: Pick<StoredTask, 'waitingFor' | 'choice'> = {}, more: Op[] = []): Promise<void> =>
      index.write(
        taskId,
        undefined,
        (ops) =>
          store.transact([
            { type: 'del', key: taskKey(taskId) },
            { type: 'put', key: taskTrashKey(taskId), value: {} },
            ...ledger.remove([...waitingFor.map(({ id }) => id), ...choice === undefined ? [] : [choice.approvalId]]),
            ...more,
            usage.forget({ kind: 'task', id: taskId }),
            ...ops
          ])
      ),

    /** Yields the runs of a task with a number below `before`, newest first. Skips damaged runs, and calls `damaged` with their numbers. */
    async * runs (
      taskId: string,
      { before, damaged }: { before?: number, damaged: (place: Partial<RunPointer> & { runNumber: number }) => void }
    ): AsyncGenerator<StoredRun> {
      const prefix = taskRunsPrefix(taskId)
      const options = { reverse: true, after: before === undefined ? undefined : taskRunKey(taskId, before) }
      const numberOf = (key: string) => Number(key.slice(prefix.length))
      const index = store.list<{ runId: string }>(prefix, { ...options, damaged: (key) => damaged({ runNumber: numberOf(key) }) })
      for await (const [key, { runId }] of index) {
        const run = await runById(runId)
        if (run !== undefined) yield run
        // The run might have been removed since the index was read.
        else if (await store.get(key) !== undefined) damaged({ runId, runNumber: numberOf(key) })
      }
    },

    /** Reads the stored history of a run. */
    events: (runId: string): Promise<readonly RunEvent[]> => stored.events('task', runId),

    /** Reads the data that was given to a run when it was created; undefined for none. */
    input: async ({ runId, inputBytes }: Pick<StoredRun, 'runId' | 'inputBytes'>): Promise<unknown> =>
      inputBytes === undefined ? undefined : store.get(taskInputKey(runId)),

    /** Returns the open items of a run that waits; [] for any other run. */
    async open (run: StoredRun): Promise<TaskItem[]> {
      return run.status === 'pending_approval' ? (await ledger.ofTask(run.asked)).filter(isUnanswered) : []
    },

    /** Returns the operations that remove a damaged run. `runId` is unknown if the index entry is damaged, too. */
    async damagedRemoval (taskId: string, { runId, runNumber }: { runId?: string, runNumber: number }): Promise<Op[]> {
      return runId === undefined ? [{ type: 'del', key: taskRunKey(taskId, runNumber) }] : stored.taskRemoval({ taskId, runId, runNumber })
    },

    /** Returns the operations that remove a run with its history and approvals. */
    async removal (run: StoredRun): Promise<Op[]> {
      return [...await stored.taskRemoval(run), ...outcomeOfRun('del', run), ...ledger.remove(run.asked)]
    }
  }
}
