import { abortKind, Aborted } from '../../lib/abort.ts'
import { createRunItems, isOver, withoutCutCall } from '../../runs/index.ts'
import type { RunDeps } from '../task-deps.ts'
import type { RunEnding } from './run-ending.ts'
import { createRunTransitions, firstStart, isStoreFailure, MAX_CRASHES, type AttemptResult } from './run-transitions.ts'
import type { WorkerPool } from './workers.ts'
import type { StoredRun } from '../task-records.ts'
import { interruptedRun } from '../new-run.ts'
import { isGone } from '../task-errors.ts'
import { createTaskAttempt, type TaskAttempt } from './task-attempt.ts'

/** Delay before a write that the store refused is repeated; milliseconds. */
const RETRY_MS = 1_000

const UNREADABLE: RunEnding = {
  status: 'interrupted',
  error: 'The run cannot continue because its stored history cannot be read. See the log of the service.'
}

export type RunExecutor = ReturnType<typeof createRunExecutor>

/** Executes runs: takes each from the queue to its end, or to the point where it needs a person's decision. */
export function createRunExecutor ({ deps, workers, requeue, isKnown }: {
  deps: RunDeps,
  workers: WorkerPool,
  requeue: (taskId: string, runId: string, isCatchUp?: boolean) => void,
  isKnown: (runId: string) => boolean
}) {
  const { repository, runs, activeRuns, clock, ledger, log } = deps
  const { suspendRun, afterAttempt, conclude } = createRunTransitions({ deps, requeue })
  const closing = new AbortController()

  /**
   * Retries `work` until the store accepts it. Resolves to undefined when the task no longer exists, when the service
   * closes (the run then continues at the next start), or when the failure is not the store's (the run is abandoned).
   */
  async function retryUntilStored<T> (
    work: () => Promise<T>,
    ids: { taskId: string, runId: string },
    failureMessage: string
  ): Promise<T | undefined> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (isGone(error) || closing.signal.aborted) return undefined
        log.error({ err: error, ...ids }, failureMessage)
        if (!isStoreFailure(error)) return abandon(ids)
        await clock.sleep(RETRY_MS, closing.signal).catch(() => {})
      }
    }
  }

  /** Ends a run that cannot be processed, for example because its history is damaged. */
  async function abandon ({ taskId, runId }: { taskId: string, runId: string }): Promise<undefined> {
    await repository.change<undefined>(taskId, async (task) => {
      const run = task.liveRun?.runId === runId ? await repository.runById(task.liveRun.runId) : undefined
      if (run === undefined || isOver(run)) return undefined
      return conclude(task, run, [], UNREADABLE)
    }).catch((error) => log.error({ err: error, taskId, runId }, 'the end of an abandoned run could not be stored'))
  }

  /**
   * Starts or continues a run. Resolves to undefined when the run must not execute any more. The run is active while the task is still
   * locked, so that every later change of the task finds it.
   */
  async function start (taskId: string, runId: string): Promise<TaskAttempt | undefined> {
    const history = withoutCutCall(await repository.events(runId))
    let attempt: TaskAttempt | undefined
    await repository.change<undefined>(taskId, async (task) => {
      const run = task.liveRun?.runId === runId ? await repository.runById(task.liveRun.runId) : undefined
      if (run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || closing.signal.aborted) {
        return undefined
      }
      const asked = await ledger.ofTask(run.asked)
      const started = run.status === 'queued' ? firstStart(task, run, clock.now()) : { task, run: { ...run, suspended: false }, events: [] }
      const segment = Math.max(-1, ...asked.map((item) => item.segment)) + 1
      const record = { ...started.run, cwd: task.cwd, segment }
      return {
        task: started.task,
        runs: [record],
        events: started.events,
        answer: undefined,
        after () {
          const live = activeRuns.enter(runs.open(record, history, []))
          attempt = createTaskAttempt({ task: started.task, live, items: createRunItems(asked, ledger.isOpen), deps })
          if (closing.signal.aborted) live.abort(shutdown())
        }
      }
    })
    return attempt
  }

  async function executeRun (taskId: string, runId: string): Promise<void> {
    const attempt = await retryUntilStored(() => start(taskId, runId), { taskId, runId }, 'a run could not be started')
    if (attempt === undefined) return
    const { signal, live } = attempt
    const result: AttemptResult = await workers.run(attempt.actions, signal).then(() => ({}), (error) => ({ error }))
    const stopKind = signal.aborted ? abortKind(signal.reason) : undefined
    const run = await attempt.end()
    live.end()
    await retryUntilStored(
      () =>
        repository.change<undefined>(taskId, async (task) => {
          const stored = await repository.runById(run.runId)
          if (stored === undefined || isOver(stored)) return undefined
          if (stopKind === 'shutdown') return suspendRun(task, run)
          if (stopKind === 'pause' || stopKind === 'cancel' || stopKind === 'delete') {
            // If the operation that stopped the run could not store the new state, the run continues. Otherwise `start` finds
            // that the run must not execute, or that it was resumed.
            requeue(taskId, runId)
            return undefined
          }
          return afterAttempt(task, run, attempt, result)
        }),
      { taskId, runId },
      'the end of a run could not be stored'
    )
  }

  return {
    executeRun,
    conclude,

    /** Continues the run that was under way when the service last ended. A run that crashed MAX_CRASHES times is ended instead. */
    recover: (taskId: string) =>
      repository.change<undefined>(taskId, async (task) => {
        const run = task.liveRun && await repository.runById(task.liveRun.runId)
        repository.watch(task)
        if (task.liveRun !== undefined && run === undefined) {
          return conclude(task, interruptedRun(task, task.liveRun, clock.now()), [], UNREADABLE)
        }
        // Runs that are in the queue already were put there since this start, so they need no recovery.
        if (
          run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || isKnown(run.runId)
        ) {
          return undefined
        }
        const enqueue = () => requeue(taskId, run.runId, run.trigger === 'catch_up')
        if (run.status === 'queued') {
          enqueue()
          return undefined
        }
        const crashes = run.crashes + (run.suspended ? 0 : 1)
        if (crashes >= MAX_CRASHES) {
          return conclude(task, { ...run, crashes }, await repository.events(run.runId).catch(() => []), {
            status: 'interrupted',
            error: `The service ended ${crashes} times while this run was executing, so the run was stopped.`
          })
        }
        return { task, runs: [{ ...run, crashes, attempts: run.attempts + 1, suspended: true }], answer: undefined, after: enqueue }
      }),

    /** Stops an executing run and resolves to the run as stored once all its work has ended; undefined when the run does not execute. */
    async stop (runId: string, reason: Aborted): Promise<StoredRun | undefined> {
      const live = activeRuns.ofTaskRun(runId)
      if (live === undefined) return undefined
      live.abort(reason)
      await live.done
      return live.run.record
    },

    /** Suspends every executing run. They continue at the next start. */
    close () {
      closing.abort()
      for (const live of activeRuns.ofTasks()) live.abort(shutdown())
    }
  }
}

const shutdown = () => new Aborted('shutdown', 'The service is shutting down.')
