/** The source of time for every service. Tests replace it. */
export interface Clock {
  /** Wall-clock time, integer milliseconds since the Unix epoch. */
  now(): number
  /** Monotonic milliseconds from an arbitrary start, for durations. */
  monotonic(): number
  /** As `monotonic`, without the time during which this process was stopped (SIGSTOP, a suspended machine). For timeouts. */
  awake(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * As `sleep`, for timeouts: resolves after `ms` of `awake` time, once pending I/O events were handled. After a stop of the
   * process the timeout leaves at least one second more, for unread data and for children that were stopped too.
   */
  timeout(ms: number, signal?: AbortSignal): Promise<void>
}

/** The longest delay of a Node timer; a longer one overflows to 1 ms (2^31 - 1). */
const LONGEST_TIMER_MS = 2_147_483_647
/** The minimum time between the end of a stop and the end of a timeout. */
const GRACE_MS = 1_000
/** The most extensions of one timeout, so that it ends even in a process that is stopped again and again. */
const MAX_GRACES = 10

/**
 * Intervals, in milliseconds, of the timer that detects stops: while a timeout is pending, and otherwise. Each tick wakes the processor.
 */
const TICK_MS = 1_000
const IDLE_TICK_MS = 60_000
/** How late the timer may be before the process counts as stopped: a busy event loop delays it too. */
const LATE_MS = 1_000

const stops = watchStops()

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  awake: () => performance.now() - stops.look().stoppedMs,
  async timeout (ms, signal) {
    const done = stops.watch()
    try {
      let end = systemClock.awake() + ms
      let { count } = stops.look()
      for (let remaining = ms, graces = 0; remaining > 0; remaining = end - systemClock.awake()) {
        await systemClock.sleep(remaining, signal)
        const found = stops.look().count
        if (found === count || graces++ === MAX_GRACES) continue
        count = found
        end = Math.max(end, systemClock.awake() + GRACE_MS)
      }
    } finally {
      done()
    }
    // Timers fire before the I/O events of the same turn, such as a child's exit or a response. Let those be handled first.
    await new Promise(setImmediate)
    signal?.throwIfAborted()
  },
  async sleep (ms, signal) {
    signal?.throwIfAborted()
    const end = performance.now() + ms
    for (let remaining = ms; remaining > 0; remaining = end - performance.now()) {
      await wait(Math.min(remaining, LONGEST_TIMER_MS), signal)
    }
  }
}

/** Like `setTimeout` of Node's promises, but without creating an error with a stack trace for each timer that is aborted, as most are. */
function wait (ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    timer.unref()
    signal?.addEventListener('abort', stop)
  })
}

/** Detects that the process was stopped for a while. The system sends no event for this, but timers fire late. */
function watchStops () {
  let count = 0
  let stoppedMs = 0
  let pending = 0
  let lastTickAt = performance.now()
  let everyMs = IDLE_TICK_MS
  let timer: NodeJS.Timeout | undefined

  function look () {
    const now = performance.now()
    const elapsedMs = now - lastTickAt
    lastTickAt = now
    if (timer !== undefined && elapsedMs > everyMs + LATE_MS) {
      count++
      stoppedMs += elapsedMs - everyMs
    }
    if (timer === undefined) tickEvery(IDLE_TICK_MS)
    return { count, stoppedMs }
  }

  function tickEvery (ms: number) {
    clearInterval(timer)
    everyMs = ms
    timer = setInterval(() => {
      look()
      if (pending === 0 && everyMs === TICK_MS) tickEvery(IDLE_TICK_MS)
    }, ms).unref()
  }

  return {
    /** Returns how many times, and for how many milliseconds in total, the process was stopped since the first call. */
    look,
    /** Detects also short stops until the returned function is called. */
    watch () {
      look()
      pending++
      if (everyMs !== TICK_MS) tickEvery(TICK_MS)
      return () => {
        pending--
      }
    }
  }
}
