import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/**
 * Repeats background work until the signal aborts. A round resolves to the pause before the next one, in milliseconds. A round that fails
 * is logged with the message `failure`, and the pause is `retryMs`.
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
