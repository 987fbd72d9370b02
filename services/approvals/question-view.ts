import type { TaskQuestion } from '../../schemas/task-runs.ts'
import type { QuestionItem, TaskApproval, ThreadApproval } from '../contracts/approval-record.ts'

/** The part of an open approval that runs, events and the digest include. */
export function questionView (item: TaskApproval | ThreadApproval): TaskQuestion {
  const { approvalId, createdAt, expiresAt } = item
  const times = { createdAt, expiresAt }
  switch (item.kind) {
    case 'tool':
      return {
        approvalId,
        kind: item.kind,
        toolName: item.toolName,
        input: item.input,
        cwd: item.cwd,
        ...(item.note !== undefined && { reason: item.note }),
        ...(item.scopes && { scopes: item.scopes }),
        ...times
      }
    case 'question':
      return { approvalId, kind: item.kind, questions: item.questions, ...liveFields(item), ...times }
    case 'result':
      return { approvalId, kind: item.kind, ...(item.output !== undefined && { output: item.output }), ...times }
  }
}

const liveFields = ({ live, server, url }: QuestionItem) => ({
  ...(live && { live }),
  ...(server !== undefined && { server }),
  ...(url !== undefined && { url })
})
