import { inputDigest } from '../lib/canonical-json.ts'
import type { ApprovalView } from '../../schemas/approvals.ts'
import {
  type Answerable,
  type Answered,
  type Approval,
  type CallItem,
  type Decision,
  isOfThread,
  isUnanswered,
  type NewCallItem,
  type OpenEntry,
  type Owner,
  type ResultItem,
  type TaskChoice,
  type TaskItem,
  type ThreadApproval,
  type ThreadItem
} from '../contracts/approval-record.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../lib/clock.ts'
import { isId, newId } from '../lib/ids.ts'
import { takePage } from '../lib/pages.ts'
import { approvalKey, type Op, OPEN_APPROVALS, openApprovalKey, type Store, taskApprovalKey, unlessDamaged } from '../store/index.ts'
import { ApprovalDecided, ApprovalExpired, ApprovalNotFound, OtherConversation } from './approval-errors.ts'
import { inState } from '../contracts/approval-states.ts'
import { isAllowed, raiseDay } from '../usage/index.ts'
import { createDecided } from './decided.ts'
import { answerAppCall, type AppCall, type AppCallAnswer, AppCallNotApproved, AppCallNotFound } from './app-calls/call-ledger.ts'
import { closeOverdue, decideApproval, isOverdue } from './decide-approval.ts'
import { approvalView } from './views.ts'

export type Ledger = ReturnType<typeof createLedger>

/** Notifications of items that wait for a person. `asked` returns the operations that store the notifications. */
interface ApprovalNotifications {
  asked: (items: readonly Approval[]) => Op[]
}

/** A new item. `ms` is the time in milliseconds in which the item can be answered; the default depends on the owner. */
type ItemRequest = NewCallItem & { ms?: number }

/** A person's decision about an item, or an application's report about a call. */
export type ItemAnswer = Decision | ({ approvalId: string } & AppCallAnswer)

/** The conversations, or the tasks, to which items belong. Both continue a run when the last open item of its step has an answer. */
export interface ItemOwner {
  answerItem(ownerId: string, answer: ItemAnswer): Promise<Answered>
  /** Closes a call of the application if it is overdue. */
  closeCall(ownerId: string, callId: string): Promise<unknown>
}

const contentOf = ({ approved, answers, corrected, claim, result }: Partial<Decision> & Partial<AppCallAnswer>) =>
  [approved, answers, corrected, claim, result]

/** The time after which a request of a conversation expires, milliseconds. */
const THREAD_TTL_MS = 24 * 60 * 60 * 1000

const keyOf = ({ approvalId, taskId }: Approval) => taskId === undefined ? approvalKey(approvalId) : taskApprovalKey(approvalId)
const put = (approval: Approval): Op => ({ type: 'put', key: keyOf(approval), value: approval })
const close = ({ approvalId }: Pick<Approval, 'approvalId'>): Op => ({ type: 'del', key: openApprovalKey(approvalId) })
const open = (approval: Approval): Op[] => [put(approval), {
  type: 'put',
  key: openApprovalKey(approval.approvalId),
  value: { kind: approval.kind, expiresAt: approval.expiresAt } satisfies OpenEntry
}]

/**
 * Returns the operation that raises the budget of a day, if the item is a question about that budget and a person has allowed more; else
 * none.
 */
function raised (item: Approval): Op[] {
  if (item.kind !== 'question' || !isAllowed(item.answers)) return []
  const { approvalId, budget } = item
  return budget?.day === undefined ? [] : [raiseDay(approvalId, { ...budget, day: budget.day })]
}

/**
 * The only record of the approvals of conversations and tasks. Only the ledger says what was requested, what was approved, what has expired
 * and what has run. Of a client's messages, only the approval id and the decision count. Methods that return operations leave the commit to
 * the caller, so that the caller can store other changes in the same transaction. `notifications` adds the notifications of new items to
 * the transaction that stores the items.
 */
export function createLedger ({ store, clock, notifications }: {
  store: Store,
  clock: Clock,
  notifications?: ApprovalNotifications
}) {
  const decided = createDecided({ store, now: clock.now })

  /** Returns the operations that store an item, and add it to the index of open items or remove it from there. */
  const stored = (item: Approval): Op[] =>
    isUnanswered(item) ? open(item) : [put(item), close(item), ...raised(item), ...decided.kept(item)]

  /** Reads an item. The ids come from clients, so a malformed id is not looked up. */
  const get = async (id: string): Promise<Approval | undefined> =>
    isId(id) ? await store.get<Approval>(approvalKey(id)) ?? store.get<Approval>(taskApprovalKey(id)) : undefined

  const readItems = async <I extends Approval>(keys: string[]): Promise<I[]> =>
    (await Promise.all(keys.map((key) => unlessDamaged(store.get<I>(key))))).filter((item) => item !== undefined)

  /** Returns an approval by its id. Throws ApprovalNotFound (404). */
  async function require (approvalId: string): Promise<Approval> {
    const approval = await get(approvalId)
    if (approval === undefined) throw new ApprovalNotFound(approvalId)
    return approval
  }

  /** Returns the approval of a conversation. Throws ApprovalNotFound (404), or OtherConversation (409) if it belongs to a task. */
  async function requireOfThread (approvalId: string): Promise<ThreadApproval> {
    const approval = await require(approvalId)
    if (isOfThread(approval)) return approval
    throw new OtherConversation(
      `The approval request "${approvalId}" belongs to a task: POST /approvals/:id or POST /tasks/:id/approve decides it.`
    )
  }

  /** Returns the time of a new item, and the time at which it expires, `ttlMs` milliseconds later. */
  function times (ttlMs: number) {
    const createdAt = clock.now()
    return { createdAt, expiresAt: createdAt + ttlMs }
  }

  function newItem ({ ms, ...request }: ItemRequest, ttlMs: number): CallItem {
    const known = times(ms ?? ttlMs)
    switch (request.kind) {
      case 'tool':
        return { ...request, approvalId: newId(), state: 'pending', digest: inputDigest(request.input), ...known }
      case 'question':
        return { ...request, approvalId: isId(request.toolCallId ?? '') ? request.toolCallId! : newId(), state: 'pending', ...known }
      case 'app':
        return { ...request, approvalId: request.toolCallId, state: 'open', digest: inputDigest(request.input), ...known }
    }
  }

  /** Yields the open items, oldest first, from the one after the id `after`. Damaged items are left out. */
  async function * readOpen<K extends Approval['kind'] = Approval['kind']> (
    { after, kind }: { after?: string, kind?: K } = {}
  ): AsyncGenerator<Extract<Approval, { kind: K }>> {
    for await (const [key, entry] of store.list<OpenEntry>(OPEN_APPROVALS, { after: after && openApprovalKey(after), damaged () {} })) {
      if (kind !== undefined && entry.kind !== kind) continue
      const item = await unlessDamaged(get(key.slice(OPEN_APPROVALS.length)))
      // The item might have been answered since the index was read.
      if (item !== undefined && isUnanswered(item)) yield item as Extract<Approval, { kind: K }>
    }
  }

  /**
   * Throws AppCallNotApproved (409) if one of the calls waits for an approval. A call becomes an item of kind `app` only after its
   * approval.
   */
  async function assertApproved (callIds: readonly string[]): Promise<void> {
    if (callIds.length === 0) return
    for await (const item of readOpen({ kind: 'tool' })) {
      if (callIds.includes(item.toolCallId) && !isOverdue(item, clock.now())) throw new AppCallNotApproved(item.toolCallId, item.approvalId)
    }
  }

  /**
   * Returns a call of the application. Throws AppCallNotFound (404), AppCallNotApproved (409), or OtherConversation (409) if the call does
   * not belong to `owner`.
   */
  async function requireCall<O extends Owner> (callId: string, owner?: O): Promise<AppCall<O>> {
    const item = await get(callId)
    if (item?.kind !== 'app') {
      await assertApproved([callId])
      throw new AppCallNotFound(callId)
    }
    if (owner !== undefined && (item.threadId !== owner.threadId || item.taskId !== owner.taskId)) {
      throw new OtherConversation(`The call "${callId}" belongs to another conversation or task.`)
    }
    return item as AppCall<O>
  }

  /**
   * Returns an item with its answer; undefined if the same answer was given before. If an approval is overdue, its end is stored, so that
   * the approval does not open again when the clock is set back. Throws what `decideApproval` and `answerAppCall` throw.
   */
  async function answerItem (item: ThreadItem, answer: ItemAnswer): Promise<ThreadItem | undefined> {
    const now = clock.now()
    if (item.kind === 'app') return 'approved' in answer ? undefined : answerAppCall(item, answer, now)
    if (isOverdue(item, now)) {
      await store.transact(stored(inState(item, 'expired')))
      throw new ApprovalExpired(item.approvalId)
    }
    return 'approved' in answer ? decideApproval(item, answer, now) : undefined
  }

  return {
    readOpen,

    /** Creates the items of calls that wait; the caller stores them. */
    ask: <O extends Owner>(owner: O, requests: ItemRequest[], ttlMs = THREAD_TTL_MS): Array<O & CallItem> =>
      requests.map((request) => ({ ...owner, ...newItem(request, ttlMs) })),

    /** Creates the approval of the result of a task's run; the caller stores it. */
    askResult: (request: Pick<ResultItem, 'runId' | 'segment' | 'output' | 'teaches'> & { taskId: string }, ttlMs: number) =>
      ({ ...request, kind: 'result' as const, approvalId: newId(), state: 'pending' as const, ...times(ttlMs) }),

    /** Creates a choice about a task; the caller stores it. */
    askChoice: (request: Pick<TaskChoice, 'taskId' | 'about' | 'text' | 'choices'>): TaskChoice =>
      ({ ...request, kind: 'task', approvalId: newId(), state: 'pending', createdAt: clock.now() }),

    require,

    /** Returns the conversation of an item. Throws ApprovalNotFound (404), or OtherConversation (409) for one of a task. */
    async threadOf (approvalId: string): Promise<string> {
      const item = await get(approvalId)
      return item?.kind === 'app' && item.threadId !== undefined ? item.threadId : (await requireOfThread(approvalId)).threadId
    },

    /** The decisions of the last year. */
    decided,

    assertApproved,

    requireCall,

    find: get,

    /** Whether the item can still be answered. */
    isOpen: (item: Answerable) => isUnanswered(item) && !isOverdue(item, clock.now()),

    /** Return the items of a conversation, or of a task, with these ids; unknown and damaged ones are left out. */
    all: (approvalIds: string[]): Promise<ThreadItem[]> => readItems(approvalIds.map(approvalKey)),
    ofTask: (approvalIds: string[]): Promise<TaskItem[]> => readItems(approvalIds.map(taskApprovalKey)),

    /**
     * Selects the current answers in a chat message, which also contains the answers of earlier steps. The current answers are those to
     * open items. If no item is open, they are the answers of the newest step, whose continuation the client then reads live or replayed.
     */
    async currentAnswers<A extends { approvalId: string }> (answers: A[]): Promise<A[]> {
      const known = (await Promise.all(answers.map(async (answer) => ({ answer, item: await get(answer.approvalId) }))))
        .filter((entry): entry is { answer: A, item: Approval } => entry.item !== undefined)
        .sort((a, b) => a.item.createdAt - b.item.createdAt)
      const open = known.filter(({ item }) => isUnanswered(item))
      const last = known.at(-1)?.item
      const current = open.length > 0 ? open : known.filter(({ item }) => item.runId === last?.runId && item.segment === last?.segment)
      return current.length > 0 ? current.map(({ answer }) => answer) : answers
    },

    /**
     * Checks the answers of one request to items of a conversation, without storing anything. Returns all items that the request answers,
     * and in `answered` those that get their first answer. The first answer to an item stands: the same answer again has no effect. `id` is
     * the thread id that the request names. Throws what `threadOf`, `requireCall`, `decideApproval` and `answerAppCall` throw; then no
     * answer of the request takes effect.
     */
    async answer (answers: ItemAnswer[], threadId: string, id?: string): Promise<{ items: ThreadItem[], answered: ThreadItem[] }> {
      const items = await Promise.all(answers.map((each): Promise<ThreadItem> =>
        'approved' in each ? requireOfThread(each.approvalId) : requireCall(each.approvalId, { threadId: id ?? threadId })))
      if (id !== undefined && items.some((item) => item.threadId !== id)) {
        throw new OtherConversation('The approval request belongs to another conversation than the "id" of the request.')
      }
      if (items.some(({ runId }) => runId !== items[0].runId)) {
        throw new OtherConversation('The answers belong to different conversations or runs; send them one request each.')
      }
      const taken = new Map<string, ItemAnswer>()
      const answered: ThreadItem[] = []
      for (const [at, item] of items.entries()) {
        const answer = answers[at]
        const before = taken.get(item.approvalId)
        if (before !== undefined && !isDeepStrictEqual(contentOf(before), contentOf(answer))) {
          throw new ApprovalDecided(item.approvalId, 'answered the other way in this request')
        }
        const fresh = await answerItem(item, answer)
        if (fresh !== undefined && before === undefined) answered.push(fresh)
        taken.set(item.approvalId, answer)
      }
      return { items, answered }
    },

    /** Returns the operations that store approvals. */
    record: (approvals: readonly Approval[]): Op[] => [
      ...approvals.flatMap((approval) => stored(approval)),
      ...notifications?.asked(approvals) ?? []
    ],

    /** Returns the operations that close an overdue item; none if the item is not overdue. */
    closeSilent (item: Approval): Op[] {
      const closed = closeOverdue(item, clock.now())
      return closed === undefined ? [] : stored(closed)
    },

    /** Returns the operations that withdraw the open and approved items of a run after a new message has made them pointless. */
    withdraw: (items: ThreadItem[]): Op[] =>
      items
        .filter((item) => isUnanswered(item) || item.state === 'approved')
        .flatMap((item) => stored(inState(item, 'withdrawn'))),

    /** Returns the operations that remove approvals. */
    remove: (approvalIds: string[]): Op[] =>
      approvalIds.flatMap((id): Op[] => [approvalKey(id), taskApprovalKey(id), openApprovalKey(id)].map((key) => ({ type: 'del', key }))),

    /** Lists the approvals that wait for a person, oldest first, one page at a time. Damaged items are left out. */
    async list (
      { limit, cursor, kind }: { limit: number, cursor?: string, kind?: Exclude<ApprovalView['kind'], 'server'> }
    ): Promise<{ approvals: ApprovalView[], nextCursor?: string }> {
      const { page: approvals, ...more } = await takePage(readOpen<Approval['kind']>({ after: cursor, kind }), {
        limit,
        pick: (item) => item.kind === 'app' || isOverdue(item, clock.now()) ? undefined : approvalView(item),
        cursorOf: ({ approvalId }) => approvalId
      })
      return { approvals, ...more }
    }
  }
}
