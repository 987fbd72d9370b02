import { defineError } from '../lib/service-error.ts'

/** Thrown if a worker makes a call for an attempt (one execution of a run) that is no longer the current attempt of its run. */
const StaleAttempt = defineError('ERR_STALE_ATTEMPT', 'Attempt %d of run %s is no longer current')

export type Fence = ReturnType<typeof createFence>

/** Refuses calls of an earlier attempt at a run, such as calls of a worker that hung. */
export function createFence () {
  const current = new Map<string, number>()
  // One counter for all runs, so that a run that has ended and begins again never gets the same number twice.
  let last = 0
  return {
    /**
     * Begins an attempt at a run, and makes earlier attempts stale. Returns the number of the attempt, which is larger than all earlier
     * numbers.
     */
    enter (runId: string): number {
      current.set(runId, ++last)
      return last
    },
    /** Throws StaleAttempt unless this is the current attempt at the run. */
    check (runId: string, attempt: number): void {
      if (current.get(runId) !== attempt) throw new StaleAttempt(attempt, runId)
    },
    /** Ends a run, which makes all attempts at it stale. */
    leave (runId: string): void {
      current.delete(runId)
    }
  }
}
