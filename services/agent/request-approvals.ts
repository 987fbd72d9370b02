import type { QuestionItem, ThreadItem } from '../contracts/approval-record.ts'
import { itemOfCall } from '../approvals/item-of-call.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import type { AskedCall } from '../contracts/call.ts'
import { isAppIdentity } from '../tools/app/app-tool.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment } from './answer-record.ts'
import type { RunAttempt } from './run-attempt.ts'

const APP = { app: true as const }

/** The fields of questions that readers of the run get. */
export const questionFields = ({ approvalId, toolCallId, questions, live, server, url, expiresAt }: QuestionItem) => ({
  approvalId,
  ...(toolCallId !== undefined && { toolCallId }),
  questions,
  ...(live && { live }),
  ...(server !== undefined && { server }),
  ...(url !== undefined && { url }),
  expiresAt
})

/** Returns the event that tells readers of an item that waits. */
export function requestEvent (item: ThreadItem): RunEvent {
  switch (item.kind) {
    case 'tool': {
      const { approvalId, toolCallId, toolName, input, cwd, note, scopes, expiresAt } = item
      const more = { ...(note !== undefined && { reason: note }), ...(scopes && { scopes }), ...(isAppIdentity(item.identity) && APP) }
      return { type: 'approval-request', approvalId, toolCallId, toolName, input, cwd, ...more, expiresAt }
    }
    case 'question':
      return { type: 'question-request', ...questionFields(item) }
    case 'app': {
      const { toolCallId, toolName, input, expiresAt } = item
      return { type: 'tool-call-request', toolCallId, toolName, input, expiresAt }
    }
  }
}

/**
 * Lets the run wait for calls: stores their items before any reader sees them, ends the segment and, with `stepFinish`, its step, and
 * leaves the run waiting. A new approval replaces the one of `decided` for the same call; the other items of the step keep their
 * state, and an approved call that the application now executes is `executing`.
 */
export async function requestApprovals (
  calls: AskedCall[],
  decided: ThreadItem[],
  stepFinish: RunEvent | undefined,
  { live, conversation, activeMs }: RunAttempt,
  deps: AgentDeps
) {
  const { ledger, conversations } = deps
  const { run } = live
  const { runId, threadId, segment, usage, unheard = [] } = run.head
  const { items, ops } = ledger.ask({ threadId }, calls.map((call) => itemOfCall(call, { runId, segment })))
  const isOfStep = inNewestStep(run.log.events)
  const earlier = decided.filter(isOfStep)
  const newItemOf = ({ toolCallId }: ThreadItem) => items.find((item) => item.toolCallId === toolCallId)
  const changes = earlier.flatMap((item) => {
    const next = newItemOf(item)
    if (item.kind !== 'tool' || item.state !== 'approved' || next === undefined) return []
    return next.kind === 'app' ? [ledger.move(item, 'executing').op] : [ledger.replace(item, next.approvalId)]
  })
  const isReplaced = (item: ThreadItem) => item.kind === 'tool' && newItemOf(item)?.kind === 'tool'
  run.head = {
    ...run.head,
    activeMs: activeMs(),
    asked: [...earlier.filter((item) => !isReplaced(item)), ...items].map(({ approvalId }) => approvalId),
    unheard: [...unheard, ...live.endSteering()]
  }
  await endSegment(run, deps, {
    finalEvents: [
      ...items.map(requestEvent),
      ...stepFinish ? [stepFinish] : [],
      { type: 'finish', finishReason: 'tool-calls', usage: { ...usage } }
    ],
    ops: [...ops, ...changes, conversations.asked(conversation, runId)]
  })
}

/** Returns whether an item belongs to a call of the newest step. */
function inNewestStep (events: readonly RunEvent[]): (item: ThreadItem) => boolean {
  const newest = events.slice(events.findLastIndex(({ type }) => type === 'step-start'))
  const calls = new Set(newest.flatMap((event) => event.type === 'tool-input' ? [event.toolCallId] : []))
  return ({ toolCallId }) => toolCallId !== undefined && calls.has(toolCallId)
}
