import type { Task, TaskBody, TaskChanges, TaskListSchema, TaskQuery, TaskStatus } from '../../schemas/tasks.ts'
import type { RunQueued, TaskRun, TaskRunListSchema, TaskSteerBody, TaskSteered } from '../../schemas/task-runs.ts'
import type { TaskSchedule } from '../../schemas/schedule.ts'
import type { Static } from '@sinclair/typebox'
import type { Op } from '../store/store-types.ts'
import { unlessDamaged } from '../store/store-errors.ts'
import { IMPORTED } from '../store/record-names.ts'
import { createTaskRepository } from './task-repository.ts'
import { createRunExecutor } from './runner/executor.ts'
import { createLifecycle } from './lifecycle.ts'
import { createDefinitions, CLOSING } from './definitions.ts'
import type { TaskDeps } from './task-deps.ts'
import { createDigest } from './digest.ts'
import { CALL_SHOWN } from './runner/run-ending.ts'
import { BadTask, TaskDamaged } from './task-errors.ts'
import { createWorkerPool, type WorkerPool } from './runner/workers.ts'
import { createRunApprovals } from './run-approvals.ts'
import { createQueue, type Queue } from './runner/queue.ts'
import { isOver, ORIGINS, runKey, taskKey, TRASH, type Origin, type StoredRun, type StoredTask } from './task-records.ts'
import { createSchedules } from './scheduling/schedules.ts'
import { createScheduleTicker } from './scheduling/ticker.ts'
import { runView, taskView } from './views.ts'

/** The states of a task that has begun and is not over. */
const UNDER_WAY: readonly TaskStatus[] = ['scheduled', 'running', 'pending_approval', 'paused']

export type Tasks = ReturnType<typeof createTasks>

/** Background tasks: what they are, their runs, and the engine that lets them run. */
export function createTasks (given: TaskDeps, workers: WorkerPool = createWorkerPool(given)) {
  const { store, clock, idempotency, config, log } = given
  const repository = createTaskRepository(given)
  const deps = { ...given, repository }
  const closing = new AbortController()
  const schedules = createSchedules(deps)
  const executor = createRunExecutor({ deps, workers, requeue: (...run) => queue.push(...run), isKnown: (runId) => queue.has(runId) })
  const queue: Queue = createQueue({ limit: () => config().tasks?.concurrency, executeRun: executor.executeRun, clock })
  const definitions = createDefinitions(deps, schedules, closing.signal)
  const lifecycle = createLifecycle({ deps, executor, queue, schedules })
  const questions = createRunApprovals({ deps, executor, queue })
  const ticker = createScheduleTicker({ deps, queue, schedules, questions })
  let keeping: Promise<void> | undefined
  let trouble: string | undefined

  /** Removes what a deleted task leaves behind. */
  async function purge (taskId: string) {
    const damaged: Op[] = []
    for await (
      const [, run] of repository.runs(taskId, {
        damaged: (runNumber) => {
          damaged.push({ type: 'del', key: runKey(taskId, runNumber) })
        }
      })
    ) await store.transact(await repository.removal(run))
    await store.transact(damaged)
    for (;;) {
      const { ops } = await schedules.removal(taskId, 500)
      if (ops.length === 0) break
      await store.transact(ops)
    }
    await store.transact([{ type: 'del', key: TRASH + taskId }])
  }

  /** Everything that was under way when the service last ended goes on. */
  async function recover () {
    if (await store.get(IMPORTED) !== undefined) {
      await (await import('./recover-imported.ts')).recoverImported({ store, clock, repository, schedules })
    }
    for await (const key of store.keys(TRASH)) {
      await purge(key.slice(TRASH.length)).catch((error) =>
        log.error({ err: error, key }, 'what a deleted task left behind could not be removed')
      )
    }
    const damaged = (taskId: string) => log.error({ taskId }, 'what is stored of a task is damaged; it does not run')
    for (const taskId of (await repository.index.load()).notFinished()) {
      if (closing.signal.aborted) return
      // One that cannot be read holds up no other.
      await executor.found(taskId).catch((error) => {
        if (error instanceof TaskDamaged) damaged(taskId)
        else if (error.statusCode !== 404) log.error({ err: error, taskId }, 'what was under way of a task could not be found')
      })
    }
  }

  /** A run as callers see it, with all that its tools did. */
  async function whole (run: StoredRun): Promise<TaskRun> {
    return runView(run, await repository.events(run.runId))
  }

  return {
    create: (body: TaskBody, key?: string): Promise<Task> =>
      idempotency.once({ route: 'POST /tasks', key, body }, (remember) => definitions.create(body, remember)),
    /**
     * Makes a task and starts it: it is there with its first run or time, or not at all. Until it is planned, the signal
     * ends that. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409).
     */
    async launch (body: TaskBody, signal: AbortSignal, origin: string): Promise<Task> {
      const either = AbortSignal.any([closing.signal, signal])
      const task = await definitions.define(body, either)
      either.throwIfAborted()
      return taskView(
        await lifecycle.launch(task, [{
          type: 'put',
          key: ORIGINS + store.digest(origin),
          value: { taskId: task.id, at: clock.now() } satisfies Origin
        }])
      )
    },
    /** The task that was launched from there, while it is under way. */
    async launched (origin: string): Promise<Task | undefined> {
      const known = await store.get<Origin>(ORIGINS + store.digest(origin))
      const task = known && await unlessDamaged(store.get<StoredTask>(taskKey(known.taskId)))
      return task === undefined || !UNDER_WAY.includes(task.status) ? undefined : taskView(task)
    },
    update: async (taskId: string, changes: TaskChanges): Promise<Task> => taskView(await definitions.update(taskId, changes)),
    get: async (taskId: string): Promise<Task> => taskView(await repository.get(taskId)),

    /** A page of tasks, newest first; with the ids of those that cannot be read. */
    async list ({ status, type, limit, cursor }: Static<typeof TaskQuery>): Promise<Static<typeof TaskListSchema>> {
      const tasks: Task[] = []
      const damaged: string[] = []
      for await (
        const task of repository.matching({
          status,
          type,
          after: cursor,
          damaged: (taskId) => {
            damaged.push(taskId)
          }
        })
      ) {
        if (tasks.length === limit) return { tasks, nextCursor: tasks.at(-1)!.id, ...named(damaged) }
        tasks.push(taskView(task))
      }
      return { tasks, ...named(damaged) }
    },

    start: async (taskId: string): Promise<Task> => taskView(await lifecycle.start(taskId)),
    pause: async (taskId: string): Promise<Task> => taskView(await lifecycle.pause(taskId)),
    resume: async (taskId: string): Promise<Task> => taskView(await lifecycle.resume(taskId)),
    cancel: async (taskId: string): Promise<Task> => taskView(await lifecycle.cancel(taskId)),
    run: (taskId: string, key?: string): Promise<RunQueued> =>
      idempotency.once({ route: `POST /tasks/${taskId}/run`, key, body: undefined }, (remember) => lifecycle.run(taskId, remember)),
    steer: (taskId: string, body: TaskSteerBody, key?: string): Promise<TaskSteered> =>
      idempotency.once({ route: `POST /tasks/${taskId}/steer`, key, body }, (remember) => lifecycle.steer(taskId, body, remember)),
    approve: questions.approve,
    cancelRun: async (taskId: string, runId: string): Promise<TaskRun> => whole(await lifecycle.cancelRun(taskId, runId)),

    /** Stops everything of the task, then removes it with its runs; one that is damaged, too. Throws TaskNotFound (404). */
    remove: (taskId: string) =>
      repository.locked(taskId, async () => {
        const task = await unlessDamaged(repository.get(taskId))
        const events = task === undefined ? [] : await lifecycle.halt(task)
        await repository.remove(taskId)
        repository.forget(taskId)
        ticker.forget(taskId)
        for (const event of events) given.emit(event)
        await purge(taskId)
        return { ok: true as const, taskId }
      }),

    /** A page of a task's runs, newest first, with the numbers of those that cannot be read; inputs and outputs of their calls are shortened. Throws TaskNotFound (404). */
    async runs (taskId: string, { limit, cursor }: { limit: number, cursor?: number }): Promise<Static<typeof TaskRunListSchema>> {
      await repository.get(taskId)
      const runs: TaskRun[] = []
      const damaged: number[] = []
      for await (
        const [, run] of repository.runs(taskId, {
          before: cursor,
          damaged: (runNumber) => {
            damaged.push(runNumber)
          }
        })
      ) {
        if (runs.length === limit) return { runs, nextCursor: String(runs.at(-1)!.runNumber), ...named(damaged) }
        runs.push(isOver(run) ? runView(run) : runView(run, await unlessDamaged(repository.events(run.runId)), CALL_SHOWN))
      }
      return { runs, ...named(damaged) }
    },

    /** One run, whole. Throws RunNotFound (404). */
    runOf: async (taskId: string, runId: string): Promise<TaskRun> => whole(await repository.run(taskId, runId)),

    /** What is ahead of a schedule, and what became of its past. Throws TaskNotFound (404), BadTask (400) when the task has none. */
    async schedule (
      taskId: string,
      { upcoming, limit, cursor }: { upcoming: number, limit: number, cursor?: number }
    ): Promise<TaskSchedule> {
      const task = await repository.get(taskId)
      if (task.schedule === undefined) throw new BadTask(`This task has no schedule: it is ${task.taskType}.`)
      return {
        schedule: task.schedule,
        upcoming: await schedules.upcoming(task, upcoming),
        ...await schedules.slots(taskId, limit, cursor)
      }
    },

    /** What happened since, what waits, and what comes next, of all tasks. */
    digest: createDigest({ repository, store, clock, timezone: schedules.timezone }),

    /** Begins to work: what was under way goes on, what is due is looked at. */
    async open () {
      await recover().catch((error) => {
        trouble = 'what was under way could not be found; the log says why'
        log.error({ err: error }, 'what was under way could not be found')
      })
      if (closing.signal.aborted) return
      keeping = ticker.run(closing.signal).catch((error) => {
        trouble = 'stopped; restart the service'
        log.error({ err: error }, 'time is no longer kept')
      })
    },

    /** How time is kept: 'ok', 'starting' until `open` is through, or what is wrong. */
    check: (): string => trouble ?? (keeping === undefined ? 'starting' : ticker.problem() ?? 'ok'),

    /** How many runs wait or work. */
    get live () {
      return queue.size
    },

    /** Puts every run down; they go on at the next start. */
    async close () {
      closing.abort(CLOSING)
      executor.close()
      await Promise.all([queue.close(), keeping])
    }
  }
}

/** What could not be read, where there is any. */
const named = <T>(damaged: T[]): { damaged?: T[] } => damaged.length > 0 ? { damaged } : {}
