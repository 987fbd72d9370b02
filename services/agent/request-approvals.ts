import { askItems, type ExecutedRun, requestEvent } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment } from './answer-record.ts'
import type { ConversationAttempt } from './conversation-attempt.ts'

/**
 * Lets the run wait for calls: stores their items before any reader sees them, ends the segment and its step, and leaves the run waiting.
 */
export async function requestApprovals (executed: ExecutedRun, { live, conversation, activeMs }: ConversationAttempt, deps: AgentDeps) {
  const { ledger, conversations } = deps
  const { run } = live
  const { runId, usage, asked } = run.record
  const { items, moved } = askItems(run.record, executed, { ledger })
  const { stepFinish } = executed
  run.record = { ...run.record, activeMs: activeMs(), asked: [...asked, ...items.map(({ approvalId }) => approvalId)] }
  await endSegment(run, deps, {
    finalEvents: [
      ...items.map(requestEvent),
      ...stepFinish ? [stepFinish] : [],
      { type: 'finish', finishReason: 'tool-calls', usage: { ...usage } }
    ],
    ops: [...ledger.record([...items, ...moved]), conversations.asked(conversation, runId)]
  })
}
