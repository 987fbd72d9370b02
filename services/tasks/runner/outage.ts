import type { RunFailure } from '../../../schemas/task-runs.ts'
import { isOutage } from '../../models/index.ts'
import type { Change } from '../task-repository.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

const MINUTE = 60_000
/** The delays before each retry, in milliseconds; the last one is repeated. */
const WAITS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE]
/** After an outage of this length, in milliseconds, the run fails. */
const LONGEST_MS = 12 * 60 * MINUTE

/**
 * Returns the change that makes a run wait for its provider: the run gives up its worker and its place in the
 * queue, and continues from its last step later. Returns undefined if the error is no outage, or if the outage
 * has lasted LONGEST_MS. `now`: milliseconds since the Unix epoch.
 */
export function waitForProvider (task: StoredTask, run: StoredRun, error: unknown, now: number): Change<undefined> | undefined {
  if (!isOutage(error)) return undefined
  // A run that made a step since the last failure begins a new outage.
  const { since, tries } = run.outage?.steps === run.steps ? run.outage : { since: now, tries: 0 }
  const end = since + LONGEST_MS
  if (now >= end) return undefined
  const retryAt = Math.min(now + WAITS[Math.min(tries, WAITS.length - 1)], end)
  const { message, code } = error
  const failure: RunFailure = { reason: 'provider', code }
  const outage = { since, tries: tries + 1, steps: run.steps }
  return {
    task: { ...task, status: 'scheduled' },
    runs: [{ ...run, status: 'queued', retryAt, error: message, failure, outage, suspended: true }],
    events: [{ type: 'task:retry', taskId: task.id, runId: run.runId, reason: 'provider', error: message, tries: tries + 1, retryAt }],
    answer: undefined
  }
}

/** Whether the run waits for its provider. */
export const isWaitingForProvider = ({ status, retryAt }: StoredRun): boolean => status === 'queued' && retryAt !== undefined

/** Returns the record with which a run continues from its last step, after it waited for its provider or failed because of its provider. */
export function goingOn ({ retryAt, error, failure, completedAt, durationMs, ...run }: StoredRun): StoredRun {
  return {
    ...run,
    status: 'running',
    attempts: run.attempts + 1,
    suspended: true,
    toolCalls: [],
    // The end of the run set a final status on its uncompleted phases.
    phases: completedAt === undefined
      ? run.phases
      : run.phases.map((phase) => phase.status === 'completed' ? phase : { ...phase, status: 'pending' as const })
  }
}

/** Whether the run failed because of its provider, so that it can continue from its last step. */
export const isRestartable = ({ status, failure }: StoredRun): boolean => status === 'failed' && failure?.reason === 'provider'
