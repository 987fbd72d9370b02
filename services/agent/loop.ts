import {
  askItems,
  createRunActions,
  createRunItems,
  drive,
  type ExecutedRun,
  finishOf,
  type ModelCalls,
  requestEvent
} from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment } from './answer-record.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import type { Approval } from '../contracts/approval-record.ts'
import { conversationOwner } from './conversation-owner.ts'
import { finish } from './end-run.ts'
import type { Context } from './run-prompt.ts'

/**
 * Lets the run wait for calls: stores their items before any reader sees them, ends the segment and its step, and leaves the run waiting.
 */
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

/** What a run begins its steps with. */
interface Start {
  /** Makes the model calls; given if the first one was begun beforehand. */
  callModel?: ModelCalls
  /** What a run that continues has asked. */
  asked?: readonly Approval[]
}

/** Runs steps until the model has answered or a call must wait. The events end with `finish`. */
export async function runSteps (attempt: ConversationAttempt, context: Context, deps: AgentDeps, { callModel, asked = [] }: Start = {}) {
  const items = createRunItems(asked, deps.ledger.isOpen)
  const run = createRunActions(attempt, conversationOwner(attempt, context, deps), deps, { items, callModel })
  await drive(run.actions)
  return run.isWaiting ? requestApprovals(run, attempt, deps) : finish(attempt, deps, run.answer)
}
