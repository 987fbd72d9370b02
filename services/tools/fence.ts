import createError from '@fastify/error'

/** A worker spoke for an attempt that is no longer the current one of its run. */
export const StaleAttempt = createError<[number, string]>('ERR_STALE_ATTEMPT', 'Attempt %d of run %s is no longer current', 409)

export type Fence = ReturnType<typeof createFence>

/** Keeps what is left of an earlier attempt at a run (a hung worker, a late call) from acting for it. */
export function createFence () {
  const current = new Map<string, number>()
  // One count for all runs, so that a run that left and came back never sees a number twice.
  let last = 0
  return {
    /** Begins an attempt at a run; the one before is stale from now on. The number only grows and says nothing else. */
    enter (runId: string): number {
      current.set(runId, ++last)
      return last
    },
    /** Throws StaleAttempt unless this is the current attempt. */
    check (runId: string, attempt: number): void {
      if (current.get(runId) !== attempt) throw new StaleAttempt(attempt, runId)
    },
    /** The run is over: every attempt at it is stale. */
    leave (runId: string): void {
      current.delete(runId)
    }
  }
}
