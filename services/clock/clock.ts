import { setTimeout as wait } from 'node:timers/promises'

/** Where every service takes its time from, so that tests can put another in its place. */
export interface Clock {
  /** Wall-clock time, integer milliseconds since the Unix epoch. */
  now (): number
  /** Milliseconds that only grow, from an arbitrary start: for durations. */
  monotonic (): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Keeps no process alive. */
  sleep (ms: number, signal?: AbortSignal): Promise<void>
}

/** Longest delay a Node timer takes before it overflows to 1 ms (2^31 - 1). */
const LONGEST_TIMER_MS = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep (ms, signal) {
    signal?.throwIfAborted()
    const end = performance.now() + ms
    try {
      for (let left = ms; left > 0; left = end - performance.now()) {
        await wait(Math.min(left, LONGEST_TIMER_MS), undefined, { signal, ref: false })
      }
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  }
}
