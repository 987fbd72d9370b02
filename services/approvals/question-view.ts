import type { TaskQuestion } from '../../schemas/task-runs.ts'
import type { TaskApproval, ThreadApproval } from '../contracts/approval-record.ts'

/** The part of an open approval that runs, events and the digest include. */
export function questionView (item: TaskApproval | ThreadApproval): TaskQuestion {
  const { approvalId, createdAt, expiresAt } = item
  const times = { createdAt, expiresAt }
  switch (item.kind) {
    case 'tool': {
      const { kind, toolName, input, cwd, note: reason, scopes } = item
      return { approvalId, kind, toolName, input, cwd, reason, scopes, ...times }
    }
    case 'question': {
      const { kind, questions, live, server, url } = item
      return { approvalId, kind, questions, live, server, url, ...times }
    }
    case 'result':
      return { approvalId, kind: item.kind, output: item.output, ...times }
  }
}
