import type { StreamEvent } from '../../schemas/events.ts'
import type { Clock } from '../lib/clock.ts'
import { approvalKey, type Op, OPEN_APPROVALS, type Store, taskApprovalKey } from '../store/index.ts'
import type { Approval } from '../contracts/approval-record.ts'
import type { ApprovalView } from '../../schemas/approvals.ts'

type Item =
  & Pick<Approval, 'approvalId' | 'kind' | 'runId' | 'threadId' | 'taskId'>
  & { toolCallId?: string, toolName?: string, expiresAt?: number }

/** Returns the item with this id as a transaction stores it; undefined if the transaction does not store it. */
export function storedIn (ops: readonly Op[], id: string): Approval | undefined {
  const op = ops.findLast((each) => each.type === 'put' && (each.key === approvalKey(id) || each.key === taskApprovalKey(id)))
  return op?.type === 'put' ? op.value as Approval : undefined
}

/**
 * Emits one event when an approval, a question or an app call opens, and one when it closes. The function observes the store's commits to
 * the index of open approvals, so no way of asking or deciding is missed, and each event is emitted after its change is on disk.
 */
export function announceApprovals ({ store, clock, emit }: { store: Store, clock: Clock, emit: (event: StreamEvent) => void }) {
  const open = new Map<string, Item>()

  function announce ({ kind, expiresAt, ...item }: Item, change: 'open' | 'closed', state: string) {
    const type = kind === 'app' ? `tool-call:${change}` as const : `approval:${change}` as const
    emit({ type, kind, ...item, state, at: clock.now() })
  }

  const itemOf = (approval: Approval): Item => {
    const { approvalId, kind, runId, threadId, taskId, expiresAt } = approval
    const call = 'toolCallId' in approval && approval.toolCallId !== undefined && { toolCallId: approval.toolCallId }
    const tool = 'toolName' in approval && { toolName: approval.toolName }
    const owner = taskId === undefined ? { threadId } : { taskId }
    return { approvalId, kind, ...owner, runId, ...call, ...tool, expiresAt }
  }

  store.onCommit((ops) => {
    for (const op of ops) {
      if (!op.key.startsWith(OPEN_APPROVALS)) continue
      const id = op.key.slice(OPEN_APPROVALS.length)
      const approval = storedIn(ops, id)
      const known = open.get(id)
      if (op.type === 'del' && known !== undefined) {
        open.delete(id)
        announce(known, 'closed', approval?.state ?? ((known.expiresAt ?? Infinity) <= clock.now() ? 'expired' : 'withdrawn'))
      } else if (op.type === 'put' && known === undefined && approval !== undefined) {
        const item = itemOf(approval)
        open.set(id, item)
        announce(item, 'open', approval.state)
      }
    }
  })

  return {
    /** Returns the ids of the items that a run waits for. */
    openOf: (runId: string): string[] => [...open.values()].filter((item) => item.runId === runId).map(({ approvalId }) => approvalId),

    /** Adds the approvals that were opened before the service started, so that their closing is reported, too. */
    async load (items: AsyncIterable<Approval>) {
      for await (const item of items) open.set(item.approvalId, itemOf(item))
    }
  }
}

/**
 * Returns a function that takes the list of tool servers that wait to be accepted. Each call emits an event for every server that was added
 * to the list or removed from it since the call before.
 */
export function announceServers ({ clock, emit }: { clock: Clock, emit: (event: StreamEvent) => void }) {
  let open = new Map<string, ApprovalView>()
  return (items: ApprovalView[]) => {
    const now = new Map(items.map((item) => [item.approvalId, item]))
    const tell = (type: 'approval:open' | 'approval:closed', approvalId: string, state: string) =>
      emit({ type, kind: 'server', approvalId, state, at: clock.now() })
    for (const id of open.keys()) if (!now.has(id)) tell('approval:closed', id, 'withdrawn')
    for (const id of now.keys()) if (!open.has(id)) tell('approval:open', id, 'pending')
    open = now
  }
}
