import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Clock } from '../lib/clock.ts'

/** The shortest time between two reports of a call, milliseconds. */
const SHORTEST_MS = 500
/** The share of the call's duration between two reports: an hour-long call makes about 300 of them. */
const SHARE = 0.02
const LONGEST_MESSAGE = 500

/**
 * Creates a function that takes the progress of one call, as often as it comes, and passes on the newest at bounded intervals, until the
 * signal aborts.
 */
export function createCallProgress ({ clock, signal, report }: {
  clock: Clock,
  signal: AbortSignal,
  report: (progress: ToolProgress) => void
}) {
  const began = clock.awake()
  let newest: ToolProgress | undefined
  let next = began
  let isWaiting = false

  function pass () {
    if (newest === undefined) return
    const { message, progress, total } = newest
    newest = undefined
    const now = clock.awake()
    next = now + Math.max(SHORTEST_MS, (now - began) * SHARE)
    report({
      progress,
      ...total !== undefined && { total },
      ...message !== undefined && { message: message.slice(0, LONGEST_MESSAGE).toWellFormed() }
    })
  }

  return (progress: ToolProgress): void => {
    if (signal.aborted) return
    newest = progress
    const wait = next - clock.awake()
    if (wait <= 0) pass()
    else if (!isWaiting) {
      isWaiting = true
      clock.sleep(wait, signal).then(() => {
        isWaiting = false
        pass()
      }, () => {})
    }
  }
}
