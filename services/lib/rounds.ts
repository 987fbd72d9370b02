import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/**
 * Repeats background work until the signal aborts. A round resolves to the pause after it; one that fails is logged as `failure`, and
 * `retryMs` is its pause. Milliseconds.
 */
export async function repeatRounds (
  round: (signal: AbortSignal) => Promise<number>,
  { clock, log, signal, failure, retryMs }: { clock: Clock, log: Pick<Log, 'warn'>, signal: AbortSignal, failure: string, retryMs: number }
): Promise<void> {
  while (!signal.aborted) {
    const pause = await round(signal).catch((error) => {
      if (!signal.aborted) log.warn({ err: error }, failure)
      return retryMs
    })
    // At least 1 ms, so that other work has its turn.
    await clock.sleep(Math.max(pause, 1), signal).catch(() => {})
  }
}
