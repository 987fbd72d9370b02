import { setTimeout as wait } from 'node:timers/promises'
import { watchStops } from './process-stops.ts'

/** Where every service takes its time from, so that tests can put another in its place. */
export interface Clock {
  /** Wall-clock time, integer milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds that only grow, from an arbitrary start: for durations. */
  monotonic(): number
  /** As `monotonic`, without the time for which this process was stopped (SIGSTOP, a paused machine). For what a time-out measures. */
  awake(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Keeps no process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * As `sleep`, for time-outs: resolves after `ms` of `awake`, and once whatever has arrived by then was handled. After a
   * stop there is a second more, for what waits to be read and for children that were stopped as well.
   */
  timeout(ms: number, signal?: AbortSignal): Promise<void>
}

/** Longest delay a Node timer takes before it overflows to 1 ms (2^31 - 1). */
const LONGEST_TIMER_MS = 2_147_483_647
/** After a stop, before a time-out may end. */
const GRACE_MS = 1_000
/** A process that can hardly work must not put its time-outs off for ever. */
const MOST_GRACES = 10

const stops = watchStops()

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  awake: () => performance.now() - stops.look().stoppedMs,
  async timeout (ms, signal) {
    let end = systemClock.awake() + ms
    let { count } = stops.look()
    for (let left = ms, graces = 0; left > 0; left = end - systemClock.awake()) {
      await systemClock.sleep(left, signal)
      const found = stops.look().count
      if (found === count || graces++ === MOST_GRACES) continue
      count = found
      end = Math.max(end, systemClock.awake() + GRACE_MS)
    }
    // Timers come before what arrived with them: the exit of a child, an answer.
    await new Promise(setImmediate)
    signal?.throwIfAborted()
  },
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
