import type { ThreadApproval } from '../approvals/approval-record.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { boundTo, type MovedCall } from '../approvals/approved-folder.ts'
import { askedAgain } from '../tools/work-folder.ts'
import type { RunAttempt } from '../step/settle-calls.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment } from './answer-record.ts'

/** Returns the event of an approval request. */
export const requestEvent = ({ approvalId, toolCallId, toolName, input, cwd, note }: ThreadApproval): RunEvent => ({
  type: 'approval-request',
  approvalId,
  toolCallId,
  toolName,
  input,
  cwd,
  ...(note !== undefined && { reason: note })
})

/**
 * Replaces approvals whose working folder has changed by new requests, in one transaction, and ends the segment. `asked` are
 * all approvals of the step; the other approvals keep their state.
 */
export async function requestAgain (asked: ThreadApproval[], moved: MovedCall[], { live }: RunAttempt, deps: AgentDeps) {
  const { run } = live
  const { approvals, ops } = deps.ledger.ask(moved.map(({ approval, to }) => {
    const { runId, threadId, toolCallId, toolName, input, cwd } = approval
    const note = askedAgain(cwd, to)
    const identity = deps.host.identity(toolName)
    return { runId, threadId, toolCallId, toolName, input, ...boundTo(to), note, identity, segment: run.head.segment }
  }))
  const replacement = new Map(moved.map(({ approval }, n) => [approval.approvalId, approvals[n].approvalId]))
  const { unheard = [] } = run.head
  run.head = {
    ...run.head,
    asked: asked.map(({ approvalId }) => replacement.get(approvalId) ?? approvalId),
    unheard: [...unheard, ...live.endSteering()]
  }
  await endSegment(run, deps, {
    finalEvents: [...approvals.map(requestEvent), { type: 'finish', finishReason: 'tool-calls', usage: run.head.usage }],
    ops: [...ops, ...moved.map(({ approval }) => deps.ledger.replace(approval, replacement.get(approval.approvalId)!))]
  })
}
