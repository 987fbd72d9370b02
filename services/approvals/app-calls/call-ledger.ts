import type { Clock } from '../../lib/clock.ts'
import { OPEN_APPROVALS, openApprovalKey } from '../../store/keys.ts'
import { unlessDamaged } from '../../store/store-errors.ts'
import type { Op, Store } from '../../store/store-types.ts'
import { OtherConversation } from '../approval-errors.ts'
import { isUnanswered, type Approval, type OpenEntry, type Owner } from '../approval-record.ts'
import { answerAppCall, closeOverdue, type AppCall, type AppCallAnswer } from './answer-app-call.ts'
import { AppCallNotFound } from './app-call-errors.ts'

export type CallLedger = ReturnType<typeof createCallLedger>

const isOfOwner = <O extends Owner>(call: AppCall | AppCall<O>, owner: O): call is AppCall<O> =>
  call.threadId === owner.threadId && call.taskId === owner.taskId

/** The part of the ledger for the calls that applications execute. */
export function createCallLedger ({ store, clock, find, stored }: {
  store: Pick<Store, 'list'>,
  clock: Clock,
  find: (id: string) => Promise<Approval | undefined>,
  /** Returns the operations that store an item. */
  stored: (item: Approval) => Op[]
}) {
  /** Throws AppCallNotFound (404). */
  async function require (callId: string): Promise<AppCall> {
    const item = await find(callId)
    if (item?.kind !== 'app') throw new AppCallNotFound(callId)
    return item
  }

  /** Returns a call of that conversation or task. Throws AppCallNotFound (404), or OtherConversation (409) for one of another. */
  async function requireOf<O extends Owner> (callId: string, owner: O): Promise<AppCall<O>> {
    const call = await require(callId)
    if (isOfOwner(call, owner)) return call
    throw new OtherConversation(`The call "${callId}" belongs to another conversation or task.`)
  }

  return {
    require,
    requireOf,

    /**
     * Checks the answers to calls of one conversation or task and returns the calls that they newly answer, without storing them. Throws
     * AppCallNotFound (404), OtherConversation (409) and the errors of `answerAppCall`; then no answer takes effect.
     */
    async answer<O extends Owner> (
      answers: Array<{ approvalId: string } & AppCallAnswer>,
      owner: O
    ): Promise<{ calls: Array<AppCall<O>>, answered: Array<AppCall<O>> }> {
      const calls = await Promise.all(answers.map(({ approvalId }) => requireOf(approvalId, owner)))
      if (calls.some(({ runId }) => runId !== calls[0].runId)) {
        throw new OtherConversation('The results belong to calls of different runs; send them one request each.')
      }
      const now = clock.now()
      return { calls, answered: calls.flatMap((call, at) => answerAppCall(call, answers[at], now) ?? []) }
    },

    /** Yields the open calls, oldest first, after one of them. Damaged ones are left out. */
    async * open (after?: string): AsyncGenerator<AppCall> {
      const options = { after: after && openApprovalKey(after), damaged () {} }
      for await (const [key, { kind }] of store.list<OpenEntry>(OPEN_APPROVALS, options)) {
        const item = kind === 'app' ? await unlessDamaged(find(key.slice(OPEN_APPROVALS.length))) : undefined
        if (item?.kind === 'app' && isUnanswered(item)) yield item
      }
    },

    /** Returns the operations that close a call if it is overdue. */
    closeOverdue (call: AppCall): Op[] {
      const closed = closeOverdue(call, clock.now())
      return closed === undefined ? [] : stored(closed)
    }
  }
}
