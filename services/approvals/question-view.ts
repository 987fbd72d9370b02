import type { TaskQuestion } from '../../schemas/task-runs.ts'
import type { Boundary } from '../contracts/boundary.ts'
import { describeBoundary } from '../sandbox/index.ts'
import type { TaskApproval, ThreadApproval } from '../contracts/approval-record.ts'

/** Returns the field of a request for approval that says where its command would run; nothing for other calls. */
export const shownBoundary = (boundary: Boundary | undefined): { boundary?: { is: Exclude<Boundary['is'], 'refused'>, text: string } } =>
  boundary === undefined || boundary.is === 'refused' ? {} : { boundary: { is: boundary.is, text: describeBoundary(boundary) } }

/** The part of an open approval that runs, events and the digest include. */
export function questionView (item: TaskApproval | ThreadApproval): TaskQuestion {
  const { approvalId, createdAt, expiresAt } = item
  const times = { createdAt, expiresAt }
  switch (item.kind) {
    case 'tool': {
      const { kind, toolName, input, cwd, note: reason, reasons, boundary, toolServer, scopes, teaches } = item
      return { approvalId, kind, toolName, input, cwd, reason, reasons, ...shownBoundary(boundary), toolServer, scopes, teaches, ...times }
    }
    case 'question': {
      const { kind, questions, live, server, url } = item
      return { approvalId, kind, questions, live, server, url, ...times }
    }
    case 'result':
      return { approvalId, kind: item.kind, output: item.output, teaches: item.teaches, ...times }
  }
}
