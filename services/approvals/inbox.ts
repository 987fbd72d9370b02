import type { ApprovalDecision, ApprovalPreview, DecidedApproval } from '../../schemas/approvals.ts'
import type { Decision } from './decision.ts'
import { AnswersRefused } from './questions/check-answers.ts'
import type { ToolHost } from '../tools/index.ts'
import { type ToolItem, isOfTask, isOfThread } from '../contracts/approval-record.ts'
import type { Ledger } from './ledger.ts'
import type { LiveQuestions } from './questions/live-questions.ts'
import { ApprovalNotFound } from './approval-errors.ts'

/** Returns the decision of a request: answers to questions count as approval. Throws AnswersRefused (400) unless it is one decision. */
function givenDecision (approvalId: string, { approved, answers, reason, ...granted }: ApprovalDecision): Decision {
  if (approved === undefined && answers === undefined) {
    throw new AnswersRefused('Give "approved", true or false, or the "answers" to questions.')
  }
  if (approved === false && answers !== undefined) {
    throw new AnswersRefused('Questions are either answered, with "answers", or declined, with "approved": false.')
  }
  return { approvalId, approved: approved ?? true, ...(answers && { answers }), ...(reason && { reason }), ...granted }
}

/**
 * Returns what the call of an approval would change, as the files are now, without changing anything. A call that its tool would
 * refuse has the reason in `refused`.
 */
async function previewCall (
  tools: Pick<ToolHost, 'find'>,
  { toolName, input, cwd }: Pick<ToolItem, 'toolName' | 'input' | 'cwd'>,
  signal: AbortSignal
): Promise<ApprovalPreview> {
  const tool = tools.find(toolName)
  if (tool?.willChange === undefined) return { changes: [] }
  try {
    const places = await tool.willChange(input, { cwd, givenCwd: cwd })
    const diff = await tool.preview?.(input, { cwd, signal })
    return { changes: places.map((place) => ({ ...place, ...diff !== undefined && { diff } })) }
  } catch (error) {
    return { changes: [], refused: error instanceof Error ? error.message : String(error) }
  }
}

export type Inbox = ReturnType<typeof createInbox>

/** All that waits for a person, of conversations and of tasks. Whose an approval is decides only who continues its run. */
export function createInbox ({ ledger, live, tools, agent, tasks }: {
  ledger: Pick<Ledger, 'list' | 'require' | 'isOpen'>,
  live: Pick<LiveQuestions, 'clean' | 'has' | 'decide'>,
  tools: Pick<ToolHost, 'find'>,
  agent: { decide(threadId: string, decision: Decision): Promise<DecidedApproval> },
  tasks: { decide(taskId: string, decision: Decision): Promise<DecidedApproval> }
}) {
  /** The run of live questions is executing, and goes on. */
  async function decideLive (decision: Decision): Promise<DecidedApproval> {
    const { approvalId, state, runId, threadId, taskId } = await live.decide(decision.approvalId, decision)
    return { approvalId, state, runId, ...(taskId === undefined ? { threadId } : { taskId }), continued: true }
  }

  return {
    async list (query: Parameters<Ledger['list']>[0]): ReturnType<Ledger['list']> {
      await live.clean()
      return ledger.list(query)
    },

    /** Returns what an open tool call would change; nothing for what is decided or no tool call. Throws ApprovalNotFound (404). */
    async preview (approvalId: string, signal: AbortSignal): Promise<ApprovalPreview> {
      const approval = await ledger.require(approvalId)
      return approval.kind === 'tool' && ledger.isOpen(approval) ? previewCall(tools, approval, signal) : { changes: [] }
    },

    /**
     * Decides an approval. When it was the last open one of its step, the run goes on; no request needs to wait for it. Throws
     * ApprovalNotFound (404), the errors of `decideApproval` (409, 410), and those of a run that cannot go on.
     */
    async decide (approvalId: string, given: ApprovalDecision): Promise<DecidedApproval> {
      const decision = givenDecision(approvalId, given)
      await live.clean()
      if (live.has(approvalId)) return decideLive(decision)
      const approval = await ledger.require(approvalId)
      if (isOfThread(approval)) return agent.decide(approval.threadId, decision)
      if (isOfTask(approval)) return tasks.decide(approval.taskId, decision)
      throw new ApprovalNotFound(approvalId)
    }
  }
}
