import type { Clock } from '../lib/clock.ts'
import { createSemaphore } from '../lib/semaphore.ts'

/** A program without a job is ended after this time, milliseconds: it holds tens of megabytes. */
const IDLE_MS = 30_000
/** Jobs that may wait for the running one. */
const MOST_WAITING = 31

/**
 * Runs jobs of a program beside the service one at a time, and ends the program after IDLE_MS without a job. `end` ends the program;
 * `isRunning` says whether it runs. A job beyond MOST_WAITING is refused with the error that `busy` makes.
 */
export function createOneAtATime (
  { clock, busy, isRunning, end }: { clock: Clock, busy: () => Error, isRunning: () => boolean, end: () => Promise<void> }
) {
  const slots = createSemaphore({ limit: 1, maxQueued: MOST_WAITING, busy })
  const closing = new AbortController()
  let idle = new AbortController()

  /** Ends the program `ms` milliseconds from now, unless it has or gets a job. */
  function endWhenIdle (ms: number): void {
    if (!slots.idle || !isRunning()) return
    idle.abort()
    idle = new AbortController()
    clock.sleep(ms, idle.signal).then(end, () => {})
  }

  return {
    endWhenIdle,

    /** Aborts when the service ends. */
    closing: closing.signal,

    /** Runs a job when the earlier ones have ended. Its signal aborts with `signal`, and when the service ends. */
    async run<T> (signal: AbortSignal, job: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const aborted = AbortSignal.any([signal, closing.signal])
      try {
        return await slots.run(aborted, () => {
          idle.abort()
          return job(aborted)
        })
      } finally {
        endWhenIdle(IDLE_MS)
      }
    },

    /** Ends the running job with this reason, and the program. */
    async close (reason: Error): Promise<void> {
      closing.abort(reason)
      idle.abort()
      await end()
    }
  }
}
