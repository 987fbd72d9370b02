import { inputDigest, type TaskApproval } from '../../approvals/approval-record.ts'
import { inState } from '../../approvals/approval-states.ts'
import { callApproval } from '../../approvals/call-approval.ts'
import type { Call, CallApproval, CallEnd } from '../../step/call-ports.ts'

type ToolApproval = Extract<TaskApproval, { kind: 'tool' }>
export type AttemptApprovals = ReturnType<typeof createAttemptApprovals>

/** The approvals of a run while it executes, by call. */
export function createAttemptApprovals (stored: readonly TaskApproval[]) {
  const items = new Map(stored.map((item) => [item.approvalId, item]))
  const ofCalls = () => [...items.values()].filter((item): item is ToolApproval => item.kind === 'tool')
  /** The newest approval of the call. */
  const itemOf = (toolCallId: string) => ofCalls().findLast((item) => item.toolCallId === toolCallId)

  return {
    itemOf,

    /** The approval of a call as its step sees it. */
    approvalOf (toolCallId: string): CallApproval | undefined {
      const item = itemOf(toolCallId)
      return item && callApproval(item, item.state === 'pending')
    },

    /** An approval that the person denied. The missing result is then not a failure of the run. */
    denied: () => ofCalls().find(({ state }) => state === 'denied'),

    /** Whether the person denied the same call (same tool, same input) in this run. */
    wasDenied ({ toolName, input }: Call): boolean {
      const denied = ofCalls().filter((item) => item.toolName === toolName && item.state === 'denied')
      return denied.length > 0 && denied.map(({ digest }) => digest).includes(inputDigest(input))
    },

    /** The segment of the run that ends with the next requests. */
    segment: () => Math.max(-1, ...[...items.values()].map(({ segment }) => segment)) + 1,

    /** Returns the approval of the call in its new state, to be stored; nothing if it has none or stays as it is. */
    moved (toolCallId: string, state: 'executing' | CallEnd['state']): ToolApproval[] {
      const item = itemOf(toolCallId)
      if (item === undefined || item.state === state) return []
      // Earlier versions stored no state while a call executed.
      return [inState(state === 'unknown' ? inState(item, 'executing') : item, state)]
    },

    /** Takes over approvals that are on disk. */
    keep (written: readonly TaskApproval[]) {
      for (const item of written) items.set(item.approvalId, item)
    }
  }
}
