import type { Approval } from '../approvals/approval-record.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { askedAgain, type WorkFolder } from '../tools/work-folder.ts'
import type { RunAttempt } from '../step/settle-calls.ts'
import type { AgentDeps } from './agent-deps.ts'
import { endSegment } from './answer-record.ts'

/** An approved call that did not run, since the folder it was approved for has changed. */
export interface MovedCall {
  approval: Approval
  to: WorkFolder
}

/** What readers of a run are told of a request for approval. */
export const requestEvent = ({ approvalId, toolCallId, toolName, input, cwd, note }: Approval): RunEvent => ({
  type: 'approval-request',
  approvalId,
  toolCallId,
  toolName,
  input,
  cwd,
  ...(note !== undefined && { reason: note })
})

/** What an approval keeps of the folder that is shown with it. */
export const boundTo = ({ path, ...folder }: WorkFolder): Pick<Approval, 'cwd' | 'folder'> => ({ cwd: path, folder })

/** The folder that was shown with a request; undefined on requests of earlier versions. */
export const shownFolder = ({ cwd, folder }: Approval): WorkFolder | undefined => folder && { path: cwd, ...folder }

/**
 * Ends the segment with new requests in the place of approved ones whose folder has changed. The old ones are over in the
 * same batch. `asked` are all requests of the step: the others keep what became of them.
 */
export async function askAnew (asked: Approval[], moved: MovedCall[], { live }: RunAttempt, deps: AgentDeps) {
  const { run } = live
  const { approvals, ops } = deps.ledger.ask(moved.map(({ approval, to }) => {
    const { runId, threadId, toolCallId, toolName, input, cwd } = approval
    const note = askedAgain(cwd, to)
    const identity = deps.host.identity(toolName)
    return { runId, threadId, toolCallId, toolName, input, ...boundTo(to), note, identity, segment: run.head.segment }
  }))
  const replacement = new Map(moved.map(({ approval }, n) => [approval.approvalId, approvals[n].approvalId]))
  const { unheard = [] } = run.head
  run.head = {
    ...run.head,
    asked: asked.map(({ approvalId }) => replacement.get(approvalId) ?? approvalId),
    unheard: [...unheard, ...live.endSteering()]
  }
  await endSegment(run, deps, {
    tail: [...approvals.map(requestEvent), { type: 'finish', finishReason: 'tool-calls', usage: run.head.usage }],
    ops: [...ops, ...moved.map(({ approval }) => deps.ledger.replace(approval, replacement.get(approval.approvalId)!))]
  })
}
