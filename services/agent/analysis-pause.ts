import type { Clock } from '../lib/clock.ts'

/** The number of failures in a row after which the analysis pauses. */
const MOST_FAILURES = 2
/** The duration of a pause, milliseconds. */
const PAUSE_MS = 10 * 60 * 1000

/**
 * Pauses the analysis while its model does not work, so that runs do not wait for it each time. After a pause, one more failure
 * begins the next pause and a success ends the row. `setup` returns what the analysis depends on (its model, the configuration,
 * the keys); when a value of it has changed, the count starts anew.
 */
export function createAnalysisPause ({ clock, setup }: { clock: Pick<Clock, 'monotonic'>, setup: () => readonly unknown[] }) {
  let seen: readonly unknown[] = []
  let failures = 0
  let until = 0

  function startAnewIfChanged () {
    const now = setup()
    if (now.every((value, at) => value === seen[at])) return
    seen = now
    failures = 0
    until = 0
  }

  return {
    isOn () {
      startAnewIfChanged()
      return clock.monotonic() < until
    },
    record ({ hasFailed }: { hasFailed: boolean }) {
      startAnewIfChanged()
      failures = hasFailed ? failures + 1 : 0
      if (failures >= MOST_FAILURES) until = clock.monotonic() + PAUSE_MS
    }
  }
}
