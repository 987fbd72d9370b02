import type { Task } from '../../schemas/tasks.ts'
import { earlierBudget } from './task-options.ts'
import type { StoredTask } from './task-records.ts'

/** The public form of a task, without the internal fields. */
export function taskView (
  {
    outdatedRun,
    failuresInRow,
    timing,
    lastSlot,
    slotCount,
    slotRuns,
    liveRun,
    nextRun,
    returnTo,
    waitsUntil,
    waitingFor,
    ...task
  }: StoredTask
): Task {
  return { ...task, budget: earlierBudget(task.options), ...(task.status === 'pending_approval' && { waitingFor }) }
}
