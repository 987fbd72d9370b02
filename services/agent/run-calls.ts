import { inputDigest } from '../approvals/input-digest.ts'
import type { ThreadItem } from '../contracts/approval-record.ts'
import { createCallGrants } from '../approvals/grants/call-grants.ts'
import type { Grant } from '../contracts/grant-record.ts'
import { callAnswer, callApproval, findOfCall } from '../approvals/call-approval.ts'
import { wasRefused } from '../approvals/refused-calls.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { isAnswerCall } from '../objects/take-answer.ts'
import { openCalls, type RunEvent } from '../contracts/run-events.ts'
import type { Op } from '../store/store-types.ts'
import type { AskedCall, Call } from '../contracts/call.ts'
import type { CallEnd, CallPorts } from '../step/call-ports.ts'
import { settleCalls } from '../step/step-calls.ts'
import { whoIsAsked } from '../step/who-is-asked.ts'
import type { AgentDeps } from './agent-deps.ts'
import { askInCall } from './ask-in-call.ts'
import { recordAnswer } from './answer-record.ts'
import type { RunAttempt } from './run-attempt.ts'
import { checkLength, commit } from './run-repository.ts'

/**
 * Settles the open calls of the newest step and returns those that wait. `decided` are the items that the run waited for. The outcome
 * of a call with an item, and of a call with an intent, is stored in the thread immediately.
 */
export async function settleStep (decided: ThreadItem[], attempt: RunAttempt, deps: AgentDeps): Promise<AskedCall[]> {
  const { live: { run, signal }, conversation, owed } = attempt
  const { ledger, host, grants, store } = deps
  const { log, head: { runId, threadId, cwd, options } } = run
  const newest = log.events.slice(log.events.findLastIndex(({ type }) => type === 'step-start'))
  const items = new Map(decided.map((item) => [item.approvalId, item]))
  const ofCall = (toolCallId: string) => findOfCall(items.values(), toolCallId)
  const intended = new Set<string>()
  const locked = createKeyedLock()
  // A commit stores everything up to its own final events, so appending waits for it.
  const inOrder = (write: () => Promise<void>) => locked(runId, write)

  async function storeIntent (call: { toolCallId: string, grantId?: string }, ops: Op[]): Promise<void> {
    const intent: RunEvent = { type: 'tool-intent', ...call }
    intended.add(call.toolCallId)
    await inOrder(() => commit(run, deps, { finalEvents: [intent], ops }))
  }

  /** A call that has asked has done more than read: its intent says that it had begun. */
  const ask: CallPorts['ask'] = async (call, questions) => {
    if (!intended.has(call.toolCallId)) await storeIntent({ toolCallId: call.toolCallId }, [])
    return askInCall(attempt, deps)(call, questions)
  }

  // The structured answer is taken when the other calls have their outcomes.
  const calls = openCalls(newest).filter((call) => owed === undefined || !isAnswerCall(call))
  const { asked } = await settleCalls(calls, {
    tools: host,
    run: { runId, owner: store.digest(threadId), attempt: attempt.attempt, cwd, signal },
    events: newest,
    repeatsReads: false,
    approvalOf (toolCallId) {
      const { approval } = ofCall(toolCallId)
      return approval && callApproval(approval, ledger.isOpen(approval))
    },
    answerOf (toolCallId) {
      const { answer } = ofCall(toolCallId)
      return answer && callAnswer(answer, ledger.isOpen(answer))
    },
    needsApproval: (toolName) => host.permission(toolName) === 'ask',
    ...whoIsAsked(options?.interactive),
    ...options?.interactive !== false && { ask },
    grants: createCallGrants({ grants, owner: { threadId }, tools: host, events: () => log.events }),
    wasDenied: ({ toolName, input }) => wasRefused(conversation.denials, toolName, inputDigest(input)),
    checkLimit: () => checkLength(log),
    progress: ({ toolCallId, toolName }, progress) => log.append({ type: 'tool-progress', toolCallId, toolName, ...progress }),

    async begin ({ toolCallId }: Call, isDurable: boolean, ops: Op[], grant?: Grant) {
      if (grant !== undefined) return grants.use(grant, (used) => storeIntent({ toolCallId, grantId: grant.grantId }, [used, ...ops]))
      if (!isDurable) {
        await store.transact(ops)
        return true
      }
      const { approval } = ofCall(toolCallId)
      const executing = approval && ledger.move(approval, 'executing')
      await storeIntent({ toolCallId }, executing ? [executing.op, ...ops] : ops)
      if (executing !== undefined) items.set(executing.approval.approvalId, executing.approval)
      return true
    },

    end: ({ toolCallId }: Call, { event: outcome, state, durationMs, ops: changed = [] }: CallEnd) =>
      inOrder(async () => {
        const event = { ...outcome, ...(durationMs !== undefined && { durationMs }) }
        const { approval, answer } = ofCall(toolCallId)
        // The decision is stored already.
        if (state === 'denied' || (approval === undefined && answer === undefined && !intended.has(toolCallId))) {
          await store.transact(changed)
          return log.append(event)
        }
        const silent = answer === undefined ? [] : ledger.closeSilent(answer)
        const ops = approval === undefined ? [] : state === 'expired' ? ledger.expire(approval) : [ledger.move(approval, state).op]
        await commit(run, deps, { finalEvents: [event], ops: [...silent, ...ops, ...changed, ...await recordAnswer(run, deps, [event])] })
      })
  })
  return asked
}
