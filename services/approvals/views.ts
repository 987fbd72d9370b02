import type { ApprovalView, DecidedApproval } from '../../schemas/approvals.ts'
import type { TaskQuestion } from '../../schemas/task-runs.ts'
import {
  type Answered,
  type Approval,
  type CallItem,
  ownerOf,
  type QuestionItem,
  type TaskApproval,
  type ThreadApproval,
  type ToolItem
} from '../contracts/approval-record.ts'
import type { Boundary } from '../contracts/boundary.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { describeBoundary } from '../sandbox/index.ts'
import { isAppIdentity } from '../tools/index.ts'
import { offersUnbound } from './decide-approval.ts'

// The forms in which people, apps and readers of runs get the items of the ledger.

/** Returns the field of an approval request that says where its command would run; nothing for other calls. */
export const shownBoundary = (boundary: Boundary | undefined): { boundary?: { is: Exclude<Boundary['is'], 'refused'>, text: string } } =>
  boundary === undefined || boundary.is === 'refused' ? {} : { boundary: { is: boundary.is, text: describeBoundary(boundary) } }

/** Returns the fields of an approval request for a tool call that are in all of its views. */
const callFields = ({ toolName, input, cwd, note: reason, reasons, boundary, toolServer, scopes }: ToolItem) =>
  ({ toolName, input, cwd, reason, reasons, ...shownBoundary(boundary), toolServer, scopes })

/** Returns the fields of an open approval that are shown in runs, events and the digest. */
export function questionView (item: TaskApproval | ThreadApproval): TaskQuestion {
  const { approvalId, createdAt, expiresAt } = item
  const times = { createdAt, expiresAt }
  switch (item.kind) {
    case 'tool':
      return { approvalId, kind: item.kind, ...callFields(item), teaches: item.teaches, ...times }
    case 'question': {
      const { kind, questions, budget, live, server, url } = item
      return { approvalId, kind, questions, budget, live, server, url, ...times }
    }
    case 'result':
      return { approvalId, kind: item.kind, output: item.output, teaches: item.teaches, ...times }
  }
}

/** Returns the public form of an approval, without the internal fields. */
export function approvalView (approval: Exclude<Approval, { kind: 'app' }>): ApprovalView {
  if (approval.kind === 'task') return approval
  const { segment, ...item } = approval
  switch (item.kind) {
    case 'question': {
      const { answers, ...view } = item
      return view
    }
    case 'result': {
      const { approved, learned, ...view } = item
      return view
    }
    case 'tool': {
      const { approved, identity, folder, replacedBy, releasedBy, places, granted, others, previewDigest, behind, ...call } = item
      const { scopes, boundary, asks, shown: bound, ...view } = call
      return { ...view, ...shownBoundary(boundary), ...(scopes && { scopes }), ...(offersUnbound(item) && { unboundOffered: true }) }
    }
  }
}

/** Returns the fields of questions that readers of the run get. */
export const questionFields = ({ approvalId, toolCallId, questions, budget, live, server, url, expiresAt }: QuestionItem) =>
  ({ approvalId, toolCallId, questions, budget, live, server, url, expiresAt })

/** Returns the public form of a decision. */
export const decidedView = ({ item, released = [], continued }: Answered): DecidedApproval => ({
  ...ownerOf(item),
  approvalId: item.approvalId,
  state: item.state as DecidedApproval['state'],
  runId: item.runId,
  continued,
  learned: item.kind === 'result' ? item.learned : undefined,
  released: released.length > 0 ? released.map(({ approvalId }) => approvalId) : undefined
})

/** Returns the event that reports a waiting item to the readers of its run. */
export function requestEvent (item: CallItem): RunEvent {
  switch (item.kind) {
    case 'tool': {
      const { approvalId, toolCallId, identity, expiresAt } = item
      const app = isAppIdentity(identity) && { app: true as const }
      return { type: 'approval-request', approvalId, toolCallId, ...callFields(item), ...app, expiresAt }
    }
    case 'question':
      return { type: 'question-request', ...questionFields(item) }
    case 'app': {
      const { toolCallId, toolName, input, expiresAt } = item
      return { type: 'tool-call-request', toolCallId, toolName, input, expiresAt }
    }
  }
}
