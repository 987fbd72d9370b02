import { abortKind, Aborted } from '../../lib/abort.ts'
import type { RunDeps } from '../task-deps.ts'
import type { RunEnding } from './run-ending.ts'
import { createRunTransitions, firstStart, isStoreFailure, MAX_CRASHES, type AttemptResult } from './run-transitions.ts'
import type { WorkerPool } from './workers.ts'
import { isOver, type StoredRun } from '../task-records.ts'
import { interruptedRun } from '../new-run.ts'
import { isGone } from '../task-errors.ts'
import { createSession, type Session } from './session.ts'

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
  const { repository, clock, fence, ledger, log } = deps
  const { suspendRun, afterAttempt, conclude } = createRunTransitions({ deps, requeue })
  const sessions = new Map<string, Session>()
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
      const run = task.liveRun?.runId === runId ? await repository.runAt(task.liveRun, taskId) : undefined
      if (run === undefined || isOver(run)) return undefined
      return conclude(task, run, [], UNREADABLE)
    }).catch((error) => log.error({ err: error, taskId, runId }, 'the end of an abandoned run could not be stored'))
  }

  /**
   * Starts or continues a run. Resolves to undefined when the run must not execute any more. The session is registered
   * while the task is still locked, so that every later change of the task finds it.
   */
  async function start (taskId: string, runId: string): Promise<Session | undefined> {
    const history = await repository.events(runId)
    let session: Session | undefined
    await repository.change<undefined>(taskId, async (task) => {
      const run = task.liveRun?.runId === runId ? await repository.runAt(task.liveRun, taskId) : undefined
      if (run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || closing.signal.aborted) {
        return undefined
      }
      const approvals = await ledger.ofTask(run.asked ?? [])
      const started = run.status === 'queued' ? firstStart(task, run, clock.now()) : { task, run: { ...run, putDown: false }, events: [] }
      return {
        task: started.task,
        runs: [started.run],
        events: started.events,
        answer: undefined,
        after () {
          session = createSession({ ...started, approvals, log: history, attempt: fence.enter(runId), deps })
          sessions.set(runId, session)
          if (closing.signal.aborted) session.abort(shutdown())
        }
      }
    })
    return session
  }

  async function executeRun (taskId: string, runId: string): Promise<void> {
    const session = await retryUntilStored(() => start(taskId, runId), { taskId, runId }, 'a run could not be started')
    if (session === undefined) return
    const result: AttemptResult = await workers.run(session.main, session.signal)
      .then((workerEnd) => ({ workerEnd }), (error) => ({ error }))
    const stopKind = session.signal.aborted ? abortKind(session.signal.reason) : undefined
    const run = await session.end()
    fence.leave(runId)
    sessions.delete(runId)
    session.markStopped()
    await retryUntilStored(
      () =>
        repository.change<undefined>(taskId, async (task) => {
          const stored = await repository.runAt(run, taskId)
          if (stored === undefined || isOver(stored)) return undefined
          if (stopKind === 'shutdown') return suspendRun(task, run)
          if (stopKind === 'pause' || stopKind === 'cancel' || stopKind === 'delete') {
            // If the operation that stopped the run could not store the new state, the run continues. Otherwise `start` finds
            // that the run must not execute, or that it was resumed.
            requeue(taskId, runId)
            return undefined
          }
          return afterAttempt(task, run, session, result)
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
        const run = task.liveRun && await repository.runAt(task.liveRun, taskId)
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
        const crashes = run.crashes + (run.putDown ? 0 : 1)
        if (crashes >= MAX_CRASHES) {
          return conclude(task, { ...run, crashes }, await repository.events(run.runId).catch(() => []), {
            status: 'interrupted',
            error: `The service ended ${crashes} times while this run was executing, so the run was stopped.`
          })
        }
        return { task, runs: [{ ...run, crashes, attempts: run.attempts + 1, putDown: true }], answer: undefined, after: enqueue }
      }),

    /** Stops an executing run and resolves to the run as stored once all its work has ended; undefined when the run does not execute. */
    async stop (runId: string, reason: Aborted): Promise<StoredRun | undefined> {
      const session = sessions.get(runId)
      if (session === undefined) return undefined
      session.abort(reason)
      await session.stopped
      return session.run
    },

    /** Suspends every executing run. They continue at the next start. */
    close () {
      closing.abort()
      for (const session of sessions.values()) session.abort(shutdown())
    }
  }
}

const shutdown = () => new Aborted('shutdown', 'The service is shutting down.')
