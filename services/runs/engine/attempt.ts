import type { Config } from '../../../schemas/config.ts'
import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Grants, Ledger, LiveQuestions } from '../../approvals/index.ts'
import type { RunTracer } from '../../contracts/traced.ts'
import type { ErrorCode } from '../../../schemas/error-codes.ts'
import type { EventOf } from '../../contracts/run-events.ts'
import { Aborted, abortKind, type AbortKind } from '../../lib/abort.ts'
import { ServiceError } from '../../lib/service-error.ts'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline, type Deadline } from '../../lib/deadline.ts'
import { openObjectAnswer, type ObjectAnswer } from '../answers/object-answer.ts'
import type { Store } from '../../store/index.ts'
import type { Fence } from '../../tools/index.ts'
import type { Meter, UsageMeters } from '../../usage/index.ts'
import type { RunRecord } from '../run-record.ts'
import type { RunRepository, RunWrite } from '../run-repository.ts'
import type { ActiveRun } from './active-run.ts'

/** The collaborators of the engine, which all runs share. */
export interface EngineDeps {
  store: Store
  clock: Clock
  runs: RunRepository
  ledger: Ledger
  grants: Grants
  liveQuestions: Pick<LiveQuestions, 'ask'>
  fence: Fence
  usage: Pick<UsageMeters, 'open' | 'close'>
  config: () => Config
  /** Undefined if no traces are written. */
  traces?: RunTracer
  log: {
    info(details: object, message: string): void,
    warn(details: object, message: string): void,
    error(details: object, message: string): void
  }
}

/** One execution of a run, from its start or its continuation until it ends, waits or is stopped. */
export interface RunAttempt<R extends RunRecord = RunRecord> {
  live: ActiveRun<R>
  /** The number that `fence.enter` gave this attempt; see tools/fence.ts. */
  attempt: number
  /** Counts the model calls of the run and refuses those beyond a budget. */
  meter: Meter
  /** Returns the structured answer that the options of the run require; undefined if they require none. */
  owed: () => Promise<ObjectAnswer | undefined>
  /** Stores the new events and the record of the run. Rejects when the attempt is over. */
  commit: (write?: RunWrite<R>) => Promise<void>
  /** Returns how long the run has worked in all its attempts, milliseconds. */
  activeMs: () => number
  /** Waits for a promise while the clock of the run's time limit stands still. */
  pause: Deadline['pause']
  /** Ends the attempt. Resolves when all its writes are on disk. After that the attempt writes nothing more. */
  close: () => Promise<void>
}

/** The codes of aborts that count as failures of the run. */
const LIMITS: Partial<Record<AbortKind, ErrorCode>> = { timeout: 'ERR_TIMEOUT', budget: 'ERR_BUDGET' }

/** Returns the event that says why a run ended early. An unexpected error is logged, and readers do not get its message. */
export function whyEnded (error: unknown, runId: string, log: Pick<EngineDeps['log'], 'error'>): EventOf<'abort' | 'error'> {
  const kind = abortKind(error)
  if (kind !== undefined) {
    const code = LIMITS[kind]
    return code === undefined ? { type: 'abort', reason: kind } : { type: 'error', errorText: (error as Error).message, code }
  }
  if (error instanceof ServiceError) {
    const { message, code, details, retryAfterMs } = error
    return { type: 'error', errorText: message, code, ...details && { details }, ...retryAfterMs !== undefined && { retryAfterMs } }
  }
  log.error({ err: error, runId }, 'run failed')
  return { type: 'error', errorText: 'Something went wrong inside the service; its log says more.', code: 'ERR_INTERNAL' }
}

/** Returns the error that an event of `whyEnded` reports. */
export const toError = ({ errorText, code, details, retryAfterMs }: EventOf<'error'>): ServiceError =>
  Object.assign(new ServiceError(code, errorText), { details, retryAfterMs })

/** How long a run may work in total, by default, milliseconds. */
const RUN_MS = 4 * 60 * 60 * 1000

/**
 * Opens an attempt with a number at the fence, a meter, and a deadline for the time that is left to the run. `endsAt` is the end time of
 * the run's task, in epoch milliseconds. Until then, the run is allowed to work for longer than RUN_MS.
 */
export function openAttempt<R extends RunRecord> (
  live: ActiveRun<R>,
  { clock, fence, usage, runs, config }: Pick<EngineDeps, 'clock' | 'fence' | 'usage' | 'runs' | 'config'>,
  endsAt = 0
): RunAttempt<R> {
  const { run } = live
  const { runId, threadId, taskId, trigger, activeMs: before, options } = run.record
  const begun = clock.awake()
  const minutes = options?.budget?.minutes ?? Infinity
  const ms = config().agent?.runMs ?? Math.max(RUN_MS, before + endsAt - clock.now())
  const reason = () => minutes * 60_000 < ms
    ? new Aborted('budget', `The run worked for ${minutes} minutes; that is its budget.`)
    : new Aborted('timeout', `The run worked for longer than ${ms / 1000} s and was stopped.`)
  const left = Math.max(Math.min(minutes * 60_000, ms) - before, 0)
  const deadline = startDeadline({ clock, ms: left }, () => live.abort(reason()))
  const activeMs = () => before + Math.round(clock.awake() - begun - deadline.paused())
  let isOver = false

  return {
    live,
    attempt: fence.enter(runId),
    meter: usage.open(runId, {
      owner: taskId === undefined ? { kind: 'thread', id: threadId! } : { kind: 'task', id: taskId },
      budget: options?.budget,
      isUnattended: trigger === 'schedule' || trigger === 'catch_up',
      total: run.record.usage
    }),
    owed: onceOwed(options),
    async commit (write = {}) {
      if (isOver) throw live.signal.reason
      await runs.commit(run, { ...write, changes: { activeMs: activeMs(), ...write.changes } as Partial<R> })
    },
    activeMs,
    pause: deadline.pause,
    async close () {
      deadline.stop()
      isOver = true
      await run.writing
      run.record = { ...run.record, activeMs: activeMs() }
      fence.leave(runId)
      usage.close(runId)
    }
  }
}

function onceOwed (options: RunOptions | undefined): RunAttempt['owed'] {
  let opened: Promise<ObjectAnswer> | undefined
  return async () => options?.object && (opened ??= openObjectAnswer(options.object))
}
