import type { Clock } from '../lib/clock.ts'
import { MAX_CRASHES, type ThreadRun } from '../runs/index.ts'

/** How long after a start of the service a cut run continues if its reader reconnects, milliseconds. */
const RETURN_MS = 60_000

export type CutRuns = ReturnType<typeof createCutRuns>

/**
 * The runs that were found cut at this start, because the service was killed while they executed. They have ended as `interrupted`. If the
 * reader of such a run reconnects in time, the run continues. A run that nobody reads is left alone.
 */
export function createCutRuns (clock: Pick<Clock, 'monotonic'>) {
  const cut = new Set<string>()
  let until = -Infinity

  return {
    /** Records a cut run, unless its reader cannot reconnect or the run was cut too often. */
    add ({ runId, sheet, isOneOff, crashes = 0 }: ThreadRun): void {
      if (sheet !== undefined || isOneOff || crashes + 1 >= MAX_CRASHES) return
      until = clock.monotonic() + RETURN_MS
      cut.add(runId)
    },
    has: (runId: string): boolean => clock.monotonic() < until && cut.has(runId),
    remove: (runId: string): void => void cut.delete(runId)
  }
}
