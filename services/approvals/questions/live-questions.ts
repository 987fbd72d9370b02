import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { newId } from '../../lib/ids.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { Store } from '../../store/index.ts'
import { createAskUser, createValidator, ToolFailed } from '../../tools/index.ts'
import type { CallQuestions, QuestionOutcome } from '../../contracts/tool.ts'
import { ApprovalExpired, ApprovalWithdrawn } from '../approval-errors.ts'
import type { Decision, Owner, QuestionItem } from '../../contracts/approval-record.ts'
import { decideQuestions } from '../decide-approval.ts'
import type { Ledger } from '../ledger.ts'
import { refuseWrong } from './check-answers.ts'

export type LiveQuestions = ReturnType<typeof createLiveQuestions>
type LiveItem = Owner & QuestionItem & { live: true }

/** Questions in the middle of a call that keeps running, such as those of a tool server. */
export interface LiveRequest extends Omit<CallQuestions, 'server'> {
  server?: string
  owner: Owner
  runId: string
  segment?: number
  toolCallId?: string
  /** Called when the questions are on disk, and when they are decided, to write the events of the run. */
  changed?: (item: LiveItem) => void
}

/** How long a call waits for its user, milliseconds. */
const LIVE_MS = 10 * 60 * 1000
/** The most live questions that can be open at the same time. */
const MOST_OPEN = 200
/** The number of decided questions that are remembered, so that the same answer is accepted again. */
const MOST_DECIDED = 200

/**
 * Asks questions in the middle of a call that keeps running. The questions are listed and answered like all others. A restart of the
 * service ends the call and its questions. Questions of an earlier process are removed at the first use.
 */
export function createLiveQuestions ({ ledger, store, clock }: {
  ledger: Pick<Ledger, 'record' | 'remove' | 'readOpen'>,
  store: Store,
  clock: Clock
}) {
  const locked = createKeyedLock()
  const findMistake = createValidator()
  const askUser = createAskUser()
  const open = new Map<string, Pick<LiveRequest, 'check'> & { item: LiveItem, settle: (item: LiveItem) => void }>()
  const decided = new Map<string, LiveItem>()
  let cleaning: Promise<void> | undefined

  /** Removes the questions of calls that ended with an earlier process. This is done once, and again only if it fails. */
  async function clean (): Promise<void> {
    await (cleaning ??= removeLeft().catch((error) => {
      cleaning = undefined
      throw error
    }))
  }

  async function removeLeft (): Promise<void> {
    const left: LiveItem[] = []
    for await (const item of ledger.readOpen({ kind: 'question' })) {
      if (item.live && !open.has(item.approvalId)) left.push({ ...item, live: true, state: 'withdrawn' })
    }
    for (const item of left) {
      await end(item)
      remember(decided.get(item.approvalId) ?? item)
    }
  }

  /**
   * Ends questions and removes their record. The end is not stored, because a restart loses the call anyway, and neither are the answers,
   * which are only for the call. Observers of the store get the final state of the removed record.
   */
  async function end (item: LiveItem): Promise<void> {
    const { answers, ...shown } = item
    await store.transact([...ledger.record([shown]), ...ledger.remove([item.approvalId])])
  }

  function remember (item: LiveItem): void {
    decided.set(item.approvalId, item)
    if (decided.size > MOST_DECIDED) decided.delete(decided.keys().next().value!)
  }

  function settle (item: LiveItem): void {
    remember(item)
    open.get(item.approvalId)?.settle(item)
    open.delete(item.approvalId)
  }

  /** Ends questions that nobody answered. If an answer arrived first, the answer stands. */
  const close = ({ approvalId }: LiveItem, state: 'expired' | 'withdrawn') =>
    locked(approvalId, async () => {
      const entry = open.get(approvalId)
      if (entry === undefined) return
      const item = { ...entry.item, state }
      // The call continues even if the store refuses the write. The questions are then removed at the next use.
      await end(item).catch(() => {
        cleaning = undefined
      })
      settle(item)
    })

  return {
    clean,

    /** The open questions of tasks, or of one run of a task, the oldest first. */
    ofTask: (runId?: string): Array<LiveItem & { taskId: string }> =>
      [...open.values()].flatMap(({ item }) => item.taskId !== undefined && (runId ?? item.runId) === item.runId ? [item] : []),

    /** Whether this process knows the questions: they are open, or were decided recently. */
    has: (approvalId: string): boolean => open.has(approvalId) || decided.has(approvalId),

    /**
     * Asks the user and waits for the answers, for ten minutes at most. Throws ToolFailed for questions that cannot be asked, and the
     * reason of the signal if the call ends first.
     */
    async ask (request: LiveRequest): Promise<QuestionOutcome> {
      const { owner, runId, segment = 0, toolCallId, questions, server, url, check, signal, changed } = request
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
        ...{ runId, segment, toolCallId, questions, server, url },
        createdAt,
        expiresAt: createdAt + LIVE_MS
      }
      const { promise, resolve } = Promise.withResolvers<LiveItem>()
      open.set(item.approvalId, { item, check, settle: resolve })
      try {
        await store.transact(ledger.record([item]))
      } catch (error) {
        open.delete(item.approvalId)
        throw error
      }
      changed?.(item)
      try {
        await withDeadline({ clock, ms: LIVE_MS, signal }, () => promise)
      } catch (error) {
        await close(item, signal.aborted ? 'withdrawn' : 'expired')
        if (signal.aborted) throw error
      } finally {
        open.delete(item.approvalId)
        // The questions are decided, whatever happens to the call.
        void promise.then(changed)
      }
      return outcomeOf(await promise)
    },

    /**
     * Decides live questions. Throws what `decideQuestions` throws, ApprovalExpired (410), or ApprovalWithdrawn (409) after their call has
     * ended.
     */
    decide: (approvalId: string, decision: Decision): Promise<LiveItem> =>
      locked(approvalId, async () => {
        const item = open.get(approvalId)?.item ?? decided.get(approvalId)
        if (item?.state === 'expired') throw new ApprovalExpired(approvalId)
        if (item === undefined || item.state === 'withdrawn') throw new ApprovalWithdrawn(approvalId, 'the call that asked has ended')
        const fresh = decideQuestions(item, decision, clock.now())
        // Answers can have the right form and still be wrong, such as a date that does not exist.
        if (fresh?.answers !== undefined) refuseWrong(open.get(approvalId)?.check?.(fresh.answers) ?? [])
        if (fresh !== undefined) {
          await end(fresh)
          settle(fresh)
        }
        return fresh ?? item
      })
  }
}

function outcomeOf ({ state, answers, reason }: LiveItem): QuestionOutcome {
  switch (state) {
    case 'answered':
      return { is: 'answered', answers: answers ?? {} }
    case 'declined':
      return { is: 'declined', reason }
    default:
      return { is: 'unanswered' }
  }
}
