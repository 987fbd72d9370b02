import type { RunFailure } from '../../schemas/task-runs.ts'
import type { TaskHealth } from '../../schemas/tasks.ts'
import { lastSlotUpTo, nextSlot } from '../calendar/index.ts'
import type { StoredHealth, StoredRun, StoredTask } from './task-records.ts'

/** How many runs must fail in a row before a task counts as failing. */
const FAILURES = 5
const MINUTE_MS = 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000
/** How long a task must be failing before a person is asked what to do with it; milliseconds. */
const ASKED_AFTER_MS = 14 * DAY_MS

/** Reasons of failures that do not count towards the health of the task, because the task did not cause them. */
const NOT_COUNTED: ReadonlySet<string | undefined> = new Set<RunFailure['reason']>(['provider', 'access', 'day_budget'])

/** The triggers of runs that no person began. */
const TRIES: ReadonlySet<StoredRun['trigger']> = new Set(['schedule', 'catch_up', 'files', 'task'])

export const WELL: StoredHealth = { state: 'ok', failures: 0 }

/** Returns the public form of the health of a task. */
export function healthView ({ health = WELL }: Pick<StoredTask, 'health'>): TaskHealth {
  const { asked, ...shown } = health
  return shown
}

/**
 * Returns the health of a task after a run. A completed run resets it to healthy, a failed run counts. `now`:
 * milliseconds since the Unix epoch.
 */
export function healthAfter (
  task: StoredTask,
  { status, trigger, failure }: Pick<StoredRun, 'status' | 'trigger' | 'failure'>,
  now: number
): StoredHealth {
  const before = task.health ?? WELL
  if (status === 'completed') return WELL
  if (status !== 'failed' || NOT_COUNTED.has(failure?.reason)) return before
  const failures = before.failures + 1
  if (failures < FAILURES) return { ...before, failures }
  // A failed run that a person began does not postpone the next planned run.
  const isTry = before.state === 'ok' || TRIES.has(trigger)
  const nextTryAt = isTry ? nextTry(task, failures, now) : before.nextTryAt
  return { ...before, state: 'failing', failures, since: before.since ?? now, nextTryAt }
}

/**
 * Returns when a failing task runs next, milliseconds since the Unix epoch. The delay is two periods of its
 * schedule, doubled with each further failure, up to a day or one period, whichever is longer. For a task with
 * only triggers the period counts as one minute. Returns undefined if the task has neither schedule nor triggers.
 */
function nextTry ({ timing, nextRunAt, triggers }: StoredTask, failures: number, now: number): number | undefined {
  if (timing === undefined && triggers !== undefined) return now + Math.min(MINUTE_MS * 2 ** (failures - FAILURES + 1), DAY_MS)
  if (timing === undefined || nextRunAt === undefined) return undefined
  const before = lastSlotUpTo(timing, timing.since, nextRunAt - 1) ?? -Infinity
  const after = nextSlot(timing, nextRunAt) ?? Infinity
  const period = Math.min(nextRunAt - before, after - nextRunAt)
  if (period === Infinity) return nextRunAt
  const distance = Math.min(period * 2 ** (failures - FAILURES + 1), Math.max(DAY_MS, period))
  // The search starts half a period early, because periods differ by an hour when the clocks change.
  return nextSlot(timing, Math.max(Math.max(before, nextRunAt - period) + distance - period / 2, now))
}

/**
 * Returns the time of the next planned run, milliseconds since the Unix epoch; undefined if there is none before the end time of the task.
 */
export function runsNextAt (
  { health, nextRunAt = Infinity, endsAt = Infinity }: Pick<StoredTask, 'health' | 'nextRunAt' | 'endsAt'>
): number | undefined {
  const at = Math.max(nextRunAt, health?.nextTryAt ?? 0)
  return at < endsAt ? at : undefined
}

/** Removes the retry delay of a failing task, so that its next planned time runs. For tasks that a person has changed or resumed. */
export function tryNext (task: StoredTask): StoredTask {
  if (task.health?.nextTryAt === undefined) return task
  const { nextTryAt, ...health } = task.health
  return { ...task, health }
}

/** Returns when to ask a person what to do with a failing task, milliseconds since the Unix epoch; Infinity for never. */
export const asksAt = ({ health, status }: Pick<StoredTask, 'health' | 'status'>): number =>
  health?.state === 'failing' && health.since !== undefined && !health.asked && status === 'scheduled'
    ? health.since + ASKED_AFTER_MS
    : Infinity

/** The most characters of the last error in the question. */
const ERROR_SHOWN = 300

/**
 * Returns the text of the question to a person about a failing task, with the beginning (ERROR_SHOWN characters) of its last error, if
 * there is one.
 */
export function failingText ({ health = WELL }: Pick<StoredTask, 'health'>, last: Pick<StoredRun, 'error'> | undefined): string {
  const error = last?.error === undefined ? '' : ` The last one: ${last.error.slice(0, ERROR_SHOWN)}`
  return `This task has failed ${health.failures} times in a row.${error}`
}
