import type { Rehearsal } from '../../../schemas/sheets.ts'
import { inheritProvenance } from '../../approvals/index.ts'
import { inputDigest } from '../../lib/canonical-json.ts'
import type { StoredSheet } from '../../contracts/sheet-record.ts'
import { Aborted, type AbortKind } from '../../lib/abort.ts'
import { isId, newId } from '../../lib/ids.ts'
import { createRunItems, type Rehearsed } from '../../runs/index.ts'
import { type Op, rehearsalKey, rehearsalsPrefix, unlessDamaged } from '../../store/index.ts'
import { blankRun, firstStart, optionsOf } from '../new-run.ts'
import { closeRun, endingOf, isStoreFailure, RETRY_MS, type RunEnding } from '../runner/run-ending.ts'
import { createTaskAttempt } from '../runner/task-attempt.ts'
import type { WorkerPool } from '../runner/workers.ts'
import type { RunDeps } from '../task-deps.ts'
import { BadTask, TooManyRehearsals, WrongState } from '../task-errors.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import type { AcceptedRehearsal } from './departures.ts'

/** The most rehearsals that execute at once. */
const AT_ONCE = 2
/** The most rehearsals that are stored for each task. */
const KEPT = 10
const CUT = 'The service ended during the rehearsal. Rehearse the task again.'

/**
 * Creates the service for rehearsals: runs of a task that work on a copy of its folder and reach nothing else. Rehearsals have no run
 * number and count only in the usage. A sheet lists the calls that the run would have made. Lines of a sheet that a person accepts become
 * grants of the task.
 */
export function createRehearsals ({ deps, workers }: { deps: RunDeps, workers: WorkerPool }) {
  const { repository, store, runs, activeRuns, clock, copies, undo, log } = deps
  /** The active rehearsals by run id. `ended` resolves when the end of the rehearsal is stored. */
  const working = new Map<string, { taskId: string, ended: Promise<void> }>()
  /**
   * The places of active rehearsals, which limit how many execute at once. A place is freed as soon as the
   * rehearsal has ended, even if clean-up work remains.
   */
  const places = new Set<symbol>()
  const closing = new AbortController()

  async function * ofTask (taskId: string): AsyncGenerator<string> {
    const prefix = rehearsalsPrefix(taskId)
    for await (const [key] of store.list(prefix, { reverse: true, damaged () {} })) yield key.slice(prefix.length)
  }

  /** Returns the operations that remove a rehearsal with its history and its records of read and changed files. */
  async function removal (taskId: string, runId: string): Promise<Op[]> {
    return [
      ...await runs.recordRemoval('task', runId),
      ...await undo.removal(runId),
      { type: 'del', key: rehearsalKey(taskId, runId) }
    ]
  }

  async function close (run: StoredRun, events: Parameters<typeof closeRun>[1], ending: RunEnding): Promise<void> {
    const { run: closed } = closeRun(run, events, ending, deps)
    await store.transact(runs.put(closed))
  }

  /** Stores the end of a rehearsal. Retries until the store accepts it, unless the service closes or the task is being deleted. */
  async function closeUntilStored (run: StoredRun, ...end: [Parameters<typeof closeRun>[1], RunEnding]): Promise<void> {
    for (;;) {
      try {
        return await close(run, ...end)
      } catch (error) {
        if (!isStoreFailure(error) || closing.signal.aborted || !working.has(run.runId)) throw error
        log.error({ err: error, runId: run.runId }, 'the end of a rehearsal could not be stored; trying again')
        await clock.sleep(RETRY_MS, closing.signal).catch(() => {})
      }
    }
  }

  /** Executes a rehearsal and stores its end. */
  async function execute (task: StoredTask, record: Rehearsed<StoredRun>, place: symbol): Promise<void> {
    const live = activeRuns.enter(runs.open<StoredRun>(record, [], []))
    const attempt = createTaskAttempt({
      task,
      live,
      input: undefined,
      items: createRunItems([]),
      // Readers that follow the events of the task must see only its real runs.
      deps: { ...deps, emit () {} }
    })
    if (closing.signal.aborted) live.abort(closing.signal.reason)
    const { run, stopKind, ...failed } = await attempt.carryOut(workers)
    const stopped = stopKind && STOPS[stopKind]
    const ending = 'error' in failed
      ? stopped ?? endingOf(failed.error, run.runId, log)
      : attempt.executed.isAccepted ? DONE : INTERRUPTED
    // After a deletion of the task, the record of the rehearsal is gone and must not be written again.
    if (stopKind !== 'delete') await closeUntilStored(run, live.run.log.events, ending)
    places.delete(place)
    live.end()
    await copies.removeOwn(run.runId)
  }

  async function begin (taskId: string, place: symbol): Promise<string> {
    const runId = newId()
    try {
      const known = await repository.get(taskId)
      const cwd = await copies.openOwn(runId, known.cwd)
      await repository.locked(taskId, async () => {
        const task = await repository.get(taskId)
        if (task.cwd !== known.cwd) throw new BadTask('The folder of the task was changed just now. Try again.')
        const options = await optionsOf(task, deps.agents)
        if ('error' in options) throw new BadTask(options.error)
        const now = clock.now()
        const { run } = firstStart(task, { ...blankRun(task, { runId, runNumber: 0 }, 'rehearsal', now), ...options }, now, deps.config())
        const record = { ...run, cwd, sheet: { cwd: task.cwd, goal: goalDigest(task), lines: [] } }
        await store.transact([
          ...runs.put(record),
          { type: 'put', key: rehearsalKey(taskId, runId), value: {} },
          ...await inheritProvenance(store, taskId, runId)
        ])
        const ended = execute(task, record, place)
          .catch((error) => log.error({ err: error, runId }, 'the end of a rehearsal could not be stored'))
          .finally(() => {
            places.delete(place)
            working.delete(runId)
          })
        working.set(runId, { taskId, ended })
        await sweep(taskId)
      })
    } catch (error) {
      if (!working.has(runId)) {
        places.delete(place)
        await copies.removeOwn(runId)
      }
      throw error
    }
    return runId
  }

  /** Removes the oldest rehearsals of a task if the task has more than KEPT. */
  async function sweep (taskId: string): Promise<void> {
    let count = 0
    for await (const runId of ofTask(taskId)) {
      if (++count > KEPT && !working.has(runId)) await store.transact(await removal(taskId, runId))
    }
  }

  return {
    /**
     * Begins a rehearsal. Resolves when the rehearsal is on disk. Throws TaskNotFound (404), TooManyRehearsals
     * (429), BadTask (400), and as `Copies.openOwn` does (409).
     */
    async rehearse (taskId: string): Promise<{ ok: true, taskId: string, runId: string }> {
      if (places.size >= AT_ONCE) throw new TooManyRehearsals(AT_ONCE)
      const place = Symbol(taskId)
      places.add(place)
      return { ok: true, taskId, runId: await begin(taskId, place) }
    },

    /** Lists the rehearsals of a task, newest first. Throws TaskNotFound (404). */
    async list (taskId: string): Promise<{ rehearsals: Rehearsal[] }> {
      const task = await repository.get(taskId)
      const rehearsals: Rehearsal[] = []
      for await (const runId of ofTask(taskId)) {
        const run = await repository.runById(runId)
        if (run?.sheet === undefined) continue
        const { status, startedAt, completedAt, sheet, sheet: { lines } } = run
        const isVoid = whyVoid(sheet, task)
        const accepted = lines.filter((line) => line.accepted !== undefined).length
        rehearsals.push({
          ...{ runId, status, startedAt, ...(completedAt !== undefined && { completedAt }), lines: lines.length, accepted },
          ...(isVoid !== undefined && { void: isVoid })
        })
      }
      return { rehearsals }
    },

    /**
     * Returns the newest sheet of a task that has accepted lines, and why that sheet is no longer valid; undefined
     * if there is no such sheet.
     */
    async accepted (task: StoredTask): Promise<AcceptedRehearsal | undefined> {
      for await (const runId of ofTask(task.id)) {
        const { sheet } = await repository.runById(runId) ?? {}
        if (sheet?.lines.some((line) => line.accepted !== undefined)) return { sheet, isVoid: whyVoid(sheet, task) }
      }
      return undefined
    },

    whyVoid: async ({ sheet, taskId }: Rehearsed<StoredRun>): Promise<string | undefined> => whyVoid(sheet, await repository.get(taskId)),
    locked: repository.locked,

    /**
     * Stops a rehearsal of the task. Resolves to its final record; to undefined if `runId` is not a rehearsal.
     * Throws WrongState (409) if the rehearsal has ended.
     */
    async cancel (taskId: string, runId: string): Promise<StoredRun | undefined> {
      const run = isId(runId) ? await repository.runById(runId) : undefined
      if (run?.sheet === undefined || run.taskId !== taskId) return undefined
      const live = activeRuns.ofTaskRun(runId)
      if (live === undefined) throw new WrongState(`The rehearsal is ${run.status}; it can be cancelled while it is running.`)
      live.abort(new Aborted('stop', 'The rehearsal was stopped.'))
      await working.get(runId)?.ended
      return await repository.runById(runId) ?? run
    },

    /** Aborts the active rehearsals of a task that is being deleted, and waits for their end. */
    async halt (taskId: string): Promise<void> {
      for (const [runId, { taskId: of, ended }] of working) {
        if (of !== taskId) continue
        working.delete(runId)
        activeRuns.ofTaskRun(runId)?.abort(new Aborted('delete', 'The task was deleted.'))
        await ended
      }
    },

    /** Removes the rehearsals of a task that was deleted. */
    async purge (taskId: string): Promise<void> {
      for await (const runId of ofTask(taskId)) {
        await store.transact(await removal(taskId, runId))
        await copies.removeOwn(runId)
      }
    },

    /**
     * Marks the rehearsals as interrupted that were under way when the service last ended. Call it before the first
     * request is served, so that no client waits for a rehearsal that no longer executes.
     */
    async recover (): Promise<void> {
      for await (const run of runs.live()) {
        if (run.taskId === undefined || run.trigger !== 'rehearsal' || working.has(run.runId)) continue
        const events = await unlessDamaged(repository.events(run.runId)) ?? []
        // A rehearsal whose end cannot be stored must not stop the recovery of task runs.
        await close(run, events, { status: 'interrupted', error: CUT }).catch((error) =>
          log.error({ err: error, runId: run.runId }, 'a rehearsal that was cut could not be ended'))
      }
    },

    /** Aborts all active rehearsals and waits for their end. */
    async close (): Promise<void> {
      closing.abort(new Aborted('shutdown', 'The service is shutting down.'))
      for (const runId of working.keys()) activeRuns.ofTaskRun(runId)?.abort(closing.signal.reason)
      await Promise.all([...working.values()].map(({ ended }) => ended))
    }
  }
}

const DONE: RunEnding = { status: 'completed' }
const INTERRUPTED: RunEnding = { status: 'interrupted', error: 'The worker of this rehearsal stopped before it was complete.' }

const STOPS: Partial<Record<AbortKind, RunEnding>> = {
  stop: { status: 'stopped', error: 'The rehearsal was stopped.' },
  shutdown: { status: 'interrupted', error: CUT }
}

/** Returns a digest of the goal, plan and folder of a task, to detect later changes of them. */
const goalDigest = ({ goal, plan: { phases, qualityCriteria }, cwd }: StoredTask): string =>
  inputDigest({ goal, phases: phases.map(({ description }) => description), qualityCriteria, cwd })

const GOAL_CHANGED = 'The goal, the plan or the folder of the task was changed since the rehearsal.'

/** Returns why the lines of a sheet can no longer be accepted; undefined while they can. */
const whyVoid = ({ goal }: StoredSheet, task: StoredTask): string | undefined =>
  goal === goalDigest(task) ? undefined : GOAL_CHANGED
