import type { TaskStreamEvent } from '../../../schemas/task-events.ts'
import { abortKind, Aborted } from '../../lib/abort.ts'
import { newId } from '../../lib/ids.ts'
import { isServiceError } from '../../lib/own-error.ts'
import type { Change } from '../task-repository.ts'
import type { RunDeps } from '../task-deps.ts'
import { afterRun, closeRun, type RunEnding } from './run-ending.ts'
import { WorkerDied, type WorkerPool } from './workers.ts'
import type { TaskLogEvent } from '../run-history.ts'
import { deniedTool, isOver, type StoredQuestion, type StoredRun, type StoredTask } from '../task-records.ts'
import { interruptedRun } from '../new-run.ts'
import { createSession, type Session } from './session.ts'
import type { WorkerEnd } from './worker-rpc.ts'

/** How long a person has to answer, unless the configuration says otherwise; milliseconds. */
const APPROVAL_TTL_MS = 7 * 24 * 60 * 60 * 1000
/** Times that a run may be cut off and go on; the last one ends it. */
const MOST_CRASHES = 3
/** Before the end of a run is written again when the store would not take it; milliseconds. */
const RETRY_MS = 1_000

const UNREADABLE: RunEnding = {
  status: 'interrupted',
  error: 'The run could not go on: what it had done cannot be read. The log of the service says more.'
}

type How = { how: WorkerEnd } | { error: unknown }

export type RunExecutor = ReturnType<typeof createRunExecutor>

/** Takes runs through their work, from the queue to their end or to a person's question. */
export function createRunExecutor ({ deps, workers, requeue, isKnown }: {
  deps: RunDeps,
  workers: WorkerPool,
  requeue: (taskId: string, runId: string, isCatchUp?: boolean) => void,
  isKnown: (runId: string) => boolean
}) {
  const { repository, clock, fence, config, log } = deps
  const sessions = new Map<string, Session>()
  const closed = new AbortController()

  /** Does what must be stored, however often the store must be asked. Undefined when the task is gone, or the service closes: the run then goes on at the next start. */
  async function retryUntilStored<T> (
    work: () => Promise<T>,
    about: { taskId: string, runId: string },
    failure: string
  ): Promise<T | undefined> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if ((error as { statusCode?: number }).statusCode === 404 || closed.signal.aborted) return undefined
        log.error({ err: error, ...about }, failure)
        if (!isStore(error)) return abandon(about)
        await clock.sleep(RETRY_MS, closed.signal).catch(() => {})
      }
    }
  }

  /** Ends a run that cannot be worked with, such as one whose history is damaged. */
  async function abandon ({ taskId, runId }: { taskId: string, runId: string }): Promise<undefined> {
    await repository.change<undefined>(taskId, async (task) => {
      const run = task.liveRun?.runId === runId ? await repository.runAt(task.liveRun, taskId) : undefined
      if (run === undefined || isOver(run)) return undefined
      return over(task, run, [], UNREADABLE)
    }).catch((error) => log.error({ err: error, taskId, runId }, 'a run could not be given up'))
  }

  /** The run begins, or goes on; undefined when it is no longer wanted. Its session is there before anybody else may touch the task. */
  async function start (taskId: string, runId: string): Promise<Session | undefined> {
    const history = await repository.events(runId)
    let session: Session | undefined
    await repository.change<undefined>(taskId, async (task) => {
      const run = task.liveRun?.runId === runId ? await repository.runAt(task.liveRun, taskId) : undefined
      if (run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || closed.signal.aborted) {
        return undefined
      }
      const begun = run.status === 'queued' ? firstStart(task, run, clock.now()) : { task, run: { ...run, putDown: false }, events: [] }
      return {
        task: begun.task,
        runs: [begun.run],
        events: begun.events,
        answer: undefined,
        after () {
          session = createSession({ ...begun, log: history, attempt: fence.enter(runId), deps })
          sessions.set(runId, session)
          if (closed.signal.aborted) session.abort(shutdown())
        }
      }
    })
    return session
  }

  async function executeRun (taskId: string, runId: string): Promise<void> {
    const session = await retryUntilStored(() => start(taskId, runId), { taskId, runId }, 'a run could not begin')
    if (session === undefined) return
    const ended: How = await workers.run(runId, session.main, session.signal).then((how) => ({ how }), (error) => ({ error }))
    const kind = session.signal.aborted ? abortKind(session.signal.reason) : undefined
    const last = await session.end()
    fence.leave(runId)
    sessions.delete(runId)
    session.markStopped()
    await retryUntilStored(
      () =>
        repository.change<undefined>(taskId, async (task) => {
          const stored = await repository.runAt(last, taskId)
          if (stored === undefined || isOver(stored)) return undefined
          if (kind === 'shutdown') return putDown(task, last)
          if (kind === 'pause' || kind === 'cancel' || kind === 'delete') {
            // The verb that stopped it could not write what it is now: it goes on. Else it is no longer wanted, or was resumed.
            requeue(taskId, runId)
            return undefined
          }
          return outcome(task, last, session, ended)
        }),
      { taskId, runId },
      'the end of a run could not be stored'
    )
  }

  const putDown = (task: StoredTask, run: StoredRun): Change<undefined> => ({ task, runs: [{ ...run, putDown: true }], answer: undefined })

  function outcome (task: StoredTask, run: StoredRun, session: Session, ended: How): Change<undefined> {
    if ('error' in ended) {
      if (isStore(ended.error) && run.crashes + 1 < MOST_CRASHES) {
        return {
          task,
          runs: [{ ...run, crashes: run.crashes + 1, attempts: run.attempts + 1, putDown: true }],
          answer: undefined,
          after: () => requeue(task.id, run.runId)
        }
      }
      return over(task, run, session.log, endingOf(ended.error, run.runId))
    }
    if (ended.how === 'waiting' ? session.toAsk.length === 0 : run.evaluation === undefined) {
      return over(task, run, session.log, { status: 'interrupted', error: 'The worker of this run stopped before its work was done.' })
    }
    if (ended.how === 'waiting') {
      return ask(
        task,
        run,
        session.toAsk.map(({ toolCallId, toolName, input, shown: { path, ...folder }, reason }) => ({
          kind: 'tool' as const,
          toolCallId,
          tool: toolName,
          input,
          cwd: path,
          folder,
          ...(reason !== undefined && { reason }),
          identity: deps.host.identity(toolName)
        }))
      )
    }
    if (run.evaluation?.satisfied !== true) {
      const denied = deniedTool(run)
      if (denied !== undefined) {
        return over(task, run, session.log, {
          status: 'rejected',
          error: `The user denied ${denied.tool}${denied.notes ? `: ${denied.notes}` : '.'}`
        })
      }
      return over(task, run, session.log, {
        status: 'failed',
        error: `The run did not reach its goal: ${run.evaluation?.issues.join(' ') || 'the judge was not satisfied.'}`
      })
    }
    return run.needsApproval
      ? ask(task, run, [{ kind: 'result', output: run.output }])
      : over(task, run, session.log, { status: 'completed' })
  }

  /** The questions are on disk, with everything before them, before anybody sees them. A run that had to ask has its result approved, too. */
  function ask (
    task: StoredTask,
    run: StoredRun,
    asked: Array<Omit<StoredQuestion, 'approvalId' | 'createdAt' | 'expiresAt' | 'state'>>
  ): Change<undefined> {
    const createdAt = clock.now()
    const expiresAt = createdAt + (config().tasks?.approvalTtl ?? APPROVAL_TTL_MS)
    const questions = asked.map((question): StoredQuestion => ({ ...question, approvalId: newId(), createdAt, expiresAt, state: 'open' }))
    const isReplaced = ({ toolCallId, state }: StoredQuestion) =>
      state === 'approved' && toolCallId !== undefined && questions.some((question) => question.toolCallId === toolCallId)
    const before = run.questions.map((question) => isReplaced(question) ? { ...question, state: 'withdrawn' as const } : question)
    return {
      task: { ...task, status: 'pending_approval' },
      runs: [{ ...run, status: 'pending_approval', needsApproval: true, questions: [...before, ...questions] }],
      events: questions.map(({ approvalId, kind, tool, input, cwd, reason, output }): TaskStreamEvent => ({
        type: 'task:approval',
        taskId: task.id,
        runId: run.runId,
        approvalId,
        kind,
        ...(tool !== undefined && { tool, input }),
        ...(cwd !== undefined && { cwd }),
        ...(reason !== undefined && { reason }),
        ...(output !== undefined && { output })
      })),
      answer: undefined
    }
  }

  /** The run is over; the one queued behind it follows. */
  function over (task: StoredTask, run: StoredRun, history: readonly TaskLogEvent[], ending: RunEnding): Change<undefined> {
    const now = clock.now()
    const closed = closeRun(run, history, ending, now)
    const after = afterRun(task, closed.run, history, now)
    return {
      task: after,
      runs: [closed.run],
      events: closed.events,
      answer: undefined,
      after: () => {
        if (after.liveRun !== undefined) requeue(task.id, after.liveRun.runId)
      }
    }
  }

  function endingOf (error: unknown, runId: string): RunEnding {
    if (error instanceof WorkerDied) {
      log.warn({ err: error, runId }, 'the worker of a task run died')
      return { status: 'interrupted', error: error.message }
    }
    if (isStore(error)) return { status: 'interrupted', error: 'The store would not take what the run did; see the log of the service.' }
    if (abortKind(error) === 'timeout' || isServiceError(error)) return { status: 'failed', error: (error as Error).message }
    log.error({ err: error, runId }, 'a task run failed')
    return { status: 'failed', error: 'Something went wrong inside the service; its log says more.' }
  }

  return {
    executeRun,
    over,

    /** Lets what was under way of a task when the service last ended go on; a run that was cut off too often is over. */
    found: (taskId: string) =>
      repository.change<undefined>(taskId, async (task) => {
        const run = task.liveRun && await repository.runAt(task.liveRun, taskId)
        repository.watch(task, run)
        if (task.liveRun !== undefined && run === undefined) {
          return over(task, interruptedRun(task, task.liveRun, clock.now()), [], UNREADABLE)
        }
        // What somebody let run since this start is no find.
        if (
          run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || isKnown(run.runId)
        ) {
          return undefined
        }
        const push = () =>
          requeue(taskId, run.runId, run.trigger === 'catch_up')
        if (run.status === 'queued') {
          push()
          return undefined
        }
        const crashes = run.crashes + (run.putDown ? 0 : 1)
        if (crashes >= MOST_CRASHES) {
          return over(task, { ...run, crashes }, await repository.events(run.runId).catch(() => []), {
            status: 'interrupted',
            error: `The service ended ${crashes} times while this run was at work; it was given up.`
          })
        }
        return { task, runs: [{ ...run, crashes, attempts: run.attempts + 1, putDown: true }], answer: undefined, after: push }
      }),

    /** Stops a run at work; resolves to the run as it then is on disk, when nothing of it is left. Undefined when it is not at work. */
    async stop (runId: string, reason: Aborted): Promise<StoredRun | undefined> {
      const session = sessions.get(runId)
      if (session === undefined) return undefined
      session.abort(reason)
      await session.stopped
      return session.run
    },

    /** Puts every run down; they go on at the next start. */
    close () {
      closed.abort()
      for (const session of sessions.values()) session.abort(shutdown())
    }
  }
}

function firstStart (task: StoredTask, run: StoredRun, now: number) {
  const { mode, firstN, approvedRuns } = task.approval
  const fresh = task.steeringHistory.filter(({ runId }) => runId === undefined)
  const started: StoredRun = {
    ...run,
    status: 'running',
    startedAt: now,
    attempts: 1,
    phases: task.plan.phases.map((phase) => ({ ...phase, status: 'pending' as const })),
    steering: fresh.map(({ comment }) => comment),
    needsApproval: mode === 'always' || (mode === 'first_n' && approvedRuns < firstN)
  }
  return {
    task: {
      ...task,
      steeringHistory: task.steeringHistory.map((entry) => entry.runId === undefined ? { ...entry, runId: run.runId } : entry)
    },
    run: started,
    events: [{
      type: 'task:start',
      taskId: task.id,
      runId: run.runId,
      runNumber: run.runNumber,
      startedAt: now,
      phases: started.phases
    }] satisfies TaskStreamEvent[]
  }
}

const shutdown = () => new Aborted('shutdown', 'The service is shutting down.')
const isStore = (error: unknown) => ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_BUSY'].includes((error as { code?: string })?.code ?? '')
