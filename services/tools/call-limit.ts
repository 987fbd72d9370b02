import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Tool, ToolContext, ToolOutput } from '../contracts/tool.ts'
import { OUTCOME_NOT_KNOWN } from '../contracts/model-texts.ts'

/** The time limit of a call in milliseconds, for tools without their own. */
const LIMIT_MS = 60_000
/** The longest duration of a call in milliseconds, even if progress keeps restarting its time limit. */
const LONGEST_MS = 3_600_000
/** The time that a tool has to settle after its signal aborted, in milliseconds. */
const SETTLE_MS = 5000

interface Parts {
  clock: Clock
  signal: AbortSignal
  report: (progress: ToolProgress) => void
}

/**
 * Runs a call until it settles. After the time limit, or an abort of the caller's signal, the tool has SETTLE_MS more to clean up. Progress
 * restarts the time limit, within LONGEST_MS.
 */
export async function withCallLimit (
  { model: { name }, policy: { effect, timeLimitMs: ms = LIMIT_MS } }: Tool,
  { clock, signal, report }: Parts,
  work: (context: Required<Pick<ToolContext, 'signal' | 'waitForUser' | 'progress'>>) => Promise<ToolOutput>
): Promise<ToolOutput> {
  const ended = new AbortController()
  const show = createCallProgress({ clock, signal: ended.signal, report })
  const until = clock.awake() + LONGEST_MS - ms
  let hasProgress = false
  const message = () =>
    `${name} ${hasProgress ? 'made no progress for' : 'took longer than'} ${ms} ms and was stopped.` +
    (effect === 'read' ? '' : ` ${OUTCOME_NOT_KNOWN}`)
  try {
    return await withDeadline({ clock, ms, signal, message, settleMs: SETTLE_MS }, (stop, renew, waitForUser) => {
      const progress = (value: ToolProgress) => {
        hasProgress = true
        if (clock.awake() < until) renew()
        show(value)
      }
      return work({ signal: stop, waitForUser, progress })
    })
  } finally {
    ended.abort('ended')
  }
}

/** The shortest time between two progress reports of a call, in milliseconds. */
const SHORTEST_MS = 500
/** The time between two reports, as a share of the call's duration so far: an hour-long call makes about 300 reports. */
const SHARE = 0.02
const LONGEST_MESSAGE = 500

/**
 * Creates a function that receives every progress report of one call, and passes on only the newest, at intervals, until the signal aborts.
 */
function createCallProgress ({ clock, signal, report }: {
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
    report({ progress, total, message: message?.slice(0, LONGEST_MESSAGE).toWellFormed() })
  }

  function passInTime () {
    const wait = next - clock.awake()
    if (wait < 1) return pass()
    if (isWaiting) return
    isWaiting = true
    clock.sleep(wait, signal).then(() => {
      isWaiting = false
      // Another report might have been passed on meanwhile, so the time is checked again.
      passInTime()
    }, () => {})
  }

  return (progress: ToolProgress): void => {
    if (signal.aborted) return
    newest = progress
    passInTime()
  }
}
