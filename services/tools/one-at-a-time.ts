import type { Clock } from '../lib/clock.ts'
import { createSemaphore } from '../lib/semaphore.ts'

/** How long a program without a job keeps running, in milliseconds. It holds tens of megabytes of memory. */
const IDLE_MS = 30_000
/** The most jobs that can wait for the running one. */
const MOST_WAITING = 31

/**
 * Runs the jobs of a separate program one at a time, and ends the program after IDLE_MS without a job. `end` ends the program, and
 * `isRunning` returns whether it runs. If MOST_WAITING jobs wait already, a job is refused with the error that `busy` returns.
 */
export function createOneAtATime (
  { clock, busy, isRunning, end }: { clock: Clock, busy: () => Error, isRunning: () => boolean, end: () => Promise<void> }
) {
  const slots = createSemaphore({ limit: 1, maxQueued: MOST_WAITING, busy })
  const closing = new AbortController()
  let idle = new AbortController()

  /** Ends the program after `ms` milliseconds, unless it has or gets a job. */
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

    /** Runs a job once the earlier ones have ended. The signal of the job aborts with `signal`, and when the service ends. */
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

    /** Aborts the jobs with this reason, and ends the program. */
    async close (reason: Error): Promise<void> {
      closing.abort(reason)
      idle.abort()
      await end()
    }
  }
}
