import type { CallPorts } from '../step/call-ports.ts'
import type { AgentDeps } from './agent-deps.ts'
import { questionFields } from './request-approvals.ts'
import type { RunAttempt } from './run-attempt.ts'

/** Asks the user in the middle of a call: the run goes on, its time limit pauses, and its stream has the questions and their end. */
export function askInCall (
  { live: { run, signal }, pause }: RunAttempt,
  { liveQuestions }: Pick<AgentDeps, 'liveQuestions'>
): NonNullable<CallPorts['ask']> {
  const { runId, threadId, segment } = run.head
  return ({ toolCallId }, questions) =>
    pause(liveQuestions.ask({
      ...questions,
      ...{ owner: { threadId }, runId, segment, toolCallId },
      changed (item) {
        const fields = questionFields(item)
        if (item.state === 'pending') run.log.append({ type: 'question-request', ...fields })
        // The end of a run that was aborted tells of it itself.
        else if (!signal.aborted) run.log.append({ type: 'question-closed', ...fields, state: item.state })
      }
    }))
}
