import type { Approval } from '../contracts/approval-record.ts'
import { createRunActions, createRunItems, drive, type ModelCalls } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { conversationOwner } from './conversation-owner.ts'
import { finish } from './end-run.ts'
import type { ConversationAttempt } from './conversation-attempt.ts'
import { requestApprovals } from './request-approvals.ts'
import type { Context } from './run-prompt.ts'

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
