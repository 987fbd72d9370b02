import { type Ledger } from '../../approvals/index.ts'
import {
  type Approval,
  type BudgetQuestion,
  type CallItem,
  findOfCall,
  ownerOf,
  type RefusedCall,
  type ToolItem,
  type WaitingCall
} from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import { isAllowed } from '../../usage/index.ts'
import type { CallEnd } from '../gate/call-end.ts'
import type { RunRecord } from '../run-record.ts'

type ToolApproval = Approval & ToolItem
export type RunItems = ReturnType<typeof createRunItems>

/** The items that an executing run has requested. */
export function createRunItems (stored: readonly Approval[]) {
  const items = new Map(stored.map((item) => [item.approvalId, item]))
  const approvals = () => [...items.values()].filter((item): item is ToolApproval => item.kind === 'tool')
  const isOfCall = (item: Approval): item is Approval & CallItem => item.kind !== 'result'
  const ofCall = (toolCallId: string) => findOfCall([...items.values()].filter(isOfCall), toolCallId)

  return {
    /** Returns the newest approval of the call and, if a person or the application answers the call, the item with the answer. */
    ofCall,

    /** Returns the longest time for which one of the calls waited for the person, milliseconds; 0 if the person was not asked. */
    waitedMs: (toolCallIds: readonly string[]): number =>
      Math.max(0, ...toolCallIds.flatMap((toolCallId) => {
        const { approval, answer } = ofCall(toolCallId)
        return [approval, answer].flatMap((item) => item === undefined || item.kind === 'app' || item.decidedAt === undefined
          ? []
          : [item.decidedAt - item.createdAt])
      })),

    /** Returns the budgets that the person was asked to raise, and whether the person has allowed it. */
    budgets: () => [...items.values()].flatMap((item) =>
      item.kind === 'question' && item.budget !== undefined ? [{ budget: item.budget, isAllowed: isAllowed(item.answers) }] : []),

    /** The calls that the person denied in this run. */
    refused: (): RefusedCall[] => approvals().filter(({ state }) => state === 'denied'),

    /**
     * Returns the approval of the call in the new state, for the caller to store; none if the call has no approval or has this state
     * already.
     */
    moved (toolCallId: string, state: 'executing' | CallEnd['state']): ToolApproval[] {
      const item = ofCall(toolCallId).approval as ToolApproval | undefined
      return item === undefined || item.state === state ? [] : [inState(item, state)]
    },

    /** Adds items that are on disk. */
    keep (written: readonly Approval[]) {
      for (const item of written) items.set(item.approvalId, item)
    }
  }
}

/**
 * Makes the ledger items for the calls that a run must ask about, without storing anything. `moved` are earlier approvals of these calls in
 * a new state: withdrawn if a new approval replaces them, `executing` if the application executes the call now.
 */
export function askItems (
  run: RunRecord,
  { asked, items: known }: { asked: ReadonlyArray<WaitingCall | BudgetQuestion>, items: RunItems },
  { ledger, ttlMs }: { ledger: Pick<Ledger, 'ask'>, ttlMs?: number }
): { items: Array<Approval & CallItem>, moved: Approval[] } {
  const { runId, segment } = run
  const items = ledger.ask(ownerOf(run), asked.map((call) => ({ ...call, runId, segment })), ttlMs)
  const approvalIds = new Map(items.map(({ toolCallId, approvalId }) => [toolCallId, approvalId]))
  for (const [at, call] of asked.entries()) {
    const item = items[at]
    if (call.kind === 'tool' && call.behind && item.kind === 'tool') item.behind = call.behind.flatMap((id) => approvalIds.get(id) ?? [])
  }
  const moved = items.flatMap((item): Approval[] => {
    const approval = item.toolCallId === undefined ? undefined : known.ofCall(item.toolCallId).approval
    if (approval?.state !== 'approved') return []
    return [item.kind === 'app' ? inState(approval, 'executing') : { ...inState(approval, 'withdrawn'), replacedBy: item.approvalId }]
  })
  return { items, moved }
}
