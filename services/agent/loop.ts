import {
  askItems,
  createRunActions,
  createRunItems,
  directOutput,
  drive,
  type ExecutedRun,
  finishOf
} from '../runs/index.ts'
import { requestEvent } from '../approvals/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import type { Approval } from '../contracts/approval-record.ts'
import { conversationOwner } from './conversation-owner.ts'
import { endSegment, finish } from './end-run.ts'
import type { Context } from './run-prompt.ts'

/** Makes a run wait for calls: stores the items of the calls before any reader sees these items, and ends the step and the segment. */
async function requestApprovals (executed: ExecutedRun, { live, conversation, activeMs }: ConversationAttempt, deps: AgentDeps) {
  const { ledger, conversations } = deps
  const { run } = live
  const { runId, asked } = run.record
  const { items, moved } = askItems(run.record, executed, { ledger })
  const { stepFinish } = executed
  run.record = { ...run.record, activeMs: activeMs(), asked: [...asked, ...items.map(({ approvalId }) => approvalId)] }
  await endSegment(run, deps, {
    finalEvents: [
      ...deps.host.shown(items.map(requestEvent)),
      ...stepFinish ? [stepFinish] : [],
      finishOf(run.record, 'tool-calls')
    ],
    ops: [...ledger.record([...items, ...moved]), conversations.asked(conversation, runId)]
  })
}

/**
 * Runs steps until the model has answered or a call must wait. The last event is `finish`. `asked` are the items that a continued run had
 * created before it waited.
 */
export async function runSteps (attempt: ConversationAttempt, context: Context, deps: AgentDeps, asked: readonly Approval[] = []) {
  const items = createRunItems(asked)
  const { live } = attempt
  const { advice } = context
  const output = advice && {
    ...directOutput(live),
    append: advice.append,
    backpressure () {
      advice.release()
      return live.backpressure()
    }
  }
  const run = createRunActions(attempt, conversationOwner(attempt, context, deps), deps, { items, output })
  await drive(run.actions)
  // The analysis must be in the log before the end: the answer that follows an approval is reviewed, too.
  await advice?.settle()
  return run.isWaiting ? requestApprovals(run, attempt, deps) : finish(attempt, deps, run.answer)
}
