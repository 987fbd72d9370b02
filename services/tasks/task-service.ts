import type { Task, TaskBody, TaskChanges, TaskMemory, TaskMemoryBody, TaskStatus } from '../../schemas/tasks.ts'
import type { RunQueued, TaskRun, TaskRunBody, TaskSteerBody, TaskSteered } from '../../schemas/task-runs.ts'
import {
  IMPORTED,
  isDamage,
  type Op,
  provenanceKey,
  TASK_TRASH,
  taskKey,
  taskMadeInKey,
  taskOriginKey,
  taskTrashKey,
  unlessDamaged
} from '../store/index.ts'
import { createTaskRepository, type Change } from './task-repository.ts'
import { createRunExecutor, type RunExecutor } from './runner/executor.ts'
import { createLifecycle } from './lifecycle.ts'
import { createDefinitions, CLOSING, emptyTaskMemory } from './definitions.ts'
import type { TaskSource } from '../contracts/task-control.ts'
import type { RunDeps, TaskDeps } from './task-deps.ts'
import { createDigest } from './digest/digest.ts'
import { missingGrant } from './digest/by-task.ts'
import { isGone } from './task-errors.ts'
import { createWorkerPool, type WorkerPool } from './runner/workers.ts'
import { createRunApprovals } from './run-approvals.ts'
import { inheritProvenance } from '../approvals/index.ts'
import { createQueue, type Queue } from './runner/queue.ts'
import { type AgentUser, isOver, taskRunView, withRunOptions } from '../runs/index.ts'
import { type Origin, type StoredRun, type StoredTask, WORDS_KEPT } from './task-records.ts'
import { nameOfTask } from '../lib/short-name.ts'
import { isOnce } from '../calendar/index.ts'
import { createSchedules, type Schedules } from './schedule/schedules.ts'
import { createScheduleTicker } from './schedule/ticker.ts'
import { createTellUser } from './task-notifications.ts'
import { withLists } from './runner/task-memory.ts'
import { firingRemovals, triggerRemovals } from './triggers/cues.ts'
import { createTriggerEngine } from './triggers/trigger-engine.ts'
import { createTaskLists, taskView } from './task-lists.ts'
import { closeRun } from './runner/run-ending.ts'
import { createRehearsals } from './rehearsal/rehearsals.ts'

/** The states of a task that was started and has not ended. */
const STARTED: readonly TaskStatus[] = ['scheduled', 'running', 'pending_approval', 'paused']

export type Tasks = ReturnType<typeof createTasks>

/** Creates the service for background tasks: their definitions, their runs, and the engine that executes the runs. */
export function createTasks (collaborators: TaskDeps, workers: WorkerPool = createWorkerPool(collaborators)) {
  const { store, clock, ledger, liveQuestions, undo, idempotency, agents, config, log } = collaborators
  const repository = createTaskRepository(collaborators)
  const deps = { ...collaborators, repository }
  const closing = new AbortController()
  const schedules = createSchedules(deps)
  const executor = createRunExecutor({ deps, workers, requeue: (...run) => queue.push(...run), isKnown: (runId) => queue.has(runId) })
  const queue: Queue = createQueue({ limit: () => config().tasks?.concurrency, executeRun: executor.executeRun, clock })
  const definitions = createDefinitions(deps, schedules, closing.signal)
  const lifecycle = createLifecycle({ deps, executor, queue, schedules })
  const approvals = createRunApprovals({ deps, executor, queue, lifecycle })
  const ticker = createScheduleTicker({ deps, executor, queue, schedules, approvals })
  const triggers = createTriggerEngine({ deps, queue })
  const rehearsals = createRehearsals({ deps, workers })
  const lists = createTaskLists({ repository, schedules, liveQuestions })
  const digest = createDigest({
    repository,
    ledger,
    liveQuestions,
    store,
    clock,
    timezone: schedules.timezone,
    accepted: rehearsals.accepted,
    tools: collaborators.host,
    chats: collaborators,
    async missingGrant (task, call) {
      const { options } = await agents.resolve([task.options]).catch(() => ({ options: task.options }))
      return missingGrant(withRunOptions(deps, options), task, call)
    }
  })
  const recovered = Promise.withResolvers<void>()
  let ticking: Promise<unknown> | undefined
  let problem: string | undefined

  /** Removes everything that a deleted task left behind: its runs, slots, firings, rehearsals, and the copies of files for undo. */
  async function purge (taskId: string) {
    const damaged: Array<{ runId?: string, runNumber: number }> = []
    const runs = repository.runs(taskId, { damaged: (place) => void damaged.push(place) })
    for await (const run of runs) await store.transact(await repository.removal(run))
    for (const place of damaged) await store.transact(await repository.damagedRemoval(taskId, place))
    for (;;) {
      const { ops } = await schedules.removal(taskId, 500)
      if (ops.length === 0) break
      await store.transact(ops)
    }
    for (;;) {
      const ops = await firingRemovals(store, taskId, 500)
      if (ops.length === 0) break
      await store.transact(ops)
    }
    await rehearsals.purge(taskId)
    const changes = await undo.removal(taskId)
    await store.transact([...changes, { type: 'del', key: taskTrashKey(taskId) }])
    if (changes.length > 0) undo.sweepSoon()
  }

  /** Finishes the removal of deleted tasks, and continues the runs that were under way when the service last ended. */
  async function recover () {
    if (await store.get(IMPORTED) !== undefined) {
      await recoverImported({ ...deps, executor, schedules })
    }
    for await (const key of store.keys(TASK_TRASH)) {
      await purge(key.slice(TASK_TRASH.length)).catch((error) =>
        log.error({ err: error, key }, 'the runs of a deleted task could not be removed')
      )
    }
    const damaged = (taskId: string) => log.error({ taskId }, 'the record of a task is damaged; the task does not run')
    for (const taskId of (await repository.index.load()).notFinished()) {
      if (closing.signal.aborted) return
      // A task that cannot be read must not delay the others.
      await executor.recover(taskId).catch((error) => {
        if (isDamage(error)) damaged(taskId)
        else if (!isGone(error)) log.error({ err: error, taskId }, 'the run of a task could not be recovered')
      })
    }
  }

  /** Starts a new task. The agent of the task cannot be deleted meanwhile. */
  const launch = (task: StoredTask, opsOf: (started: StoredTask) => Op[]): Promise<StoredTask> =>
    agents.using(task.options.agent, () => lifecycle.launch(task, opsOf))

  const editMemory = (taskId: string, edit: (memory: TaskMemory) => TaskMemory): Promise<TaskMemory> =>
    repository.change(taskId, (task) => {
      const memory = edit(task.memory)
      return { task: { ...task, memory }, answer: memory }
    })

  /** Returns the public form of a run, with unshortened tool calls. */
  async function fullRunView (given: StoredRun): Promise<TaskRun> {
    const { run, questions } = await lists.withQuestions(given)
    const [events, input] = await Promise.all([repository.events(run.runId), repository.input(run)])
    return taskRunView(run, { questions, events, input })
  }

  return {
    async create (body: TaskBody, key?: string): Promise<Task> {
      const { start = false, ...definition } = body
      const task = await idempotency.once<Task>({ route: 'POST /tasks', key, body }, async (remember) =>
        start
          ? taskView(await launch(await definitions.define(definition), (started) => remember(taskView(started))))
          : definitions.create(definition, remember))
      workers.prepare()
      return task
    },
    /**
     * Creates a task for a conversation and starts it, in one transaction with its first run or slot. The signal
     * aborts the planning. Throws BadTask, BadFolder or BadSchedule (400), TooManyTasks (409).
     */
    async launch (body: TaskBody, signal: AbortSignal, { threadId, origin, written }: TaskSource): Promise<Task> {
      const either = AbortSignal.any([closing.signal, signal])
      const words = { said: written.join('\n\n').slice(-WORDS_KEPT), request: written.at(-1)?.slice(0, WORDS_KEPT) }
      const task = { ...await definitions.define(body, either), ...words, threadId }
      either.throwIfAborted()
      // The task gets the provenance of the conversation, so that a page which misled the conversation gains no
      // further reach through the task.
      const inherited = await inheritProvenance(store, store.digest(threadId), task.id)
      return taskView(
        await launch(task, () => [
          {
            type: 'put',
            key: taskOriginKey(store.digest(origin)),
            value: { taskId: task.id, at: clock.now() } satisfies Origin
          },
          ...inherited
        ])
      )
    },
    /** Returns the task that `launch` created for this origin; undefined if the task has ended or is gone. */
    async launched (origin: string): Promise<Task | undefined> {
      const known = await store.get<Origin>(taskOriginKey(store.digest(origin)))
      const task = known && await unlessDamaged(store.get<StoredTask>(taskKey(known.taskId)))
      return task === undefined || !STARTED.includes(task.status) ? undefined : taskView(task)
    },
    countMadeIn: repository.countMadeIn,
    count: async (): Promise<number> => {
      const { finished, unfinished } = await repository.index.load()
      return finished + unfinished
    },
    update: async (taskId: string, changes: TaskChanges, by?: Omit<TaskSource, 'origin'>): Promise<Task> =>
      taskView(await definitions.update(taskId, changes, by)),
    /** Returns the tasks that use the agent, in the form that `Agents.remove` takes. */
    async usersOf (name: string): Promise<AgentUser[]> {
      const users: AgentUser[] = []
      for await (const task of repository.matching({ damaged () {} })) {
        if (task.options.agent === name) users.push({ path: `/tasks/${task.id}`, kind: 'task', name: nameOfTask(task) })
      }
      return users
    },
    memory: async (taskId: string): Promise<TaskMemory> => (await repository.get(taskId)).memory,
    /** Replaces lists of the task memory, which later runs receive, by lists from a person. */
    replaceMemory: (taskId: string, lists: TaskMemoryBody): Promise<TaskMemory> => editMemory(taskId, (memory) => withLists(memory, lists)),
    /** Empties the memory of the task. */
    clearMemory: (taskId: string): Promise<TaskMemory> => editMemory(taskId, emptyTaskMemory),
    firings: triggers.firings,
    previewSchedule: schedules.preview,
    /** Parses a time that a model extracted from a user's message. Throws BadSchedule (400). */
    readWhen: schedules.readWhen,
    get: async (taskId: string): Promise<Task> => taskView(await repository.get(taskId)),

    ...lists,

    rehearsals,

    start: async (taskId: string): Promise<Task> => taskView(await lifecycle.start(taskId)),
    pause: async (taskId: string): Promise<Task> => taskView(await lifecycle.pause(taskId)),
    resume: async (taskId: string): Promise<Task> => taskView(await lifecycle.resume(taskId)),
    cancel: async (taskId: string): Promise<Task> => taskView(await lifecycle.cancel(taskId)),
    /** Runs the task now, with the data in the body. `key`: the idempotency key. */
    run: (taskId: string, body: TaskRunBody, key?: string): Promise<RunQueued> =>
      idempotency.once({ route: `POST /tasks/${taskId}/run`, key, body }, (remember) => lifecycle.run(taskId, body, remember)),
    tellUser: createTellUser(deps),
    steerRun: lifecycle.steerRun,
    steer: (taskId: string, body: TaskSteerBody, key?: string): Promise<TaskSteered> =>
      idempotency.once({ route: `POST /tasks/${taskId}/steer`, key, body }, (remember) => lifecycle.steer(taskId, body, remember)),
    approve: approvals.approve,
    answerItem: approvals.answerItem,
    /** Answers the question of the task about itself, outside of its runs. */
    choose: lifecycle.choose,
    closeCall: approvals.closeCall,
    /** Cancels one run, or a rehearsal; see `Lifecycle.cancelRun` and `Rehearsals.cancel`. */
    cancelRun: async (taskId: string, runId: string): Promise<TaskRun> =>
      fullRunView(await rehearsals.cancel(taskId, runId) ?? await lifecycle.cancelRun(taskId, runId)),

    /** Stops the runs of a task, then removes the task with its runs. Works for a damaged task, too. Throws TaskNotFound (404). */
    remove: (taskId: string) =>
      repository.locked(taskId, async () => {
        const task = await unlessDamaged(repository.get(taskId))
        const events = task === undefined ? [] : await lifecycle.halt(task)
        await rehearsals.halt(taskId)
        await repository.remove(taskId, task, [
          { type: 'del', key: provenanceKey(taskId) },
          ...(task?.threadId === undefined ? [] : [{ type: 'del' as const, key: taskMadeInKey(store.digest(task.threadId), taskId) }]),
          ...await triggerRemovals(store, task ?? { id: taskId }),
          ...await deps.grants.removals({ taskId }),
          deps.grants.made.removal(taskId),
          ...await deps.ledger.decided.removals({ taskId })
        ])
        repository.forget(taskId)
        ticker.forget(taskId)
        triggers.forget(taskId)
        for (const event of events) collaborators.emit(event)
        collaborators.emit({ type: 'task:change', taskId, change: 'deleted' })
        await purge(taskId)
        return { ok: true as const, taskId }
      }),

    /** Returns a run with unshortened tool calls. Throws RunNotFound (404). */
    runOf: async (taskId: string, runId: string): Promise<TaskRun> => fullRunView(await repository.run(taskId, runId)),

    /** Returns a run of any task with unshortened tool calls; undefined if there is none. */
    async wholeRun (runId: string): Promise<TaskRun | undefined> {
      const run = await repository.runById(runId)
      return run && fullRunView(run)
    },

    /** Summarizes what all tasks did since a time: ended runs, open questions, and upcoming runs. */
    digest: digest.digest,
    seeDigest: digest.seen,

    /** Recovers interrupted runs, then starts the schedule ticker. */
    async open () {
      await recover().catch((error) => {
        problem = 'interrupted runs could not be recovered; see the log of the service'
        log.error({ err: error }, 'interrupted runs could not be recovered')
      })
      recovered.resolve()
      if (closing.signal.aborted) return
      const stopped = (name: string) => (error: unknown) => {
        problem = 'stopped; restart the service'
        log.error({ err: error }, `${name} stopped`)
      }
      ticking = Promise.all([
        ticker.run(closing.signal).catch(stopped('the schedule ticker')),
        triggers.run(closing.signal).catch(stopped('the watch of triggers'))
      ])
    },

    /** Resolves when `open` has recovered the runs that were active when the service last ended, so that none of these counts as new. */
    recovered: recovered.promise,

    /** Starts a spare worker if there is a task that might run. */
    async warm () {
      if ((await repository.index.load()).notFinished().length > 0) workers.prepare()
    },

    /** Returns the state of the task engine: 'ok', 'starting' until `open` has recovered the runs, or a description of the problem. */
    check: (): string => problem ?? (ticking === undefined ? 'starting' : ticker.problem() ?? 'ok'),

    /** The number of runs that are queued or executing. */
    get live () {
      return queue.size
    },

    /** Suspends every run. The runs continue at the next start of the service. */
    async close () {
      closing.abort(CLOSING)
      executor.close()
      await Promise.all([queue.close(), rehearsals.close(), ticking])
      await workers.close()
    }
  }
}

/** States in which a task can run without a person's action. */
const GOING: readonly TaskStatus[] = ['scheduled', 'running', 'pending_approval']
const IN_BACKUP = 'The run was under way when the backup was made.'

/**
 * Prepares imported tasks: ends the runs that were under way in the backup, and continues schedules from now, without
 * catch-up runs for the time since the backup. Tasks that run without asking are paused. Open approvals stay open; calls
 * of applications do not (services/store/backup/backup.ts). The function is idempotent, so a crash in between is harmless.
 */
async function recoverImported (
  { executor, schedules, ...deps }: RunDeps & { executor: RunExecutor, schedules: Schedules }
): Promise<void> {
  const { store, clock, repository } = deps
  for (const id of (await repository.index.load()).notFinished()) {
    await repository.change(id, settle).catch((error) => {
      if (!isDamage(error)) throw error
    })
  }
  await store.transact([{ type: 'del', key: IMPORTED }])

  async function settle (task: StoredTask): Promise<Change<undefined>> {
    const { liveRun, nextRun, ...rest } = task
    const runs: StoredRun[] = []
    const next = nextRun && await repository.runById(nextRun.runId)
    if (next !== undefined && !isOver(next)) runs.push(closeRun(next, [], { status: 'interrupted', error: IN_BACKUP }, deps).run)
    const live = liveRun && await repository.runById(liveRun.runId)
    let after: StoredTask = { ...rest, liveRun }
    if (live?.status === 'running' || live?.status === 'queued') {
      const ended = await executor.conclude(after, live, { status: 'interrupted', error: IN_BACKUP })
      runs.push(...ended.runs)
      after = ended.task
    }
    if (after.triggers !== undefined) after = { ...after, firing: { since: clock.now() } }
    // Nobody on this computer has decided that these tasks are allowed to run without asking.
    const isUnasked = after.approval.mode === 'never' || after.approval.mode === 'granted'
    if (isUnasked && GOING.includes(after.status)) {
      const { nextRunAt, ...paused } = after
      return { task: { ...paused, status: 'paused', pausedReason: 'imported' }, ops: [], runs, answer: undefined }
    }
    const kept = withoutCatchUp(after)
    const resumed = kept.timing === undefined || kept.status === 'paused' ? { task: kept, ops: [] } : await schedules.resume(kept)
    return { ...resumed, runs, answer: undefined }
  }
}

/**
 * Removes the grace period of a single time. If the time has passed, the task might have run since the backup was made, so a person is
 * asked.
 */
const withoutCatchUp = (task: StoredTask): StoredTask =>
  task.timing !== undefined && isOnce(task.timing) ? { ...task, timing: { ...task.timing, graceMs: 0 } } : task
