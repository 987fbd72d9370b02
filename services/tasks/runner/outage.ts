import type { ErrorCode } from '../../../schemas/error-codes.ts'
import type { RunFailure } from '../../../schemas/task-runs.ts'
import { abortKind } from '../../lib/abort.ts'
import { ServiceError } from '../../lib/service-error.ts'
import { isOutage } from '../../models/index.ts'
import { isBudgetError, isOfDay } from '../../usage/index.ts'
import type { Change } from '../task-repository.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

const MINUTE = 60_000
/** The waits before a run continues; the last one is repeated. Milliseconds. */
const WAITS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE]
/** A run whose provider is away for this long ends as failed; milliseconds. */
const LONGEST_MS = 12 * 60 * MINUTE

/**
 * Makes a run wait for its provider: it gives up its worker and its place, and goes on from its last step later. Undefined for an error of
 * another kind, and if the provider has been away for LONGEST_MS. `now`: milliseconds since the Unix epoch.
 */
export function waitForProvider (task: StoredTask, run: StoredRun, error: unknown, now: number): Change<undefined> | undefined {
  if (!isOutage(error)) return undefined
  // A successful step in between ends an outage.
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

/** Returns a run that waits for its provider, or was ended because of it, in the state in which it continues from its last step. */
export function goingOn ({ retryAt, error, failure, completedAt, durationMs, ...run }: StoredRun): StoredRun {
  return {
    ...run,
    status: 'running',
    attempts: run.attempts + 1,
    suspended: true,
    toolCalls: [],
    // When the run ended, its uncompleted phases were given an end.
    phases: completedAt === undefined
      ? run.phases
      : run.phases.map((phase) => phase.status === 'completed' ? phase : { ...phase, status: 'pending' as const })
  }
}

/** Whether the run ended because of its provider, so that it can continue from its last step. */
export const isRestartable = ({ status, failure }: StoredRun): boolean => status === 'failed' && failure?.reason === 'provider'

/** Codes of failures that need a person: to give a key or credit, or to choose another model. */
const OF_ACCESS: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_PROVIDER_AUTH',
  'ERR_PROVIDER_CREDIT',
  'ERR_PROVIDER_FORBIDDEN',
  'ERR_PROVIDER_NOT_CONFIGURED',
  'ERR_MODEL_NOT_FOUND',
  'ERR_INVALID_MODEL',
  'ERR_NO_MODEL'
])

/** Returns why the error ended a run. */
export function failureOf (error: unknown): RunFailure {
  const { code } = error as { code?: unknown }
  const kind = abortKind(error)
  if (kind === 'timeout') return { reason: 'time' }
  if (kind === 'budget') return { reason: 'budget' }
  const named = typeof code === 'string' && error instanceof ServiceError ? { code } : {}
  if (isOutage(error)) return { reason: 'provider', ...named }
  if (OF_ACCESS.has(named.code ?? '')) return { reason: 'access', ...named }
  if (isBudgetError(error)) return { reason: isOfDay(error) ? 'day_budget' : 'budget', ...named }
  return { reason: 'error', ...named }
}
