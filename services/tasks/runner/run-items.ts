import { inputDigest, type TaskApproval } from '../../approvals/approval-record.ts'
import { callApproval } from '../../approvals/call-approval.ts'
import { inState } from '../../approvals/approval-states.ts'
import type { Call, CallApproval } from '../../step/call-ports.ts'
import { OUTCOME_UNKNOWN } from '../../tools/tool-errors.ts'
import type { TaskLogEvent } from '../run-history.ts'

export type ToolCallItem = Extract<TaskApproval, { kind: 'tool' }>
export type RunItems = ReturnType<typeof createRunItems>

/** The approvals of the calls that a person denied or approved, by call, while the run executes. */
export function createRunItems (stored: readonly TaskApproval[]) {
  const items = new Map(stored.map((item) => [item.approvalId, item]))

  const tools = () => [...items.values()].filter((item) => item.kind === 'tool')
  /** The newest approval of the call. */
  const itemOf = (toolCallId: string): ToolCallItem | undefined =>
    tools().findLast((item) => item.toolCallId === toolCallId)

  return {
    all: (): TaskApproval[] => [...items.values()],
    itemOf,

    /** The approval of the call as its step sees it; undefined if none counts. */
    approvalOf (toolCallId: string): CallApproval | undefined {
      const item = itemOf(toolCallId)
      return item === undefined || item.state === 'withdrawn' ? undefined : callApproval(item, item.state === 'pending')
    },

    /** Whether a person denied the same call (same tool, same input) in this run. */
    wasDenied: ({ toolName, input }: Call): boolean =>
      tools().some((item) => item.state === 'denied' && item.toolName === toolName && item.digest === inputDigest(input)),

    /** An approval of a call that the person denied. The missing result is then not a failure of the run. */
    denied: (): ToolCallItem | undefined => tools().find(({ state }) => state === 'denied'),

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
