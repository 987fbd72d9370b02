import type { RunFailure } from '../../schemas/task-runs.ts'
import type { TaskHealth } from '../../schemas/tasks.ts'
import { lastSlotUpTo, nextSlot } from '../calendar/index.ts'
import type { StoredHealth, StoredRun, StoredTask } from './task-records.ts'

/** Runs that fail in a row before a task counts as failing. */
const FAILURES = 5
const MINUTE_MS = 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000
/** How long a task fails before its person is asked what to do with it; milliseconds. */
const ASKED_AFTER_MS = 14 * DAY_MS

/** Reasons of failures for which the task is not to blame. */
const NOT_COUNTED: ReadonlySet<string | undefined> = new Set<RunFailure['reason']>(['provider', 'access', 'day_budget'])

/** Triggers of runs that no person began. */
const TRIES: ReadonlySet<StoredRun['trigger']> = new Set(['schedule', 'catch_up', 'files', 'task'])

export const WELL: StoredHealth = { state: 'ok', failures: 0 }

/** Returns the health of a task for its readers. */
export function healthView ({ health = WELL }: Pick<StoredTask, 'health'>): TaskHealth {
  const { asked, ...shown } = health
  return shown
}

/** Returns the health of a task after a run: a completed run makes it well, a failed one counts. `now`: epoch milliseconds. */
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
  // A run that a person began does not postpone the next planned one.
  const isTry = before.state === 'ok' || TRIES.has(trigger)
  const nextTryAt = isTry ? nextTry(task, failures, now) : before.nextTryAt
  return { ...before, state: 'failing', failures, since: before.since ?? now, nextTryAt }
}

/**
 * Returns the time at which a failing task is tried next: after two periods of its schedule, doubled with each failure, up to a day or one
 * period, whichever is longer. For a task with only triggers the period counts as a minute. Undefined if it has neither.
 */
function nextTry ({ timing, nextRunAt, triggers }: StoredTask, failures: number, now: number): number | undefined {
  if (timing === undefined && triggers !== undefined) return now + Math.min(MINUTE_MS * 2 ** (failures - FAILURES + 1), DAY_MS)
  if (timing === undefined || nextRunAt === undefined) return undefined
  const before = lastSlotUpTo(timing, timing.since, nextRunAt - 1) ?? -Infinity
  const after = nextSlot(timing, nextRunAt) ?? Infinity
  const period = Math.min(nextRunAt - before, after - nextRunAt)
  if (period === Infinity) return nextRunAt
  const distance = Math.min(period * 2 ** (failures - FAILURES + 1), Math.max(DAY_MS, period))
  // Half a period less, because periods differ by an hour when clocks change.
  return nextSlot(timing, Math.max(Math.max(before, nextRunAt - period) + distance - period / 2, now))
}

/** Returns the planned time that becomes the next run; undefined if there is none before the task ends. */
export function runsNextAt (
  { health, nextRunAt = Infinity, endsAt = Infinity }: Pick<StoredTask, 'health' | 'nextRunAt' | 'endsAt'>
): number | undefined {
  const at = Math.max(nextRunAt, health?.nextTryAt ?? 0)
  return at < endsAt ? at : undefined
}

/** Returns the task in a state in which its next planned time is tried, because a person changed or resumed it. */
export function tryNext (task: StoredTask): StoredTask {
  if (task.health?.nextTryAt === undefined) return task
  const { nextTryAt, ...health } = task.health
  return { ...task, health }
}

/** Returns when to ask the person of a failing task what to do with it; Infinity for never. */
export const asksAt = ({ health, status }: Pick<StoredTask, 'health' | 'status'>): number =>
  health?.state === 'failing' && health.since !== undefined && !health.asked && status === 'scheduled'
    ? health.since + ASKED_AFTER_MS
    : Infinity

/** Characters of the last error that are shown. */
const ERROR_SHOWN = 300

/** Returns sentences for a person about a failing task. */
export function failingText ({ health = WELL }: Pick<StoredTask, 'health'>, last: Pick<StoredRun, 'error'> | undefined): string {
  const error = last?.error === undefined ? '' : ` The last one: ${last.error.slice(0, ERROR_SHOWN)}`
  return `This task has failed ${health.failures} times in a row.${error}`
}
