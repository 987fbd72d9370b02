import type { Task } from '../../schemas/tasks.ts'
import { healthView, runsNextAt } from './task-health.ts'
import { nameOfTask } from '../lib/short-name.ts'
import type { StoredTask } from './task-records.ts'

/** The public form of a task, without the internal fields. */
export function taskView ({
  outdatedRun,
  said,
  timing,
  lastSlot,
  slotCount,
  slotRuns,
  firing,
  liveRun,
  nextRun,
  reviewRun,
  returnTo,
  waitsUntil,
  waitsSince,
  choice,
  ...task
}: StoredTask): Task {
  const { tokens, minutes } = task.options.budget ?? {}
  return {
    ...task,
    name: nameOfTask(task),
    health: healthView(task),
    nextRunAt: runsNextAt(task),
    // The second form of the limits is for earlier clients.
    budget: { maxTokensPerRun: tokens, maxMinutesPerRun: minutes }
  }
}
