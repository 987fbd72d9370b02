import { defineError } from '../lib/service-error.ts'
import type { Approval } from '../approvals/approval-record.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { approvalResponses } from './approval-answers.ts'
import { requestAgain, requestEvent } from './ask-anew.ts'
import type { RunRequest } from './start.ts'
import { executeDecisions } from '../step/settle-calls.ts'
import type { ConversationState } from './refused-calls.ts'
import type { RunCollaborators } from './launch-run.ts'
import { subscribeToRecorded, type Subscription } from './active-runs.ts'
import { runSteps } from './loop.ts'
import { toPrompt } from './message-import.ts'
import { threadPlacement, threadPosition, WHOLE_THREAD } from './thread-history.ts'
import { loadRun, storedSegment } from './run-repository.ts'

const RunGone = defineError(
  'ERR_RUN_GONE',
  'The run of this approval request is no longer stored; send the message to the agent again.'
)
const MovedOn = defineError(
  'ERR_CONVERSATION_MOVED_ON',
  'A newer message superseded the run of this approval request; the run cannot continue.'
)

/** Records the answers to approval requests and resumes the run that requested them. */
export function createResumeRun ({ deps, activeRuns, launch, locked }: RunCollaborators) {
  const { store, ledger, conversations } = deps

  /** Subscribes to, replays, or starts the segment that follows the step of these approvals. */
  async function resume (
    approvals: Approval[],
    conversation: ConversationState,
    { resumable = false, protocol }: RunRequest
  ): Promise<Subscription> {
    const { runId, threadId } = approvals[0]
    const segment = Math.max(...approvals.map((approval) => approval.segment)) + 1
    const live = await activeRuns.current(threadId)
    if (live?.run.head.runId === runId) {
      if (live.run.head.segment >= segment) return live.subscribe(segment, protocol)
      // The run has requested the approvals and is about to end.
      await live.done
    }
    const run = await loadRun(store, runId)
    if (run === undefined) throw new RunGone()
    const { head, log } = run
    const recorded = storedSegment(run, segment)
    if (recorded !== undefined) return subscribeToRecorded(head, recorded, protocol)
    // A newer message superseded this run and took the position of its answer in the thread; do not resume it.
    if (conversation.runId !== runId) throw new MovedOn()

    const asked = await ledger.all(head.asked)
    const start: RunEvent = { type: 'start', messageId: head.messageId, threadId, runId }
    const open = asked.filter(ledger.isOpen)
    if (open.length > 0) {
      return subscribeToRecorded(head, [start, ...open.map(requestEvent), {
        type: 'finish',
        finishReason: 'tool-calls',
        usage: head.usage
      }], protocol)
    }
    const resumed = await activeRuns.admit(threadId, async () => {
      const history = head.history ?? WHOLE_THREAD
      const { origins, ...context } = await toPrompt(
        run.messages,
        deps.host.forModel,
        (n) => ({ name: `messages[${threadPosition(history, n)}] of the thread`, isStored: true })
      )
      if (head.segment < segment) {
        run.head = { ...head, segment }
        log.append(start)
      }
      return launch({
        run,
        conversation,
        resumable,
        protocol,
        async work (attempt) {
          const moved = await executeDecisions(asked, attempt, deps)
          if (moved.length > 0) await requestAgain(asked, moved, attempt, deps)
          else await runSteps(attempt, { ...context, ...threadPlacement(origins, head.history) }, deps)
        }
      })
    })
    return resumed.subscribe(segment)
  }

  return async function answer (request: RunRequest): Promise<Subscription> {
    const responses = approvalResponses(request)
    const decisions = responses.includesOlder ? await ledger.currentApprovals(responses.decisions) : responses.decisions
    const { threadId } = await ledger.require(decisions[0].approvalId)
    return locked(threadId, async () => {
      const { approvals, decided } = await ledger.decide(decisions, request.id)
      let conversation = await conversations.get(threadId)
      const ops = ledger.record(decided)
      const refused = decided.filter(({ approved }) => !approved)
      if (refused.length > 0) {
        const denied = conversations.deny(conversation, refused)
        conversation = denied.conversation
        ops.push(denied.op)
      }
      if (ops.length > 0) await store.transact(ops)
      return resume(approvals, conversation, request)
    })
  }
}
