import type { Approval, CallItem, QuestionItem } from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import { itemOfCall, type Ledger } from '../../approvals/index.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { isAppIdentity } from '../../tools/index.ts'
import { ownerOf, type RunRecord } from '../run-record.ts'
import type { AskedCall } from '../../contracts/call.ts'
import type { RunItems } from './run-items.ts'

const APP = { app: true as const }

/** The fields of questions that readers of the run get. */
export const questionFields = ({ approvalId, toolCallId, questions, live, server, url, expiresAt }: QuestionItem) => ({
  approvalId,
  ...(toolCallId !== undefined && { toolCallId }),
  questions,
  ...(live && { live }),
  ...(server !== undefined && { server }),
  ...(url !== undefined && { url }),
  expiresAt
})

/** Returns the event that tells readers of an item that waits. */
export function requestEvent (item: CallItem): RunEvent {
  switch (item.kind) {
    case 'tool': {
      const { approvalId, toolCallId, toolName, input, cwd, note, scopes, expiresAt } = item
      const more = { ...(note !== undefined && { reason: note }), ...(scopes && { scopes }), ...(isAppIdentity(item.identity) && APP) }
      return { type: 'approval-request', approvalId, toolCallId, toolName, input, cwd, ...more, expiresAt }
    }
    case 'question':
      return { type: 'question-request', ...questionFields(item) }
    case 'app': {
      const { toolCallId, toolName, input, expiresAt } = item
      return { type: 'tool-call-request', toolCallId, toolName, input, expiresAt }
    }
  }
}

/**
 * Makes the ledger's items of the calls that a run must ask for. A new approval replaces the one of the same call; an approved call that
 * the application now executes is `executing`. `moved` are those earlier items in their new state; nothing is stored here.
 */
export function askItems (
  run: RunRecord,
  { asked, items: known }: { asked: readonly AskedCall[], items: RunItems },
  { ledger, ttlMs }: { ledger: Pick<Ledger, 'ask'>, ttlMs?: number }
): { items: Array<Approval & CallItem>, moved: Approval[] } {
  const { runId, segment } = run
  const { items } = ledger.ask(ownerOf(run), asked.map((call) => itemOfCall(call, { runId, segment })), ttlMs)
  const moved = items.flatMap((item): Approval[] => {
    const approval = item.toolCallId === undefined ? undefined : known.ofCall(item.toolCallId).approval
    if (approval?.state !== 'approved') return []
    return [item.kind === 'app' ? inState(approval, 'executing') : { ...inState(approval, 'withdrawn'), replacedBy: item.approvalId }]
  })
  return { items, moved }
}
