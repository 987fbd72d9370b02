import type { ApprovalView } from '../../schemas/agent.ts'
import type { Clock } from '../lib/clock.ts'
import { isId, newId } from '../lib/ids.ts'
import { PAGE_BYTES, jsonBytes } from '../http/pages.ts'
import type { Op, Store } from '../store/store-types.ts'
import { ApprovalDecided, ApprovalExpired, ApprovalNotFound, ApprovalWithdrawn, OtherConversation } from './approval-errors.ts'
import { APPROVAL_TTL_MS, approvalKey, inputDigest, openKey, type Approval } from './approval-record.ts'

export type Ledger = ReturnType<typeof createLedger>

/** A call that wants a person's word, and where it stands. */
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
const close = (approval: Approval): Op => ({ type: 'del', key: openKey(approval.approvalId) })
const expire = (approval: Approval): Op[] => [put({ ...approval, state: 'expired' }), close(approval)]

/**
 * The server's own book of approvals. It alone says what was asked, what was answered and what has run: nothing
 * that a client sends about an approval counts but its id and the decision. Methods that return operations leave
 * it to the caller to commit them together with what they belong to.
 */
export function createLedger ({ store, clock }: { store: Store, clock: Clock }) {
  /** Ids arrive from clients; what is not one of ours cannot be in the book. */
  const get = async (id: string) => isId(id) ? store.get<Approval>(approvalKey(id)) : undefined

  /** Throws ApprovalNotFound (404). */
  async function require (approvalId: string): Promise<Approval> {
    const approval = await get(approvalId)
    if (approval === undefined) throw new ApprovalNotFound(approvalId)
    return approval
  }

  /** An open question whose time is up counts as expired from then on. */
  const isOverdue = (approval: Approval) => approval.state === 'pending' && approval.expiresAt <= clock.now()

  return {
    /** Writes new questions: they are `pending` once the operations are committed. */
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
        ops: approvals.flatMap((approval) => [put(approval), { type: 'put', key: openKey(approval.approvalId), value: {} }])
      }
    },

    require,

    /** Whether a person can still answer. */
    isOpen: (approval: Approval) => approval.state === 'pending' && !isOverdue(approval),

    find: get,

    async all (approvalIds: string[]): Promise<Approval[]> {
      return (await Promise.all(approvalIds.map(get))).filter((approval) => approval !== undefined)
    },

    /**
     * A chat's message keeps the decisions that were carried out before its newest ones. Of all of them, the ones
     * that are meant: those the book still waits for, else those of the newest step, to be followed or replayed.
     */
    async currentApprovals (decisions: Decision[]): Promise<Decision[]> {
      const known = (await Promise.all(decisions.map(async (decision) => ({ decision, approval: await get(decision.approvalId) }))))
        .filter((entry): entry is { decision: Decision, approval: Approval } => entry.approval !== undefined)
      const open = known.filter(({ approval }) => approval.state === 'pending')
      const last = known.at(-1)?.approval
      const meant = open.length > 0
        ? open
        : known.filter(({ approval }) => approval.runId === last?.runId && approval.segment === last.segment)
      return meant.length > 0 ? meant.map(({ decision }) => decision) : decisions
    },

    /**
     * Checks the answers of one request against the book and returns those that are news; nothing is written when
     * one of them cannot stand. The first decision wins: the same again is no news, another is a 409.
     */
    async decide (decisions: Decision[], threadId?: string): Promise<{ approvals: Approval[], news: Approval[] }> {
      const approvals = await Promise.all(decisions.map(({ approvalId }) => require(approvalId)))
      if (threadId !== undefined && approvals.some((approval) => approval.threadId !== threadId)) {
        throw new OtherConversation('The approval request belongs to another conversation than the "id" of the request.')
      }
      if (approvals.some(({ runId }) => runId !== approvals[0].runId)) {
        throw new OtherConversation('The answers belong to different conversations; send them one request each.')
      }
      const decided = new Map<string, boolean>()
      const news: Approval[] = []
      for (const [at, approval] of approvals.entries()) {
        const { approvalId, approved, reason } = decisions[at]
        if (decided.has(approvalId) && decided.get(approvalId) !== approved) {
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
        } else if (!decided.has(approvalId)) {
          news.push({ ...approval, state: approved ? 'approved' : 'denied', approved, ...(reason && { reason }) })
        }
        decided.set(approvalId, approved)
      }
      return { approvals, news }
    },

    /** The operations that record decided questions. */
    record: (news: Approval[]): Op[] => news.flatMap((approval) => [put(approval), close(approval)]),

    /** The operation that moves an approval on; the new record beside it. */
    move (approval: Approval, state: Approval['state']): { approval: Approval, op: Op } {
      const moved = { ...approval, state }
      return { approval: moved, op: put(moved) }
    },

    /** The operations that say of an overdue question that its run went on without it, whatever the clock says later. */
    expire,

    /** What a new message of the user does to the questions it left open. */
    withdraw: (approvals: Approval[]): Op[] =>
      approvals
        .filter(({ state }) => state === 'pending' || state === 'approved')
        .flatMap((approval) => [put({ ...approval, state: 'withdrawn' }), close(approval)]),

    /** The operation that ends an approved request whose call did not run and is asked about anew. */
    replace: (approval: Approval, replacedBy: string): Op => put({ ...approval, state: 'withdrawn', replacedBy }),

    /** The open questions, oldest first, as many as a page holds. */
    async list ({ limit, cursor }: { limit: number, cursor?: string }): Promise<{ approvals: ApprovalView[], nextCursor?: string }> {
      const approvals: ApprovalView[] = []
      let bytes = 0
      for await (const [key] of store.list(openKey(''), { after: cursor && openKey(cursor) })) {
        const approval = await get(key.slice(openKey('').length))
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
