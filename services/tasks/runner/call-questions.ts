import { DENIED, inputDigest } from '../../approvals/approval-record.ts'
import type { AskedCall, Call, CallApproval } from '../../step/call-ports.ts'
import type { StoredRun } from '../task-records.ts'

const STATES = { open: 'open', approved: 'approved', rejected: 'denied' } as const

/** Returns the newest question about a call; undefined if none counts any more. */
export function approvalOf ({ questions }: StoredRun, toolCallId: string): CallApproval | undefined {
  const question = questions.findLast((question) => question.toolCallId === toolCallId)
  if (question === undefined || question.state === 'withdrawn') return undefined
  const { approvalId, identity, cwd, folder, notes = DENIED } = question
  return {
    approvalId,
    state: STATES[question.state],
    identity,
    ...(cwd !== undefined && folder !== undefined && { folder: { path: cwd, ...folder } }),
    reason: notes
  }
}

/** Whether a person denied the same call (same tool, same input) in this run. */
export function wasDenied ({ questions }: StoredRun, { toolName, input }: Call): boolean {
  const denied = questions.filter(({ tool, state }) => tool === toolName && state === 'rejected')
  return denied.length > 0 && denied.map((question) => inputDigest(question.input)).includes(inputDigest(input))
}

/** Returns the question about a call that needs an approval. */
export function questionAbout ({ toolCallId, toolName: tool, input, folder: { path: cwd, ...folder }, reason, identity }: AskedCall) {
  return { kind: 'tool' as const, toolCallId, tool, input, cwd, folder, ...(reason !== undefined && { reason }), identity }
}
