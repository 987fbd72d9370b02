import type { ApprovalView } from '../../schemas/agent.ts'
import type { Clock } from '../lib/clock.ts'
import { isId, newId } from '../lib/ids.ts'
import { PAGE_BYTES, jsonBytes } from '../http/pages.ts'
import { approvalKey, openApprovalKey } from '../store/keys.ts'
import type { Op, Store } from '../store/store-types.ts'
import { ApprovalDecided, ApprovalExpired, ApprovalNotFound, ApprovalWithdrawn, OtherConversation } from './approval-errors.ts'
import { APPROVAL_TTL_MS, inputDigest, type Approval } from './approval-record.ts'

export type Ledger = ReturnType<typeof createLedger>

/** A call that needs an approval, and its position. */
export type Question = Pick<
  Approval,
  'runId' | 'threadId' | 'toolCallId' | 'toolName' | 'input' | 'cwd' | 'folder' | 'note' | 'segment' | 'identity'
>

export interface Decision {
  approvalId: string
  approved: boolean
  reason?: string
}

const put = (approval: Approval): Op => ({ type: 'put', key: approvalKey(approval.approvalId), value: approval })
const close = (approval: Approval): Op => ({ type: 'del', key: openApprovalKey(approval.approvalId) })
const expire = (approval: Approval): Op[] => [put({ ...approval, state: 'expired' }), close(approval)]

/**
 * The one record of approvals. Only the ledger decides what was requested, what was approved and what has run: of a client's
 * messages only the approval id and the decision count. Methods that return operations leave the commit to the caller, so that
 * the caller can store other changes in the same transaction.
 */
export function createLedger ({ store, clock }: { store: Store, clock: Clock }) {
  /** Clients send the ids; a malformed id is never looked up. */
  const get = async (id: string) => isId(id) ? store.get<Approval>(approvalKey(id)) : undefined

  /** Throws ApprovalNotFound (404). */
  async function require (approvalId: string): Promise<Approval> {
    const approval = await get(approvalId)
    if (approval === undefined) throw new ApprovalNotFound(approvalId)
    return approval
  }

  /** Whether the time to answer has passed. An overdue approval counts as expired, even before that is stored. */
  const isOverdue = (approval: Approval) => approval.state === 'pending' && approval.expiresAt <= clock.now()

  return {
    /** Creates approvals and the operations that store them as `pending`. */
    ask (questions: Question[]): { approvals: Approval[], ops: Op[] } {
      const createdAt = clock.now()
      const approvals = questions.map((question): Approval => ({
        ...question,
        approvalId: newId(),
        digest: inputDigest(question.input),
        state: 'pending',
        createdAt,
        expiresAt: createdAt + APPROVAL_TTL_MS
      }))
      return {
        approvals,
        ops: approvals.flatMap((approval) => [put(approval), { type: 'put', key: openApprovalKey(approval.approvalId), value: {} }])
      }
    },

    require,

    /** Whether the approval can still be answered. */
    isOpen: (approval: Approval) => approval.state === 'pending' && !isOverdue(approval),

    find: get,

    /** Returns the approvals with these ids, without unknown ones. */
    async all (approvalIds: string[]): Promise<Approval[]> {
      return (await Promise.all(approvalIds.map(get))).filter((approval) => approval !== undefined)
    },

    /**
     * Selects the current decisions of a chat message, which also contains the decisions of earlier steps: the decisions on
     * pending approvals or, if none is pending, the decisions of the newest step, whose continuation is then subscribed to or replayed.
     */
    async currentApprovals (decisions: Decision[]): Promise<Decision[]> {
      const known = (await Promise.all(decisions.map(async (decision) => ({ decision, approval: await get(decision.approvalId) }))))
        .filter((entry): entry is { decision: Decision, approval: Approval } => entry.approval !== undefined)
      const open = known.filter(({ approval }) => approval.state === 'pending')
      const last = known.at(-1)?.approval
      const current = open.length > 0
        ? open
        : known.filter(({ approval }) => approval.runId === last?.runId && approval.segment === last.segment)
      return current.length > 0 ? current.map(({ decision }) => decision) : decisions
    },

    /**
     * Checks the decisions of one request and returns the approvals that they newly decide, without storing them. The first
     * decision on an approval is kept: the same decision again has no effect. Throws ApprovalNotFound (404), OtherConversation
     * (409), ApprovalDecided (409) for the opposite decision, ApprovalWithdrawn (409) or ApprovalExpired (410); then no decision
     * of the request takes effect.
     */
    async decide (decisions: Decision[], threadId?: string): Promise<{ approvals: Approval[], decided: Approval[] }> {
      const approvals = await Promise.all(decisions.map(({ approvalId }) => require(approvalId)))
      if (threadId !== undefined && approvals.some((approval) => approval.threadId !== threadId)) {
        throw new OtherConversation('The approval request belongs to another conversation than the "id" of the request.')
      }
      if (approvals.some(({ runId }) => runId !== approvals[0].runId)) {
        throw new OtherConversation('The answers belong to different conversations; send them one request each.')
      }
      const answers = new Map<string, boolean>()
      const decided: Approval[] = []
      for (const [at, approval] of approvals.entries()) {
        const { approvalId, approved, reason } = decisions[at]
        if (answers.has(approvalId) && answers.get(approvalId) !== approved) {
          throw new ApprovalDecided(approvalId, 'answered the other way in this request')
        }
        if (isOverdue(approval)) {
          await store.transact(expire(approval))
          throw new ApprovalExpired(approvalId)
        }
        if (approval.state === 'expired') throw new ApprovalExpired(approvalId)
        if (approval.state === 'withdrawn' && approval.replacedBy === undefined) throw new ApprovalWithdrawn(approvalId)
        if (approval.state !== 'pending') {
          if (approval.approved !== approved) throw new ApprovalDecided(approvalId, approval.approved ? 'approved' : 'denied')
        } else if (!answers.has(approvalId)) {
          decided.push({ ...approval, state: approved ? 'approved' : 'denied', approved, ...(reason && { reason }) })
        }
        answers.set(approvalId, approved)
      }
      return { approvals, decided }
    },

    /** Returns the operations that store decided approvals. */
    record: (decided: Approval[]): Op[] => decided.flatMap((approval) => [put(approval), close(approval)]),

    /** Returns the approval in its new state, and the operation that stores it. */
    move (approval: Approval, state: Approval['state']): { approval: Approval, op: Op } {
      const moved = { ...approval, state }
      return { approval: moved, op: put(moved) }
    },

    /** Returns the operations that store an overdue approval as expired, so that a clock set back cannot reopen it. */
    expire,

    /** Returns the operations that withdraw the open approvals of a run that a new message superseded. */
    withdraw: (approvals: Approval[]): Op[] =>
      approvals
        .filter(({ state }) => state === 'pending' || state === 'approved')
        .flatMap((approval) => [put({ ...approval, state: 'withdrawn' }), close(approval)]),

    /** Returns the operation that withdraws an approved request whose call did not run and that a new request replaces. */
    replace: (approval: Approval, replacedBy: string): Op => put({ ...approval, state: 'withdrawn', replacedBy }),

    /** Lists the open approvals, oldest first, one page at a time. */
    async list ({ limit, cursor }: { limit: number, cursor?: string }): Promise<{ approvals: ApprovalView[], nextCursor?: string }> {
      const approvals: ApprovalView[] = []
      let bytes = 0
      for await (const [key] of store.list(openApprovalKey(''), { after: cursor && openApprovalKey(cursor) })) {
        const approval = await get(key.slice(openApprovalKey('').length))
        if (approval === undefined || isOverdue(approval)) continue
        bytes += jsonBytes(approval)
        if (approvals.length === limit || (approvals.length > 0 && bytes > PAGE_BYTES)) {
          return { approvals, nextCursor: approvals.at(-1)!.approvalId }
        }
        const { segment, identity, folder, replacedBy, ...view } = approval
        approvals.push(view)
      }
      return { approvals }
    }
  }
}
