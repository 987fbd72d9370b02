import type { TaskApproval } from '../../approvals/approval-record.ts'
import { inState } from '../../approvals/approval-states.ts'
import { OUTCOME_UNKNOWN } from '../../tools/tool-errors.ts'
import type { TaskLogEvent } from '../run-history.ts'

export type ToolCallItem = Extract<TaskApproval, { kind: 'tool' }>
export type RunItems = ReturnType<typeof createRunItems>

/** The approvals of the calls that a person denied or approved, by call, while the run executes. */
export function createRunItems (stored: readonly TaskApproval[]) {
  const items = new Map(stored.map((item) => [item.approvalId, item]))

  /** The newest approval of the call. */
  const itemOf = (toolCallId: string): ToolCallItem | undefined =>
    [...items.values()].findLast((item): item is ToolCallItem => item.kind === 'tool' && item.toolCallId === toolCallId)

  return {
    all: (): TaskApproval[] => [...items.values()],
    itemOf,

    /** An approval of a call that the person denied. The missing result is then not a failure of the run. */
    denied: (): ToolCallItem | undefined =>
      [...items.values()].find((item): item is ToolCallItem => item.kind === 'tool' && item.state === 'denied'),

    /** Returns the approved calls in the states that these events bring them to; they are to be stored with the events. */
    moved (fresh: readonly TaskLogEvent[]): ToolCallItem[] {
      const moved = new Map<string, ToolCallItem>()
      for (const event of fresh) {
        if (event.type !== 'tool-intent' && event.type !== 'tool-output' && event.type !== 'tool-error') continue
        const item = moved.get(event.toolCallId) ?? itemOf(event.toolCallId)
        if (item?.state !== 'approved' && item?.state !== 'executing') continue
        const isUnknown = event.type === 'tool-error' && event.errorText === OUTCOME_UNKNOWN
        // Earlier versions stored no state while a call executed.
        if (event.type === 'tool-intent' || isUnknown) moved.set(event.toolCallId, inState(item, 'executing'))
        if (event.type !== 'tool-intent') moved.set(event.toolCallId, inState(moved.get(event.toolCallId) ?? item, isUnknown ? 'unknown' : 'done'))
      }
      return [...moved.values()]
    },

    /** Takes over approvals that are on disk. */
    keep (written: readonly TaskApproval[]) {
      for (const item of written) items.set(item.approvalId, item)
    }
  }
}
