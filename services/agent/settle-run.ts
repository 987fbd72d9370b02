import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import type { ActiveRun } from '../runs/index.ts'

/** The time in which a run may end before a new request of its conversation is refused, milliseconds. */
const ENDING_MS = 2_000

/**
 * Waits for a run that is about to end, before a new request of its conversation. A client that has just stopped a run by closing its
 * stream may send that request before the service hears of the close, so a run that ends with its readers is waited for, too.
 */
export async function settleRun (live: ActiveRun | undefined, clock: Clock): Promise<void> {
  if (live === undefined) return
  if (!live.signal.aborted && (live.isEnding || !live.resumable)) {
    await settlesWithin({ clock, ms: ENDING_MS }, Promise.race([live.done, live.aborted]))
  }
  if (live.signal.aborted) await live.done
}
