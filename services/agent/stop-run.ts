import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { type ActiveRun, isOver } from '../runs/index.ts'
import type { LiveRun } from '../../schemas/agent.ts'
import { Aborted } from '../lib/abort.ts'
import { defineError } from '../lib/service-error.ts'
import type { ConversationState } from './conversation-state.ts'
import type { RunCollaborators } from './launch-run.ts'

export const NothingToStop = defineError('ERR_NO_LIVE_RUN', 'No run is under way here, so there is nothing to stop.')

/** How long a run may take to end before a new request of its conversation is refused, milliseconds. */
const ENDING_MS = 2_000

/**
 * Waits for a run that is about to end, before a new request of its conversation is handled. A client that stops a run by closing its
 * stream might send the new request before the service notices the close. So a run that would end when its readers leave is awaited, too.
 */
export async function settleRun (live: ActiveRun | undefined, clock: Clock): Promise<void> {
  if (live === undefined) return
  if (!live.signal.aborted && (live.isEnding || !live.resumable)) {
    await settlesWithin({ clock, ms: ENDING_MS }, Promise.race([live.done, live.aborted]))
  }
  if (live.signal.aborted) await live.done
}

/** The conversation of a run and, if the request names it, the run; without `runId` the only run of the conversation. */
export interface RunPlace {
  threadId: string
  runId?: string
}

/** Stops the run of a conversation, whether it executes or waits. */
export function createStopRun (
  { deps: { runs, conversations }, activeRuns, locked }: RunCollaborators,
  supersedePendingRun: (conversation: ConversationState, how: { isStopped: true }) => Promise<unknown>
) {
  /** Ends a waiting run and withdraws its items. Returns the id of the run; undefined if no run waits. */
  async function stopWaiting ({ threadId, runId }: RunPlace): Promise<string | undefined> {
    const conversation = await conversations.get(threadId)
    const waiting = conversation.runId
    if (waiting === undefined || (runId ?? waiting) !== waiting) return undefined
    const record = await runs.get(waiting)
    if (record === undefined || isOver(record)) return undefined
    await supersedePendingRun(conversation, { isStopped: true })
    return waiting
  }

  /**
   * Resolves when the run has ended. No answer can resume the run meanwhile. With `keepsWaiting` a waiting run stays as it is, even if the
   * run began to wait before it noticed the stop. Throws NothingToStop (404).
   */
  return (place: RunPlace, { keepsWaiting = false } = {}): Promise<LiveRun> =>
    locked(place.threadId, async () => {
      const live = await activeRuns.current(place.threadId, place.runId)
      if (live === undefined) {
        const stopped = keepsWaiting ? undefined : await stopWaiting(place)
        if (stopped === undefined) throw new NothingToStop()
        return { ok: true, threadId: place.threadId, runId: stopped }
      }
      live.abort(new Aborted('stop', 'The user stopped the run.'))
      await live.done
      const { runId } = live.run.record
      // The run might have begun to wait before it noticed the stop.
      if (!keepsWaiting) await stopWaiting({ ...place, runId })
      return { ok: true, threadId: place.threadId, runId }
    })
}
