import type { MovedCall } from '../approvals/approved-folder.ts'
import { shownFolder } from '../approvals/approved-folder.ts'
import { DENIED, inputDigest, type Approval } from '../approvals/approval-record.ts'
import { openCalls } from '../run-log/open-calls.ts'
import { settleCalls, type AskedCall, type Call, type CallApproval, type CallEnd } from '../step/step-calls.ts'
import { recordAnswer } from './answer-record.ts'
import type { AgentDeps } from './agent-deps.ts'
import { wasDenied } from './refused-calls.ts'
import type { RunAttempt } from './run-attempt.ts'
import { checkLength, commit } from './run-repository.ts'

/** Settles the open calls of the newest step and returns those that need an approval. */
export const settleStep = (attempt: RunAttempt, deps: AgentDeps): Promise<AskedCall[]> => settle([], attempt, deps)

/**
 * Executes the decisions on the calls of a step. The outcome of each call is stored in the thread immediately. Returns the
 * approved calls that did not run because their working folder is no longer the one that was shown.
 */
export async function executeDecisions (approvals: Approval[], attempt: RunAttempt, deps: AgentDeps): Promise<MovedCall[]> {
  const { run } = attempt.live
  const asked = await settle(approvals, attempt, deps)
  // Requests for moved calls are committed with the end of the segment.
  if (asked.length === 0 && run.stored < run.log.events.length) await commit(run, deps)
  return asked.map(({ toolCallId, folder }) => ({ approval: approvals.find((asked) => asked.toolCallId === toolCallId)!, to: folder }))
}

/** Settles the open calls of these approvals or, without approvals, all open calls of the run. */
async function settle (approvals: Approval[], attempt: RunAttempt, deps: AgentDeps): Promise<AskedCall[]> {
  const { live: { run, signal }, conversation } = attempt
  const { ledger, host } = deps
  const { log, head: { runId, cwd } } = run
  const byCall = new Map(approvals.map((approval) => [approval.toolCallId, approval]))
  const calls = openCalls(log.events).filter(({ toolCallId }) => approvals.length === 0 || byCall.has(toolCallId))
  const intended = new Set<string>()
  let writing: Promise<unknown> = Promise.resolve()

  /** Appends to the log one after the other, because a commit stores everything up to its own final events. */
  function inOrder (write: () => Promise<void>): Promise<void> {
    const written = writing.then(write)
    writing = written.catch(() => {})
    return written
  }

  /** An intent is needed only if the run is on disk: no other run continues after a crash. */
  async function begin ({ toolCallId }: Call, isDurable: boolean): Promise<void> {
    if (!isDurable || !run.durable) return
    intended.add(toolCallId)
    const approval = byCall.get(toolCallId)
    const executing = approval && ledger.move(approval, 'executing')
    await inOrder(() => commit(run, deps, { finalEvents: [{ type: 'tool-intent', toolCallId }], ops: executing ? [executing.op] : [] }))
    if (executing !== undefined) byCall.set(toolCallId, executing.approval)
  }

  /** Stores the outcome with the state of its approval. Other outcomes are stored with their step. */
  const end = ({ toolCallId }: Call, { event, state }: CallEnd): Promise<void> =>
    inOrder(async () => {
      const approval = byCall.get(toolCallId)
      if (state === 'denied' || (approval === undefined && !intended.has(toolCallId))) return log.append(event)
      const ops = approval === undefined ? [] : state === 'expired' ? ledger.expire(approval) : [ledger.move(approval, state).op]
      await commit(run, deps, { finalEvents: [event], ops: [...ops, ...await recordAnswer(run, deps, [event])] })
    })

  const { asked } = await settleCalls(calls, {
    tools: host,
    run: { runId, attempt: attempt.attempt, cwd, signal },
    events: log.events,
    repeatsReads: false,
    approvalOf (toolCallId) {
      const approval = byCall.get(toolCallId)
      return approval && callApproval(approval)
    },
    needsApproval: (toolName) => host.permission(toolName) === 'ask',
    wasDenied: ({ toolName, input }) => wasDenied(conversation, toolName, inputDigest(input)),
    checkLimit: () => checkLength(log),
    begin,
    end
  })
  return asked
}

/** Returns the approval as the step sees it. A run continues only when none of its approvals is open any more. */
function callApproval (approval: Approval): CallApproval {
  const { approvalId, identity, reason = DENIED } = approval
  const state = approval.state === 'approved' || approval.state === 'denied'
    ? approval.state
    : approval.state === 'executing' || approval.state === 'unknown' ? 'begun' : 'expired'
  return { approvalId, state, identity, folder: shownFolder(approval), reason }
}
