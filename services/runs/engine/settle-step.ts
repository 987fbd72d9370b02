import { type AddressGate, type CallGrants, createCallGrants } from '../../approvals/index.ts'
import { type Approval, ownerOf } from '../../contracts/approval-record.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { isAnswerCall } from '../answers/take-answer.ts'
import { intentsIn } from '../run-log/open-calls.ts'
import { newestStep, openCalls, type RunEvent } from '../../contracts/run-events.ts'
import type { Op } from '../../store/index.ts'
import { checkLength } from '../run-repository.ts'
import type { RunRecord } from '../run-record.ts'
import { questionFields, type RunItems } from './asked-items.ts'
import type { EngineDeps, RunAttempt } from './attempt.ts'
import type { CallPorts } from './call-ports.ts'
import type { AskedCall } from '../../contracts/call.ts'
import type { RunOwner } from './run-owner.ts'
import { settleCalls } from './settle-calls.ts'

/**
 * Settles the open calls of the newest step and returns those that wait. The outcome of a call with an item, and of a call with an intent,
 * is stored before the run goes on; that of a run that stores its steps always is.
 */
export async function settleStep<R extends RunRecord> (
  { live, attempt, owed, commit, pause }: RunAttempt<R>,
  owner: RunOwner<R>,
  { items, addresses }: { items: RunItems, addresses: AddressGate },
  { store, ledger, grants, liveQuestions }: Pick<EngineDeps, 'store' | 'ledger' | 'grants' | 'liveQuestions'>
): Promise<{ asked: AskedCall[], isWaiting: boolean }> {
  const { run, signal } = live
  const { log, record: { runId, cwd, segment } } = run
  const { tools, told } = owner
  const newest = newestStep(log.events)
  const intended = intentsIn(newest)
  const locked = createKeyedLock()
  // A commit stores everything up to its own final events, so appending waits for it.
  const inOrder = (write: () => Promise<void>) => locked(runId, write)

  async function storeIntent (call: { toolCallId: string, grantId?: string }, ops: Op[], moved: readonly Approval[] = []): Promise<void> {
    const intent: RunEvent = { type: 'tool-intent', ...call }
    intended.add(call.toolCallId)
    await inOrder(() => commit({ finalEvents: [intent], ops: [...ledger.record(moved), ...ops] }))
  }

  const grantsIn = (folder: string): CallGrants => createCallGrants({
    ...{ grants, owner: owner.owner, cwd: folder, tools, learning: owner.learning },
    events: () => log.events,
    look: async ({ toolName: name, input }, at) => (await tools.foresee({ name, input, cwd: folder, folder: at, signal }))?.shown
  })
  const { rehearsed } = owner
  // What is done to a copy makes no file of the task, and is executed by no command of it.
  const inCopy = { made: async () => [], suspend: async () => [] }

  const ports: CallPorts = {
    tools,
    run: { runId, owner: owner.place, attempt, cwd, signal },
    events: newest,
    repeatsReads: owner.storesSteps,
    approvalOf: items.approvalOf,
    answerOf: items.answerOf,
    needsApproval: owner.needsApproval,
    deniesUngranted: owner.deniesUngranted,
    deniesQuestions: owner.deniesQuestions,
    grants: { ...grantsIn(cwd), ...rehearsed && inCopy },
    rehearsed: rehearsed && { ...rehearsed, grants: grantsIn(rehearsed.cwd) },
    addresses,
    async question ({ toolName, input }) {
      const reason = owner.asksAddresses(toolName) ? await tools.find(toolName)?.asks?.(input, { runId }) : undefined
      return reason === undefined ? undefined : { reason }
    },
    wasDenied: owner.wasDenied,
    checkLimit: () => checkLength(log),
    progress: ({ toolCallId, toolName }, progress) => log.append({ type: 'tool-progress', toolCallId, toolName, ...progress }),

    store: store.transact,

    async begin (call, isDurable, ops, grant) {
      const { toolCallId } = call
      const moved = isDurable || grant !== undefined ? items.moved(toolCallId, 'executing') : []
      if (grant !== undefined) {
        if (!await grants.use(grant, (used) => storeIntent({ toolCallId, grantId: grant.grantId }, [used, ...ops], moved))) return false
      } else if (isDurable) await storeIntent({ toolCallId }, ops, moved)
      else if (ops.length > 0) await store.transact(ops)
      items.keep(moved)
      told?.callBegun(call)
      return true
    },

    end: (call, { event: outcome, state, durationMs, ops = [] }) =>
      inOrder(async () => {
        const { toolCallId } = call
        const event = { ...outcome, ...(durationMs !== undefined && { durationMs }) }
        const shown = owner.shownWith?.(call, event) ?? []
        const { approval, answer } = items.ofCall(toolCallId)
        // The decision of the user is stored already.
        const isPlain = state === 'denied' || (approval === undefined && answer === undefined && !intended.has(toolCallId))
        if (isPlain && !owner.storesSteps) {
          if (ops.length > 0) await store.transact(ops)
          log.append(event)
          shown.forEach(log.append)
        } else {
          const moved = items.moved(toolCallId, state)
          const silent = answer === undefined ? [] : ledger.closeSilent(answer)
          await commit({
            finalEvents: [event, ...shown],
            changes: owner.changesOfCalls?.(),
            ops: [...silent, ...ledger.record(moved), ...ops]
          })
          items.keep(moved)
        }
        told?.callEnded(call, event)
      })
  }

  // A call that has asked has done more than read: its intent says that it had begun, and nobody is asked twice.
  if (owner.mayAskInCalls) {
    ports.ask = async ({ toolCallId }, questions) => {
      if (!intended.has(toolCallId)) await storeIntent({ toolCallId }, [])
      return pause(liveQuestions.ask({
        ...questions,
        ...{ owner: ownerOf(run.record), runId, segment, toolCallId },
        changed (item) {
          const fields = questionFields(item)
          if (item.state === 'pending') log.append({ type: 'question-request', ...fields })
          // The end of a run that was aborted tells of it itself.
          else if (!signal.aborted) log.append({ type: 'question-closed', ...fields, state: item.state })
          told?.questionAsked(item)
        }
      }))
    }
  }
  // The structured answer is taken when the other calls have their outcomes.
  const hasAnswer = await owed() !== undefined
  const settled = await settleCalls(openCalls(newest).filter((call) => !hasAnswer || !isAnswerCall(call)), ports)
  // Before a model gets to see the results.
  await addresses.note()
  return settled
}
