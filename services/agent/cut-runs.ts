import type { Clock } from '../lib/clock.ts'
import { MAX_CRASHES, type ThreadRun } from '../runs/index.ts'

/** How long after a start a run goes on whose reader comes back, milliseconds. */
const RETURN_MS = 60_000

export type CutRuns = ReturnType<typeof createCutRuns>

/**
 * The runs that were cut by a kill of the service, from its next start on. They have ended as `interrupted`; one whose reader comes back in
 * time goes on. Nothing is done for a run that nobody reads.
 */
export function createCutRuns (clock: Pick<Clock, 'monotonic'>) {
  const cut = new Set<string>()
  let until = -Infinity

  return {
    /** Notes a run that was cut, unless its readers cannot come back or it was cut too often. */
    add ({ runId, sheet, isOneOff, crashes = 0 }: ThreadRun): void {
      if (sheet !== undefined || isOneOff || crashes + 1 >= MAX_CRASHES) return
      until = clock.monotonic() + RETURN_MS
      cut.add(runId)
    },
    has: (runId: string): boolean => clock.monotonic() < until && cut.has(runId),
    remove: (runId: string): void => void cut.delete(runId)
  }
}
