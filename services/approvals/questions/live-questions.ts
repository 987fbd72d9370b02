import type { Answers, Question } from '../../../schemas/questions.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { newId } from '../../lib/ids.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { Store } from '../../store/store-types.ts'
import { createValidator } from '../../tools/input-validator.ts'
import { createAskUser } from '../../tools/questions/ask-user.ts'
import { ToolFailed } from '../../tools/tool-errors.ts'
import { ApprovalExpired, ApprovalWithdrawn } from '../approval-errors.ts'
import type { Owner, QuestionItem } from '../approval-record.ts'
import type { Decision } from '../decision.ts'
import type { Ledger } from '../ledger.ts'
import { decideQuestions } from './decide-questions.ts'

export type LiveQuestions = ReturnType<typeof createLiveQuestions>
type LiveItem = Owner & QuestionItem & { live: true }

/** What became of live questions. Nobody's silence is an answer: `unanswered` after ten minutes. */
export type LiveOutcome = { is: 'answered', answers: Answers } | { is: 'declined', reason?: string } | { is: 'unanswered' }

/** Questions of a call that keeps running, such as those of a tool server. */
export interface LiveRequest {
  owner: Owner
  runId: string
  segment?: number
  toolCallId?: string
  questions: Question[]
  /** Ends with the call: the questions are then withdrawn. */
  signal: AbortSignal
  /** Called when the questions are on disk, for the events of the run. */
  asked?: (item: LiveItem) => void
}

/** How long a call waits for its user, milliseconds. */
const LIVE_MS = 10 * 60 * 1000
/** Live questions that may be open at once. */
const MOST_OPEN = 200
/** Decided ones that are remembered, so that the same answer again is accepted. */
const MOST_DECIDED = 200

/**
 * Asks questions in the middle of a call that keeps running. They are listed and answered as all others are. A restart ends the call,
 * and with it the questions: what an earlier process left is removed at the first use.
 */
export function createLiveQuestions ({ ledger, store, clock }: {
  ledger: Pick<Ledger, 'record' | 'remove' | 'readOpen'>,
  store: Store,
  clock: Clock
}) {
  const locked = createKeyedLock()
  const findMistake = createValidator()
  const askUser = createAskUser()
  const open = new Map<string, { item: LiveItem, settle: (item: LiveItem) => void }>()
  const decided = new Map<string, LiveItem>()
  let isClean = false

  /** Removes the questions of calls that ended with an earlier process; once, unless it fails. */
  async function clean (): Promise<void> {
    if (isClean) return
    const left: string[] = []
    for await (const item of ledger.readOpen({ kind: 'question' })) {
      if (item.kind === 'question' && item.live && !open.has(item.approvalId)) left.push(item.approvalId)
    }
    if (left.length > 0) await store.transact(ledger.remove(left))
    isClean = true
  }

  /** Stores nothing of the end: the call is lost with the process. Who watches the store learns the state of the removed record. */
  async function settle (item: LiveItem): Promise<void> {
    await store.transact([...ledger.record([item]), ...ledger.remove([item.approvalId])])
    open.get(item.approvalId)?.settle(item)
    open.delete(item.approvalId)
    decided.set(item.approvalId, item)
    if (decided.size > MOST_DECIDED) decided.delete(decided.keys().next().value!)
  }

  /** Ends questions that nobody answered; an answer that came first is kept. */
  const close = ({ approvalId }: LiveItem, state: 'expired' | 'withdrawn') =>
    locked(approvalId, async () => {
      const entry = open.get(approvalId)
      if (entry !== undefined) await settle({ ...entry.item, state })
    })

  return {
    clean,

    /** Whether this process knows the questions: they are open, or were lately. */
    has: (approvalId: string): boolean => open.has(approvalId) || decided.has(approvalId),

    /**
     * Asks and waits for the user, at most ten minutes. Throws ToolFailed for questions that cannot be asked, and the reason of the
     * signal when the call ends first.
     */
    async ask ({ owner, runId, segment = 0, toolCallId, questions, signal, asked }: LiveRequest): Promise<LiveOutcome> {
      const mistake = findMistake(askUser, { questions })
      if (mistake !== undefined) throw new ToolFailed(mistake)
      if (open.size >= MOST_OPEN) throw new ToolFailed(`There are ${MOST_OPEN} open questions already; answer some first.`)
      signal.throwIfAborted()
      const createdAt = clock.now()
      const item: LiveItem = {
        ...owner,
        kind: 'question',
        state: 'pending',
        live: true,
        approvalId: newId(),
        runId,
        segment,
        ...(toolCallId !== undefined && { toolCallId }),
        questions,
        createdAt,
        expiresAt: createdAt + LIVE_MS
      }
      const { promise, resolve } = Promise.withResolvers<LiveItem>()
      open.set(item.approvalId, { item, settle: resolve })
      try {
        await store.transact(ledger.record([item]))
      } catch (error) {
        open.delete(item.approvalId)
        throw error
      }
      asked?.(item)
      try {
        await withDeadline({ clock, ms: LIVE_MS, signal }, () => promise)
      } catch (error) {
        await close(item, signal.aborted ? 'withdrawn' : 'expired')
        if (signal.aborted) throw error
      } finally {
        open.delete(item.approvalId)
      }
      return outcomeOf(await promise)
    },

    /** Decides live questions. Throws as `decideQuestions` does, ApprovalExpired (410), or ApprovalWithdrawn (409) after their call. */
    decide: (approvalId: string, decision: Decision): Promise<LiveItem> =>
      locked(approvalId, async () => {
        const item = open.get(approvalId)?.item ?? decided.get(approvalId)
        if (item?.state === 'expired') throw new ApprovalExpired(approvalId)
        if (item === undefined || item.state === 'withdrawn') throw new ApprovalWithdrawn(approvalId, 'the call that asked has ended')
        const fresh = decideQuestions(item, decision)
        if (fresh !== undefined) await settle(fresh)
        return fresh ?? item
      })
  }
}

function outcomeOf ({ state, answers, reason }: LiveItem): LiveOutcome {
  switch (state) {
    case 'answered':
      return { is: 'answered', answers: answers ?? {} }
    case 'declined':
      return { is: 'declined', ...(reason !== undefined && { reason }) }
    default:
      return { is: 'unanswered' }
  }
}
