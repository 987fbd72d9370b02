/** Interval of the timer that detects stops. */
const TICK_MS = 1_000
/** How late the timer may be before the process counts as stopped: a busy event loop delays it too. */
const LATE_MS = 1_000

/** Detects that the process was stopped for a while. The system sends no event for this, but timers fire late. */
export function watchStops () {
  let count = 0
  let stoppedMs = 0
  let lastTickAt = performance.now()
  let isTicking = false

  function look () {
    const now = performance.now()
    const elapsedMs = now - lastTickAt
    lastTickAt = now
    if (isTicking && elapsedMs > TICK_MS + LATE_MS) {
      count++
      stoppedMs += elapsedMs - TICK_MS
    }
    if (!isTicking) {
      isTicking = true
      setInterval(look, TICK_MS).unref()
    }
    return { count, stoppedMs }
  }

  return {
    /** Returns how many times, and for how many milliseconds in total, the process was stopped since the first call. */
    look
  }
}
