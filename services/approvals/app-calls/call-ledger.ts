import type { Clock } from '../../lib/clock.ts'
import { OtherConversation } from '../approval-errors.ts'
import { isUnanswered, type Approval, type Owner } from '../../contracts/approval-record.ts'
import { answerAppCall, type AppCall, type AppCallAnswer, AppCallNotFound } from './answer-app-call.ts'

export type CallLedger = ReturnType<typeof createCallLedger>

const isOfOwner = <O extends Owner>(call: AppCall | AppCall<O>, owner: O): call is AppCall<O> =>
  call.threadId === owner.threadId && call.taskId === owner.taskId

/** The part of the ledger for the calls that applications execute. */
export function createCallLedger ({ clock, find, readOpen }: {
  clock: Clock,
  find: (id: string) => Promise<Approval | undefined>,
  readOpen: (from: { after?: string, kind: 'app' }) => AsyncIterable<Approval>
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
      for await (const item of readOpen({ after, kind: 'app' })) if (item.kind === 'app' && isUnanswered(item)) yield item
    }
  }
}
