import { inputDigest } from '../lib/canonical-json.ts'
import { takePage } from '../lib/pages.ts'
import type { ApprovalView } from '../../schemas/approvals.ts'
import { type Approval, type Owner, ownerText } from '../contracts/approval-record.ts'
import type { Grant } from '../contracts/grant-record.ts'
import { DECIDED, decidedKey, decidedOfKey, decidedOfPrefix, type Op, type Store, taskApprovalKey } from '../store/index.ts'

/**
 * The record of decisions. A decision is kept for a year, longer than its item in the ledger, which is removed together with its run. The
 * record contains digests of inputs, not the inputs.
 */
export function createDecided ({ store, now }: { store: Store, now: () => number }) {
  const ops = (owner: Owner, record: ApprovalView): Op[] => [
    { type: 'put', key: decidedKey(record.approvalId), value: record },
    { type: 'put', key: decidedOfKey(store.digest(ownerText(owner)), record.approvalId), value: { at: record.decidedAt } }
  ]

  return {
    /** Returns the operations that record how an item ended; none while the item is open, and none for app calls. */
    kept (item: Approval): Op[] {
      if (item.kind === 'app' || item.state === 'pending') return []
      const { approvalId, runId, threadId, taskId, kind, createdAt, state, reason, device } = item
      const decidedAt = item.decidedAt ?? now()
      const record: ApprovalView = {
        ...{ approvalId, kind, runId, state, createdAt, decidedAt },
        ...(taskId === undefined ? { threadId } : { taskId }),
        reason,
        device,
        ...(item.kind === 'task' && { about: item.about, text: item.text, choices: item.choices, choice: item.choice }),
        ...(item.kind === 'tool' && {
          toolCallId: item.toolCallId,
          toolName: item.toolName,
          digest: item.digest,
          cwd: item.cwd,
          ...(item.correctedInput !== undefined && { correctedDigest: inputDigest(item.correctedInput) }),
          granted: item.granted,
          unbound: item.unbound
        })
      }
      return ops(item, record)
    },

    /** Returns the operations that record a grant that was given without a request, or removed. */
    keptGrant (grant: Grant, state: 'approved' | 'withdrawn'): Op[] {
      const { grantId, toolName, digest, scope, until, createdAt, threadId, taskId } = grant
      return ops(grant, {
        ...{ approvalId: grantId, kind: 'tool', toolName, digest, state, createdAt, decidedAt: now() },
        ...(taskId === undefined ? { threadId } : { taskId }),
        ...(scope !== 'file' && scope !== 'beside' && { granted: { scope, ...(until && { until }) } })
      })
    },

    /** Returns the operations that remove the decisions of a deleted conversation or task. */
    async removals (owner: Owner): Promise<Op[]> {
      const prefix = decidedOfPrefix(store.digest(ownerText(owner)))
      const removed: Op[] = []
      for await (const key of store.keys(prefix)) {
        const id = key.slice(prefix.length)
        // The choices about a task belong to no run: they stay in the ledger as long as the task.
        removed.push(...[key, decidedKey(id), ...owner.taskId === undefined ? [] : [taskApprovalKey(id)]].map((each): Op =>
          ({ type: 'del', key: each })))
      }
      return removed
    },

    /** Lists the decisions of the last year, the newest request first, one page at a time. */
    async list (
      { limit, cursor, kind }: { limit: number, cursor?: string, kind?: ApprovalView['kind'] }
    ): Promise<{ approvals: ApprovalView[], nextCursor?: string }> {
      const options = { reverse: true, damaged () {}, ...(cursor !== undefined && { after: decidedKey(cursor) }) }
      const { page: approvals, ...more } = await takePage(store.list<ApprovalView>(DECIDED, options), {
        limit,
        pick: ([, record]) => kind === undefined || record.kind === kind ? record : undefined,
        cursorOf: ([, { approvalId }]) => approvalId
      })
      return { approvals, ...more }
    }
  }
}
