import { callAnswer, callApproval, findOfCall, inputDigest } from '../../approvals/index.ts'
import type { Approval, CallItem, ToolItem } from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import type { CallEnd } from './call-ports.ts'
import type { Call, CallAnswer, CallApproval } from '../../contracts/call.ts'

type ToolApproval = Approval & ToolItem
export type RunItems = ReturnType<typeof createRunItems>

/** What a run has asked, while it executes, by call. `isOpen` says whether an item can still be answered. */
export function createRunItems (stored: readonly Approval[], isOpen: (item: Approval) => boolean) {
  const items = new Map(stored.map((item) => [item.approvalId, item]))
  const approvals = () => [...items.values()].filter((item): item is ToolApproval => item.kind === 'tool')
  const isOfCall = (item: Approval): item is Approval & CallItem => item.kind !== 'result'
  const ofCall = (toolCallId: string) => findOfCall([...items.values()].filter(isOfCall), toolCallId)

  return {
    all: (): readonly Approval[] => [...items.values()],

    /** The newest approval of the call, and what answers the call in its tool's place. */
    ofCall,

    /** The approval of a call as its step sees it. */
    approvalOf (toolCallId: string): CallApproval | undefined {
      const { approval } = ofCall(toolCallId)
      return approval && callApproval(approval, isOpen(approval))
    },

    /** What answers the call in its tool's place, as its step sees it. */
    answerOf (toolCallId: string): CallAnswer | undefined {
      const { answer } = ofCall(toolCallId)
      return answer && callAnswer(answer, isOpen(answer))
    },

    /** An approval that the person denied. The missing result is then not a failure of the run. */
    denied: () => approvals().find(({ state }) => state === 'denied'),

    /** Whether the person denied the same call (same tool, same input) in this run. */
    wasDenied ({ toolName, input }: Call): boolean {
      const denied = approvals().filter((item) => item.toolName === toolName && item.state === 'denied')
      return denied.length > 0 && denied.map(({ digest }) => digest).includes(inputDigest(input))
    },

    /** Returns the approval of the call in its new state, to be stored; nothing if it has none or stays as it is. */
    moved (toolCallId: string, state: 'executing' | CallEnd['state']): ToolApproval[] {
      const item = ofCall(toolCallId).approval as ToolApproval | undefined
      return item === undefined || item.state === state ? [] : [inState(item, state)]
    },

    /** Takes over items that are on disk. */
    keep (written: readonly Approval[]) {
      for (const item of written) items.set(item.approvalId, item)
    }
  }
}
