import type { Clock } from '../lib/clock.ts'

/** The number of failures in a row after which the analysis pauses. */
const MOST_FAILURES = 2
/** The duration of a pause, milliseconds. */
const PAUSE_MS = 10 * 60 * 1000
/** The number of failing models that are remembered, the newest ones. */
const MOST_MODELS = 100

/**
 * Pauses the analysis while its model does not work, so that runs do not wait for it each time. After a pause, one more failure
 * begins the next pause and a success ends the row. `setup` returns what all models depend on (the configuration, the keys); when a
 * value of it has changed, every count starts anew.
 */
export function createAnalysisPauses ({ clock, setup }: { clock: Pick<Clock, 'monotonic'>, setup: () => readonly unknown[] }) {
  /** The models whose latest analysis failed. */
  const failing = new Map<string, { failures: number, until: number }>()
  let seen: readonly unknown[] = []

  function startAnewIfChanged () {
    const now = setup()
    if (now.every((value, at) => value === seen[at])) return
    seen = now
    failing.clear()
  }

  return {
    /** Whether the analysis by that model pauses now. */
    has (model: string): boolean {
      startAnewIfChanged()
      return clock.monotonic() < (failing.get(model)?.until ?? 0)
    },
    record (model: string, { hasFailed }: { hasFailed: boolean }) {
      startAnewIfChanged()
      const { failures = 0 } = failing.get(model) ?? {}
      failing.delete(model)
      if (!hasFailed) return
      const until = failures + 1 >= MOST_FAILURES ? clock.monotonic() + PAUSE_MS : 0
      failing.set(model, { failures: failures + 1, until })
      if (failing.size > MOST_MODELS) failing.delete(failing.keys().next().value!)
    }
  }
}
