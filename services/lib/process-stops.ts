/** How often the process gives a sign of life to itself, */
const TICK_MS = 1_000
/** and how late that may be before it counts as having been stopped: a busy event loop is late, too. */
const LATE_MS = 1_000

/** Notices when the process did not run for a while: nothing tells it so, but its timers are late. */
export function watchStops () {
  let count = 0
  let stoppedMs = 0
  let seenAt = performance.now()
  let isTicking = false

  function look () {
    const now = performance.now()
    const silentMs = now - seenAt
    seenAt = now
    if (isTicking && silentMs > TICK_MS + LATE_MS) {
      count++
      stoppedMs += silentMs - TICK_MS
    }
    if (!isTicking) {
      isTicking = true
      setInterval(look, TICK_MS).unref()
    }
    return { count, stoppedMs }
  }

  return {
    /** How often, and how long in all, the process was stopped since this was first asked. */
    look
  }
}
