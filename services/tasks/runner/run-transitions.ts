import type { TaskStreamEvent } from '../../../schemas/task-events.ts'
import type { TaskItem } from '../../contracts/approval-record.ts'
import { askItems } from '../../runs/index.ts'
import { isCompleted } from '../../judge/index.ts'
import { abortKind } from '../../lib/abort.ts'
import { ServiceError } from '../../lib/service-error.ts'
import type { Change } from '../task-repository.ts'
import type { RunDeps } from '../task-deps.ts'
import { afterRun, closeRun, type RunEnding } from './run-ending.ts'
import { mostSteps } from '../new-run.ts'
import { WorkerDied } from './workers.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { questionView } from '../../approvals/index.ts'
import type { TaskAttempt } from './task-attempt.ts'

/** Time that a person has to answer a question, unless the configuration says otherwise; milliseconds. */
const APPROVAL_TTL_MS = 7 * 24 * 60 * 60 * 1000
/** A run that is interrupted this often is ended. */
export const MAX_CRASHES = 3

/** The error that ended an attempt; none if its worker ended in order. */
export interface AttemptResult {
  error?: unknown
}

/** The changes of a task and its run that follow an attempt: continue later, ask a person, or end. */
export function createRunTransitions ({ deps, requeue }: { deps: RunDeps, requeue: (taskId: string, runId: string) => void }) {
  const { clock, config, log } = deps

  /** Marks a run as stopped in order, so that its continuation does not count as a crash. */
  const suspendRun = (task: StoredTask, run: StoredRun): Change<undefined> => ({
    task,
    runs: [{ ...run, suspended: true }],
    answer: undefined
  })

  /** Decides how the run continues after an attempt: retry, question to a person, or end. */
  function afterAttempt (task: StoredTask, run: StoredRun, attempt: TaskAttempt, result: AttemptResult): Change<undefined> {
    const { executed, live: { run: { log: { events } } } } = attempt
    if ('error' in result) {
      if (isStoreFailure(result.error) && run.crashes + 1 < MAX_CRASHES) {
        return {
          task,
          runs: [{ ...run, crashes: run.crashes + 1, attempts: run.attempts + 1, suspended: true }],
          answer: undefined,
          after: () => requeue(task.id, run.runId)
        }
      }
      return conclude(task, run, events, endingOf(result.error, run.runId))
    }
    if (executed.isWaiting ? executed.asked.length === 0 : !executed.isAccepted) {
      return conclude(task, run, events, {
        status: 'interrupted',
        error: 'The worker of this run stopped before the run was complete.'
      })
    }
    if (executed.isWaiting) return waitForCalls(task, run, attempt)
    if (run.evaluation === undefined || !isCompleted(run.evaluation)) {
      const denied = attempt.items.denied()
      if (denied !== undefined) {
        return conclude(task, run, events, {
          status: 'rejected',
          error: `The user denied ${denied.toolName}${denied.reason ? `: ${denied.reason}` : '.'}`
        })
      }
      return conclude(task, run, events, {
        status: 'failed',
        error: `The run did not reach its goal: ${run.evaluation?.issues.join(' ') || 'the judge was not satisfied.'}`
      })
    }
    return run.needsApproval
      ? askResult(task, run)
      : conclude(task, run, events, { status: 'completed' })
  }

  const ttl = () => config().tasks?.approvalTtl ?? APPROVAL_TTL_MS

  /** Lets the run wait for its calls. */
  function waitForCalls (task: StoredTask, run: StoredRun, { executed }: TaskAttempt): Change<undefined> {
    const { items, moved } = askItems(run, executed, { ledger: deps.ledger, ttlMs: ttl() })
    return wait(task, run, items as TaskItem[], moved as TaskItem[])
  }

  const askResult = (task: StoredTask, run: StoredRun): Change<undefined> =>
    wait(task, run, [
      deps.ledger.askResult({ taskId: task.id, runId: run.runId, segment: run.segment, output: run.output }, ttl())
    ])

  /**
   * Lets the run wait for a person or the application. The requests are stored with everything before them, before they are
   * announced. The result of a run that requested an approval also needs one.
   */
  function wait (task: StoredTask, run: StoredRun, requests: TaskItem[], moved: TaskItem[] = []): Change<undefined> {
    const asked = [...run.asked, ...requests.map(({ approvalId }) => approvalId)]
    const needsApproval = run.needsApproval || requests.some(({ kind }) => kind === 'tool')
    return {
      task: { ...task, status: 'pending_approval' },
      runs: [{ ...run, status: 'pending_approval', needsApproval, asked }],
      approvals: [...moved, ...requests],
      events: requests.flatMap((request) => requestEvents(request)),
      answer: undefined
    }
  }

  /** Ends the run, and queues the run that waited behind it. */
  function conclude (task: StoredTask, run: StoredRun, history: readonly RunEvent[], ending: RunEnding): Change<undefined> {
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
    if (isStoreFailure(error)) {
      return { status: 'interrupted', error: 'The store refused the records of this run; see the log of the service.' }
    }
    const kind = abortKind(error)
    if (kind === 'timeout' || kind === 'budget' || error instanceof ServiceError) {
      return { status: 'failed', error: (error as Error).message }
    }
    log.error({ err: error, runId }, 'a task run failed')
    return { status: 'failed', error: 'Something went wrong inside the service; its log says more.' }
  }

  return { suspendRun, afterAttempt, conclude }
}

/** The events that announce an item of a task. */
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

/** The first attempt at a queued run: its record, the steering that it receives, and its start event. */
export function firstStart (task: StoredTask, run: StoredRun, now: number) {
  const { mode, firstN, approvedRuns } = task.approval
  const newComments = task.steeringHistory.filter(({ runId }) => runId === undefined)
  const started: StoredRun = {
    ...run,
    status: 'running',
    startedAt: now,
    attempts: 1,
    options: task.options,
    cwd: task.cwd,
    maxSteps: mostSteps(task.options),
    phases: task.plan.phases.map((phase) => ({ ...phase, status: 'pending' as const })),
    steering: newComments.map(({ comment }) => comment),
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

/** Whether the store caused the error, so that the same write may succeed later. */
export const isStoreFailure = (error: unknown) =>
  ['ERR_STORE_UNAVAILABLE', 'ERR_STORE_BUSY'].includes((error as { code?: string })?.code ?? '')
