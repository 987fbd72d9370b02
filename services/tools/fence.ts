import { defineError } from '../lib/service-error.ts'

/** A worker acted for an attempt that is no longer the current attempt of its run. */
const StaleAttempt = defineError('ERR_STALE_ATTEMPT', 'Attempt %d of run %s is no longer current')

export type Fence = ReturnType<typeof createFence>

/** Refuses calls of an earlier attempt at a run, such as those of a hung worker. */
export function createFence () {
  const current = new Map<string, number>()
  // One counter for all runs, so that a run that was left and entered again never gets the same number twice.
  let last = 0
  return {
    /** Begins an attempt at a run, which makes earlier attempts stale. Returns its number; numbers grow and have no other meaning. */
    enter (runId: string): number {
      current.set(runId, ++last)
      return last
    },
    /** Throws StaleAttempt unless this is the current attempt. */
    check (runId: string, attempt: number): void {
      if (current.get(runId) !== attempt) throw new StaleAttempt(attempt, runId)
    },
    /** Ends a run: every attempt at it is stale. */
    leave (runId: string): void {
      current.delete(runId)
    }
  }
}
