import { Aborted } from '../../lib/abort.ts'
import { askItems, createRunItems, isOver, MAX_CRASHES, mayFirstStand, withoutCutCall } from '../../runs/index.ts'
import type { Op } from '../../store/index.ts'
import type { RunDeps } from '../task-deps.ts'
import { waitForProvider } from './outage.ts'
import { type RunEnding, afterRun, closeRun, endingOf, isStoreFailure, RETRY_MS, whileResultWaits } from './run-ending.ts'
import type { WorkerPool } from './workers.ts'
import { endOf, type StoredRun, type StoredTask } from '../task-records.ts'
import { firstStart, interruptedRun, optionsOf } from '../new-run.ts'
import { teach } from '../teaching.ts'
import { isGone } from '../task-errors.ts'
import { createTaskAttempt, type TaskAttempt } from './task-attempt.ts'
import type { TaskStreamEvent } from '../../../schemas/task-events.ts'
import type { ResultItem, TaskItem } from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import { isCompleted, mayHaveChanged } from '../../judge/index.ts'
import { unlessDamaged } from '../../store/index.ts'
import type { Change } from '../task-repository.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { questionView } from '../../approvals/index.ts'

const UNREADABLE: RunEnding = {
  status: 'interrupted',
  error: 'The run cannot continue because its stored history cannot be read. See the log of the service.'
}

export type RunExecutor = ReturnType<typeof createRunExecutor>

/** Creates the executor of runs. It takes a run from the queue to its end, or to the point where the run needs a person's decision. */
export function createRunExecutor ({ deps, workers, requeue, isKnown }: {
  deps: RunDeps,
  workers: WorkerPool,
  requeue: (taskId: string, runId: string, isCatchUp?: boolean) => void,
  isKnown: (runId: string) => boolean
}) {
  const { repository, runs, activeRuns, clock, ledger, log } = deps
  const { suspendRun, afterAttempt, conclude, end } = createRunTransitions({ deps, requeue })
  const closing = new AbortController()

  /**
   * Retries `work` until the store accepts its write. Resolves to undefined if the task no longer exists, if the service closes
   * (the run then continues at the next start), or if `work` fails for another reason than the store (the run is then abandoned).
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
   * Starts or continues a run. Resolves to undefined if the run must not execute any more. The run becomes active
   * while the task is still locked, so that every later change of the task finds the active run.
   */
  async function start (taskId: string, runId: string): Promise<TaskAttempt | undefined> {
    const history = withoutCutCall(await repository.events(runId))
    const begun = await repository.runById(runId)
    const input = begun && await repository.input(begun)
    let attempt: TaskAttempt | undefined
    await repository.change<undefined>(taskId, async (task) => {
      const run = task.liveRun?.runId === runId ? await repository.runById(task.liveRun.runId) : undefined
      if (run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || closing.signal.aborted) {
        return undefined
      }
      // The end time has passed: the ticker is about to end the task.
      if (endOf(task) <= clock.now()) return undefined
      const asked = await ledger.ofTask(run.asked)
      const resolved = run.status === 'queued' && run.options === undefined ? await optionsOf(task, deps.agents) : { options: run.options }
      if ('error' in resolved) return conclude(task, run, history, { status: 'failed', ...resolved, failure: { reason: 'error' } })
      const started = run.status === 'queued'
        ? firstStart(task, { ...run, options: resolved.options }, clock.now(), deps.config())
        : { task, run: { ...run, suspended: false }, events: [] }
      const segment = Math.max(-1, ...asked.map((item) => item.segment)) + 1
      const record = { ...started.run, cwd: task.cwd, segment }
      return {
        task: started.task,
        runs: [record],
        events: started.events,
        answer: undefined,
        after () {
          const live = activeRuns.enter(runs.open(record, history, []))
          attempt = createTaskAttempt({ task: started.task, live, input, items: createRunItems(asked), deps })
          if (closing.signal.aborted) live.abort(shutdown())
        }
      }
    })
    return attempt
  }

  async function executeRun (taskId: string, runId: string): Promise<void> {
    const attempt = await retryUntilStored(() => start(taskId, runId), { taskId, runId }, 'a run could not be started')
    if (attempt === undefined) return
    const { live } = attempt
    const { run, stopKind, ...result } = await attempt.carryOut(workers)
    live.end()
    await retryUntilStored(
      () =>
        repository.change<undefined>(taskId, async (task) => {
          const stored = await repository.runById(run.runId)
          if (stored === undefined || isOver(stored)) return undefined
          if (stopKind === 'shutdown') return suspendRun(task, run)
          if (stopKind === 'pause' || stopKind === 'cancel' || stopKind === 'delete') {
            // The operation that stopped the run stores its new state. If that write fails, the run has to continue, so it
            // is queued. If the write succeeds, `start` finds that the run must not execute, or that it was resumed.
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
    conclude: end,

    /**
     * Continues the run of a task that was under way when the service last ended. Ends instead a run that has
     * crashed MAX_CRASHES times, and a run whose record is missing or damaged.
     */
    async recover (taskId: string): Promise<void> {
      const goOn = async (task: StoredTask): Promise<Change<undefined> | undefined> => {
        const run = task.liveRun && await repository.runById(task.liveRun.runId)
        repository.watch(task)
        if (task.liveRun !== undefined && run === undefined) {
          return conclude(task, interruptedRun(task, task.liveRun, clock.now()), [], UNREADABLE)
        }
        // A run that is already in the queue was put there since this start of the service, so it needs no recovery.
        if (run === undefined || task.status !== 'running' || isOver(run) || run.status === 'pending_approval' || isKnown(run.runId)) {
          return undefined
        }
        const enqueue = () => requeue(taskId, run.runId, run.trigger === 'catch_up')
        if (run.status === 'queued') {
          enqueue()
          return undefined
        }
        const crashes = run.crashes + (run.suspended ? 0 : 1)
        if (crashes >= MAX_CRASHES) {
          return end(task, { ...run, crashes }, {
            status: 'interrupted',
            error: `The service ended ${crashes} times while this run was executing, so the run was stopped.`
          })
        }
        return { task, runs: [{ ...run, crashes, attempts: run.attempts + 1, suspended: true }], answer: undefined, after: enqueue }
      }
      let isReviewLost = false
      await repository.change<undefined>(taskId, async (task) => {
        isReviewLost = task.reviewRun !== undefined && await repository.runById(task.reviewRun.runId) === undefined
        return isReviewLost ? conclude(task, interruptedRun(task, task.reviewRun!, clock.now()), [], UNREADABLE) : goOn(task)
      })
      if (isReviewLost) await repository.change<undefined>(taskId, goOn)
    },

    /**
     * Stops an executing run. Resolves to the final record once all work of the run has ended; to undefined if the run does not execute.
     */
    async stop (runId: string, reason: Aborted): Promise<StoredRun | undefined> {
      const live = activeRuns.ofTaskRun(runId)
      if (live === undefined) return undefined
      live.abort(reason)
      await live.done
      return live.run.record
    },

    /** Suspends every executing run. The runs continue at the next start of the service. */
    close () {
      closing.abort()
      for (const live of activeRuns.ofTasks()) live.abort(shutdown())
    }
  }
}

const shutdown = () => new Aborted('shutdown', 'The service is shutting down.')

/** How long a person may take to answer, unless the configuration sets another time; milliseconds. */
const APPROVAL_TTL_MS = 7 * 24 * 60 * 60 * 1000

/**
 * Creates the functions that return the change of a task and its run after an attempt (one uninterrupted execution of the run): continue
 * later, ask a person, or end.
 */
function createRunTransitions ({ deps, requeue }: { deps: RunDeps, requeue: (taskId: string, runId: string) => void }) {
  const { repository, host, clock, config, log } = deps

  /** Marks a run as suspended on purpose, so that its continuation does not count as a crash. */
  const suspendRun = (task: StoredTask, run: StoredRun): Change<undefined> =>
    ({ task, runs: [{ ...run, suspended: true }], answer: undefined })

  /** Decides what follows an attempt: a retry, a question to a person, or the end of the run. */
  async function afterAttempt (
    task: StoredTask,
    ended: StoredRun,
    attempt: TaskAttempt,
    result: { error?: unknown }
  ): Promise<Change<undefined>> {
    const { executed, live: { run: { log: { events } } } } = attempt
    const run: StoredRun = { ...ended, facts: deps.runs.facts(events, ended.cwd) }
    // The time limit came while the run wrote the second version of its report.
    const firstStands = 'error' in result && mayFirstStand(events, attempt.signal)
    if ('error' in result && !firstStands) {
      if (isStoreFailure(result.error) && run.crashes + 1 < MAX_CRASHES) {
        return {
          task,
          runs: [{ ...run, crashes: run.crashes + 1, attempts: run.attempts + 1, suspended: true }],
          answer: undefined,
          after: () => requeue(task.id, run.runId)
        }
      }
      return waitForProvider(task, run, result.error, clock.now()) ?? conclude(task, run, events, endingOf(result.error, run.runId, log))
    }
    if (!firstStands && (executed.isWaiting ? executed.asked.length === 0 : !executed.isAccepted)) {
      return conclude(task, run, events, { status: 'interrupted', error: 'The worker of this run stopped before the run was complete.' })
    }
    if (!firstStands && executed.isWaiting) return waitForCalls(task, run, attempt)
    if (run.evaluation === undefined || !isCompleted(run.evaluation)) {
      const [denied] = attempt.items.refused()
      if (denied !== undefined) {
        return conclude(task, run, events, {
          status: 'rejected',
          error: `The user denied ${denied.toolName}${denied.reason ? `: ${denied.reason}` : '.'}`
        })
      }
      return conclude(task, run, events, {
        status: 'failed',
        failure: { reason: 'goal' },
        error: whyFailed(run)
      })
    }
    return run.needsApproval && (task.approval.mode !== 'changes' || mayHaveChanged(events, host.find, run.cwd))
      ? askResult(task, run, events)
      : conclude(task, run, events, { status: 'completed' })
  }

  /** Returns how long a person may take to answer, in milliseconds, at most until the end time of the task. */
  const ttl = ({ endsAt = Infinity }: StoredTask) =>
    Math.min(config().tasks?.approvalTtl ?? APPROVAL_TTL_MS, Math.max(endsAt - clock.now(), 0))

  /** Makes the run wait for the answers to its calls. */
  function waitForCalls (task: StoredTask, run: StoredRun, { executed }: TaskAttempt): Change<undefined> {
    const { items, moved } = askItems(run, executed, { ledger: deps.ledger, ttlMs: ttl(task) })
    return wait(task, run, items as TaskItem[], moved as TaskItem[])
  }

  /**
   * Asks a person to approve the result of the run. The task continues meanwhile. The result of an earlier run
   * that still waits is superseded.
   */
  async function askResult (task: StoredTask, run: StoredRun, history: readonly RunEvent[]): Promise<Change<undefined>> {
    const { runId, segment, output } = run
    const { learned: { grants: taught } = { grants: [] } } = await teach(deps, task, run)
    const teaches = taught.length > 0 && { teaches: taught.map(({ text }) => text) }
    const request = deps.ledger.askResult({ taskId: task.id, runId, segment, output, ...teaches }, ttl(task))
    const { task: alone, ...superseded } = await supersede(task, request)
    const change = wait(alone, run, [request])
    const after = whileResultWaits(alone, run, history, clock.now())
    return {
      ...change,
      task: after,
      runs: [...superseded.runs, ...change.runs],
      approvals: [...superseded.approvals, ...change.approvals],
      events: [...superseded.events, ...change.events],
      after: () => requeueNext(task, after)
    }
  }

  /** Completes the earlier run whose result still waits, because the result of a newer run (`newer`) takes its place. */
  async function supersede (task: StoredTask, newer: Pick<ResultItem, 'approvalId'>) {
    const run = task.reviewRun && await repository.runById(task.reviewRun.runId)
    if (run === undefined) return { task, runs: [], approvals: [], events: [] }
    const { after, answer, ...ended } = await end(task, run, { status: 'completed', review: 'superseded' })
    const open = (await repository.open(run)).filter((item) => item.kind === 'result')
    return { ...ended, approvals: open.map((item) => ({ ...inState(item, 'withdrawn'), replacedBy: newer.approvalId })) }
  }

  /**
   * Makes the run wait for a person or the application. The requests are stored together with all earlier changes of the
   * run, and announced afterwards. If a run asks for the approval of a tool call, its result needs an approval, too.
   */
  function wait (task: StoredTask, run: StoredRun, requests: TaskItem[], moved: TaskItem[] = []) {
    const asked = [...run.asked, ...requests.map(({ approvalId }) => approvalId)]
    const needsApproval = run.needsApproval || requests.some(({ kind }) => kind === 'tool')
    return {
      task: { ...task, status: 'pending_approval' },
      runs: [{ ...run, status: 'pending_approval', needsApproval, asked }],
      approvals: [...moved, ...requests],
      events: requests.flatMap((request) => requestEvents(request)),
      answer: undefined
    } satisfies Change<undefined>
  }

  /** Ends the run, and queues the run that waited behind the ended run. */
  function conclude (task: StoredTask, run: StoredRun, history: readonly RunEvent[], ending: RunEnding) {
    const closed = closeRun(run, history, ending, deps)
    const after = afterRun(task, closed.run, history, clock.now())
    return {
      task: after,
      runs: [closed.run],
      ops: accessNotification(closed.run),
      events: closed.events,
      answer: undefined,
      after: () => requeueNext(task, after)
    } satisfies Change<undefined>
  }

  /** Ends a run that does not execute. A history that cannot be read counts as empty. */
  const end = async (task: StoredTask, run: StoredRun, ending: RunEnding) =>
    conclude(task, run, await unlessDamaged(repository.events(run.runId)) ?? [], ending)

  /**
   * Returns the operations that notify a person if the run failed with reason `access`: its provider needs a key,
   * credit or another model. Only one notification is open for each provider.
   */
  function accessNotification ({ failure, error, options }: StoredRun): Op[] {
    if (failure?.reason !== 'access') return []
    const provider = deps.registry.providerNameOf(options?.model ?? deps.registry.roles().capable)
    return deps.notifications.ops({ kind: 'provider', key: `provider/${provider}`, provider, ...(error !== undefined && { text: error }) })
  }

  /** Queues the run that has become the live run. */
  function requeueNext (before: StoredTask, { id, status, liveRun }: StoredTask) {
    if (status === 'running' && liveRun !== undefined && liveRun.runId !== before.liveRun?.runId) requeue(id, liveRun.runId)
  }

  return { suspendRun, afterAttempt, conclude, end }
}

/** Returns the events that announce an open item of a task. */
function requestEvents (item: TaskItem): TaskStreamEvent[] {
  const { taskId, runId } = item
  switch (item.kind) {
    case 'tool':
    case 'result':
    case 'question': {
      const { createdAt, expiresAt, ...shown } = questionView(item)
      return [{ type: 'task:approval', taskId, runId, ...shown }]
    }
    case 'app': {
      const { toolCallId, toolName, input, expiresAt } = item
      return [{ type: 'task:tool-call', taskId, runId, toolCallId, toolName, input, expiresAt }]
    }
  }
}

/** The most characters of a report that an error message quotes. */
const REPORT_QUOTED = 1_000

/**
 * Returns the error message of a run that did not reach its goal. The report of the run is quoted first, unless
 * its claims are contradicted or no model judged it.
 */
function whyFailed ({ evaluation, output = '' }: StoredRun): string {
  const review = `The run did not reach its goal: ${evaluation?.issues.join(' ') || 'the judge was not satisfied.'}`
  if (evaluation?.judge !== 'model' || evaluation.evidence === 'contradicted' || output === '') return review
  const quoted = output.length > REPORT_QUOTED ? `${output.slice(0, REPORT_QUOTED).toWellFormed()}…` : output
  return `${quoted}\n\n${review}`
}
