import { type AddressGate, type CallGrants, createCallGrants, questionFields } from '../../approvals/index.ts'
import { type Approval, ownerOf, type QuestionItem, type WaitingCall } from '../../contracts/approval-record.ts'
import { newestStep, openCalls, type RunEvent } from '../../contracts/run-events.ts'
import { isSourceTool, type Call, type CallQuestions, type QuestionOutcome } from '../../contracts/tool.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { Op } from '../../store/index.ts'
import { isAnswerCall } from '../answers/take-answer.ts'
import type { RunItems } from '../engine/asked-items.ts'
import type { EngineDeps, RunAttempt } from '../engine/attempt.ts'
import type { RunOwner } from '../engine/run-owner.ts'
import { intentsIn } from '../run-log/open-calls.ts'
import type { RunLog } from '../run-log/run-log.ts'
import type { RunRecord } from '../run-record.ts'
import { checkLength } from '../run-repository.ts'
import { withLine } from '../sheets/sheet-lines.ts'
import type { RunTask } from '../../../schemas/agent.ts'
import type { CallEnd } from './call-end.ts'
import { settleCalls } from './settle-calls.ts'
import type { SettledStep } from './settled-step.ts'

interface Parts<R extends RunRecord> {
  attempt: RunAttempt<R>
  owner: RunOwner<R>
  /** The items that the run has requested. */
  items: RunItems
  addresses: AddressGate
  deps: Pick<EngineDeps, 'store' | 'ledger' | 'grants' | 'liveQuestions'>
}

/** Settles the open calls of the newest step and returns those that wait. */
export async function settleStep<R extends RunRecord> (parts: Parts<R>): Promise<{ asked: WaitingCall[], isWaiting: boolean }> {
  const { attempt: { live: { run, signal }, attempt, owed }, owner, items, addresses, deps: { ledger } } = parts
  const { log, record: { runId, cwd, sheet, options } } = run
  const { tools } = owner
  const newest = newestStep(log.events)
  // A change in a copy does not count as a file that the task made, and suspends no grant of a command.
  const inCopy = { made: async () => [], suspend: async () => [] }
  const step: SettledStep = {
    run: { runId, owner: owner.place, attempt, cwd, signal },
    policy: owner.policy,
    tools,
    begun: intentsIn(newest),
    itemsOf: items.ofCall,
    isOpen: ledger.isOpen,
    refused: owner.refused ?? items.refused(),
    addresses,
    grants: { ...grantsIn(cwd, parts), ...sheet && inCopy },
    rehearsal: sheet && {
      cwd: sheet.cwd,
      isOnCopy: options?.workspace === 'copy',
      grants: grantsIn(sheet.cwd, parts),
      note: (line) => {
        run.record = withLine(run.record, line)
      }
    },
    repeatsReads: owner.kind === 'task',
    ahead: { files: new Map(), others: new Set(), calls: [], isKnown: true },
    checkLimit: () => checkLength(log),
    progress: ({ toolCallId, toolName }, progress) => log.append({ type: 'tool-progress', toolCallId, toolName, ...progress }),
    ...createCallWriter(parts)
  }
  // The structured answer is taken when all other calls have their outcomes.
  const hasAnswer = await owed() !== undefined
  const settled = await settleCalls(openCalls(newest).filter((call) => !hasAnswer || !isAnswerCall(call)), step)
  // The provenance must be on disk before a model sees the results.
  await addresses.note()
  return settled
}

/** Returns the grants of the owner for calls that work in the folder. */
function grantsIn<R extends RunRecord> (cwd: string, { attempt: { live }, owner, deps: { grants } }: Parts<R>): CallGrants {
  const { run, signal } = live
  const { tools } = owner
  return createCallGrants({
    ...{ grants, owner: ownerOf(run.record), cwd, tools, learning: owner.learning },
    events: () => run.log.events,
    look: async ({ toolName: name, input }, folder) => (await tools.foresee({ name, input, cwd, folder, signal }))?.shown
  })
}

/**
 * Stores the beginnings and the outcomes of the calls of a step. The outcome of a call that has a ledger item or an intent (the record that
 * its tool was about to start) is stored before the run continues. In runs of tasks, every outcome is.
 */
function createCallWriter<R extends RunRecord> (
  { attempt: { live, commit, pause }, owner, items, deps: { store, ledger, grants, liveQuestions } }: Parts<R>
): Pick<SettledStep, 'store' | 'begin' | 'end' | 'ask'> {
  const { run, signal } = live
  const { log, record: { runId, segment } } = run
  const intended = intentsIn(newestStep(log.events))
  const locked = createKeyedLock()
  // A commit stores the new events and then its own final events, so other events are appended only after the commit.
  const inOrder = (write: () => Promise<void>) => locked(runId, write)
  const storeSome = async (ops: Op[]) => ops.length > 0 ? store.transact(ops) : undefined

  async function storeIntent (call: { toolCallId: string, grantId?: string }, ops: Op[], moved: readonly Approval[] = []): Promise<void> {
    const intent: RunEvent = { type: 'tool-intent', ...call }
    intended.add(call.toolCallId)
    await inOrder(() => commit({ finalEvents: [intent], ops: [...ledger.record(moved), ...ops] }))
  }

  // A call that asks the user gets an intent, even if it only reads, so that the user is not asked twice.
  async function ask ({ toolCallId }: Call, questions: CallQuestions): Promise<QuestionOutcome> {
    if (!intended.has(toolCallId)) await storeIntent({ toolCallId }, [])
    return pause(liveQuestions.ask({
      ...questions,
      ...{ owner: ownerOf(run.record), runId, segment, toolCallId },
      changed: (item) => tellQuestion(item, { log, signal, tell: owner.tell })
    }))
  }

  return {
    store: storeSome,

    async begin (call, isDurable, ops, grant) {
      const { toolCallId } = call
      const moved = isDurable || grant !== undefined ? items.moved(toolCallId, 'executing') : []
      if (grant !== undefined) {
        if (!await grants.use(grant, (used) => storeIntent({ toolCallId, grantId: grant.grantId }, [used, ...ops], moved))) return false
      } else if (isDurable) await storeIntent({ toolCallId }, ops, moved)
      else await storeSome(ops)
      items.keep(moved)
      owner.tell?.({ is: 'call-begun', call })
      return true
    },

    end: (call, { event: outcome, state, durationMs, ops = [] }) =>
      inOrder(async () => {
        const { toolCallId } = call
        const event = { ...outcome, ...(durationMs !== undefined && { durationMs }) }
        const beside = owner.kind === 'conversation' ? taskBeside(event, owner.tools) : []
        const { approval, answer } = items.ofCall(toolCallId)
        // A denial needs no further write, because the user's decision is stored already.
        const isPlain = state === 'denied' || (approval === undefined && answer === undefined && !intended.has(toolCallId))
        if (isPlain && owner.kind === 'conversation') {
          await storeSome(ops)
          log.append(event)
          beside.forEach(log.append)
        } else {
          const moved = items.moved(toolCallId, state)
          const silent = answer === undefined ? [] : ledger.closeSilent(answer)
          await commit({ finalEvents: [event, ...beside], ops: [...silent, ...ledger.record(moved), ...ops] })
          items.keep(moved)
        }
        owner.tell?.({ is: 'call-ended', call, event })
      }),
    ...owner.policy.answersInCalls && { ask }
  }
}

/** Returns the event for the readers of a conversation about a task that a tool has made or changed; none for other calls. */
function taskBeside (event: CallEnd['event'], tools: RunOwner['tools']): RunEvent[] {
  if (event.type !== 'tool-output' || !('task' in event.output)) return []
  const tool = tools.find(event.toolName)
  return tool === undefined || isSourceTool(tool) ? [] : [{ type: 'task', task: event.output.task as RunTask }]
}

/**
 * Reports a question in the middle of a call, and its end, to the readers of the run. If the run is aborted, the end of the run reports the
 * end of the question.
 */
function tellQuestion (
  item: QuestionItem,
  { log, signal, tell }: { log: RunLog, signal: AbortSignal, tell: RunOwner['tell'] }
): void {
  const fields = questionFields(item)
  if (item.state === 'pending') log.append({ type: 'question-request', ...fields })
  else if (!signal.aborted) log.append({ type: 'question-closed', ...fields, state: item.state })
  tell?.({ is: 'question', item })
}
