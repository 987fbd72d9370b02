import type { ApprovalDecision, ApprovalPreview, ApprovalView, DecidedApproval } from '../../schemas/approvals.ts'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import { tooLate } from './decide-approval.ts'
import { AnswersRefused } from './questions/check-answers.ts'
import type { CallPreviews } from './call-preview.ts'
import { approvalView, decidedView } from './views.ts'
import { type Decision, SERVER_ITEM, type ToolItem } from '../contracts/approval-record.ts'
import type { ItemOwner, Ledger } from './ledger.ts'
import type { LiveQuestions } from './questions/live-questions.ts'
import { ApprovalNotFound, ApprovalWithdrawn, GrantRefused, TooManyTries } from './approval-errors.ts'
import { createSemaphore } from '../lib/semaphore.ts'

/**
 * Returns the decision that a request contains. Answers to questions count as approval. Throws AnswersRefused (400) if the request contains
 * no decision, or answers together with `approved: false`.
 */
function givenDecision (approvalId: string, { approved, answers, reason, input, unbound, ...granted }: ApprovalDecision): Decision {
  if (approved === undefined && answers === undefined) {
    throw new AnswersRefused('Give "approved", true or false, or the "answers" to questions.')
  }
  if (approved === false && answers !== undefined) {
    throw new AnswersRefused('Questions are either answered, with "answers", or declined, with "approved": false.')
  }
  const given = { ...(answers && { answers }), ...(reason && { reason }), ...(unbound && { unbound: true as const }), ...granted }
  return { approvalId, approved: approved ?? true, ...given }
}

type ListQuery = Omit<Parameters<Ledger['list']>[0], 'kind'> & { kind?: ApprovalView['kind'], state?: 'open' | 'decided' }

export type Inbox = ReturnType<typeof createInbox>

/** All items of conversations and tasks that wait for a person. The owner of an approval only decides which run continues. */
export function createInbox ({ ledger, live, previews, agent, tasks, servers }: {
  ledger: Pick<Ledger, 'list' | 'require' | 'isOpen' | 'decided'>,
  live: Pick<LiveQuestions, 'clean' | 'has' | 'decide'>,
  previews: CallPreviews,
  agent: Pick<ItemOwner, 'answerItem'>,
  tasks: Pick<ItemOwner, 'answerItem'> & {
    choose(taskId: string, approvalId: string, choice: string | undefined): Promise<DecidedApproval>
  },
  /** The tool servers that wait until a person accepts or refuses their tools. */
  servers: { waiting(): ApprovalView[], decide(approvalId: string, approved: boolean): Promise<ApprovalView | undefined> }
}) {
  const tries = createSemaphore({ limit: 2, maxQueued: 8, busy: () => new TooManyTries() })

  /** Decides questions in the middle of a call. The run of that call is still executing, and continues. */
  async function decideLive (decision: Decision): Promise<DecidedApproval> {
    return decidedView({ item: await live.decide(decision.approvalId, decision), continued: true })
  }

  async function decideServer ({ approvalId, approved }: Decision): Promise<DecidedApproval> {
    const item = await servers.decide(approvalId, approved)
    if (item === undefined) throw new ApprovalWithdrawn(approvalId, 'the tools of the server have changed, or were decided already')
    return { approvalId, state: item.state, continued: false }
  }

  /**
   * Returns the call that an open approval is about, with `input`, if present, in place of the model's input; undefined if the approval is
   * not about a call.
   */
  async function openCall (approvalId: string, signal: AbortSignal, input?: unknown): Promise<ToolItem | undefined> {
    const approval = await ledger.require(approvalId)
    if (!ledger.isOpen(approval)) throw tooLate(approval)
    if (approval.kind !== 'tool') return undefined
    return input === undefined ? approval : { ...approval, ...await previews.correct(approval, input, signal) }
  }

  return {
    /**
     * Returns an open request. Throws ApprovalNotFound (404), or the error of a decision that comes too late (409, 410).
     */
    async open (approvalId: string): Promise<ApprovalView> {
      await live.clean()
      const ofServer = servers.waiting().find((item) => item.approvalId === approvalId)
      if (ofServer !== undefined) return ofServer
      const approval = await ledger.require(approvalId)
      if (approval.kind === 'app') throw new ApprovalNotFound(approvalId)
      if (!ledger.isOpen(approval)) throw tooLate(approval)
      return approvalView(approval)
    },

    async list ({ kind, state, ...query }: ListQuery): ReturnType<Ledger['list']> {
      if (state === 'decided') return ledger.decided.list({ ...query, kind })
      await live.clean()
      const waiting = query.cursor === undefined && (kind ?? 'server') === 'server' ? servers.waiting() : []
      if (kind === 'server') return { approvals: waiting }
      const page = await ledger.list({ ...query, kind })
      return { ...page, approvals: [...waiting, ...page.approvals] }
    },

    /**
     * Returns what an open tool call would change, with `input`, if present, in place of the model's input; no changes if the item is not a
     * tool call. Throws ApprovalNotFound (404), InputRefused (400), or the error of a decision that comes too late (409, 410).
     */
    async preview (approvalId: string, signal: AbortSignal, input?: unknown): Promise<ApprovalPreview> {
      const item = await openCall(approvalId, signal, input)
      return item === undefined ? { changes: [] } : previews.preview(item, signal)
    },

    /**
     * Like `preview`, but for a command runs it in a place whose changes are all discarded, and returns what the command did. Only called
     * when a person asks for it. At most two commands run at the same time. Throws what `preview` throws, or TooManyTries (429).
     */
    async tryOut (approvalId: string, signal: AbortSignal, input?: unknown): Promise<ApprovalPreview> {
      const item = await openCall(approvalId, signal, input)
      if (item === undefined) return { changes: [] }
      const tried = await tries.run(signal, () => previews.tryOut(item, signal))
      return tried === undefined ? previews.preview(item, signal) : 'refused' in tried ? { changes: [], refused: tried.refused } : tried
    },

    /**
     * Decides an approval. If no other item of its step is open, the run continues, even if no client reads it. `device` is the paired
     * device that decides; undefined for a request to the main port. Throws ApprovalNotFound (404), InputRefused (400), the errors of
     * `decideApproval` (409, 410), and the errors of a run that cannot continue.
     */
    async decide (
      approvalId: string,
      { choice, ...given }: ApprovalDecision,
      signal: AbortSignal,
      device?: DecidingDevice
    ): Promise<DecidedApproval> {
      await live.clean()
      const isElsewhere = live.has(approvalId) || approvalId.startsWith(SERVER_ITEM)
      const approval = isElsewhere ? undefined : await ledger.require(approvalId)
      if (approval?.kind === 'task') {
        return tasks.choose(approval.taskId, approvalId, Object.keys(given).length === 0 ? choice : undefined)
      }
      if (choice !== undefined) throw new AnswersRefused('"choice" answers a request of kind task; this one has another kind.')
      let decision: Decision = { ...givenDecision(approvalId, given), ...(device && { device }) }
      if (approval === undefined) return live.has(approvalId) ? decideLive(decision) : decideServer(decision)
      if (given.input !== undefined) {
        if (approval.kind !== 'tool') throw new GrantRefused('"input" belongs to the approval of a tool call.')
        decision = { ...decision, corrected: await previews.correct(approval, given.input, signal) }
      }
      if (approval.kind === 'app') throw new ApprovalNotFound(approvalId)
      const { threadId, taskId } = approval
      return decidedView(await (taskId === undefined ? agent.answerItem(threadId, decision) : tasks.answerItem(taskId, decision)))
    }
  }
}
