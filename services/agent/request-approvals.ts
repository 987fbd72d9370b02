import type { ThreadApproval } from '../approvals/approval-record.ts'
import { boundTo } from '../approvals/approved-folder.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import type { AskedCall } from '../step/call-ports.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment } from './answer-record.ts'
import type { RunAttempt } from './run-attempt.ts'

/** Returns the event of an approval request. */
export const requestEvent = ({ approvalId, toolCallId, toolName, input, cwd, note, scopes }: ThreadApproval): RunEvent => ({
  type: 'approval-request',
  approvalId,
  toolCallId,
  toolName,
  input,
  cwd,
  ...(note !== undefined && { reason: note }),
  ...(scopes && { scopes })
})

/**
 * Requests approvals of calls: stores the requests before any reader sees them, ends the segment and, with `stepFinish`, its step, and
 * leaves the run waiting. A new request replaces the one of `decided` for the same call; the other approvals keep their state.
 */
export async function requestApprovals (
  calls: AskedCall[],
  decided: ThreadApproval[],
  stepFinish: RunEvent | undefined,
  { live, conversation, activeMs }: RunAttempt,
  deps: AgentDeps
) {
  const { ledger, conversations } = deps
  const { run } = live
  const { runId, threadId, segment, usage, unheard = [] } = run.head
  const { approvals, ops } = ledger.ask(
    calls.map(({ toolCallId, toolName, input, folder, identity, reason: note, scopes, places }) => ({
      ...{ runId, threadId, segment, toolCallId, toolName, input, identity, scopes, places },
      ...boundTo(folder),
      ...(note !== undefined && { note })
    }))
  )
  const newIdOf = ({ toolCallId }: ThreadApproval) => approvals.find((approval) => approval.toolCallId === toolCallId)?.approvalId
  const replaced = decided.filter(newIdOf)
  const ofStep = replaced.length > 0 ? decided : approvals
  run.head = {
    ...run.head,
    activeMs: activeMs(),
    asked: ofStep.map((approval) => newIdOf(approval) ?? approval.approvalId),
    unheard: [...unheard, ...live.endSteering()]
  }
  await endSegment(run, deps, {
    finalEvents: [
      ...approvals.map(requestEvent),
      ...stepFinish ? [stepFinish] : [],
      { type: 'finish', finishReason: 'tool-calls', usage: { ...usage } }
    ],
    ops: [...ops, ...replaced.map((approval) => ledger.replace(approval, newIdOf(approval)!)), conversations.asked(conversation, runId)]
  })
}
