import { inputDigest } from '../../approvals/input-digest.ts'
import { isUnanswered, type TaskItem } from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import { callAnswer, callApproval, findOfCall } from '../../approvals/call-approval.ts'
import type { Call, CallAnswer, CallApproval } from '../../contracts/call.ts'
import type { CallEnd } from '../../step/call-ports.ts'

type ToolApproval = Extract<TaskItem, { kind: 'tool' }>
export type AttemptApprovals = ReturnType<typeof createAttemptApprovals>

/** What a run waited for, while it executes, by call. */
export function createAttemptApprovals (stored: readonly TaskItem[]) {
  const items = new Map(stored.map((item) => [item.approvalId, item]))
  const approvals = () => [...items.values()].filter((item): item is ToolApproval => item.kind === 'tool')
  const ofCall = (toolCallId: string) => findOfCall([...items.values()].filter((item) => item.kind !== 'result'), toolCallId)
  /** The newest approval of the call. */
  const itemOf = (toolCallId: string) => ofCall(toolCallId).approval

  return {
    itemOf,

    /** The approval of a call as its step sees it. */
    approvalOf (toolCallId: string): CallApproval | undefined {
      const item = itemOf(toolCallId)
      return item && callApproval(item, item.state === 'pending')
    },

    /** What answers the call in its tool's place, as its step sees it. What is overdue is closed before the run goes on. */
    answerOf (toolCallId: string): CallAnswer | undefined {
      const { answer } = ofCall(toolCallId)
      return answer && callAnswer(answer, isUnanswered(answer))
    },

    /** An approval that the person denied. The missing result is then not a failure of the run. */
    denied: () => approvals().find(({ state }) => state === 'denied'),

    /** Whether the person denied the same call (same tool, same input) in this run. */
    wasDenied ({ toolName, input }: Call): boolean {
      const denied = approvals().filter((item) => item.toolName === toolName && item.state === 'denied')
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
    keep (written: readonly TaskItem[]) {
      for (const item of written) items.set(item.approvalId, item)
    }
  }
}
