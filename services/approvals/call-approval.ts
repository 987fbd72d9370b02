import { OUTCOME_UNKNOWN } from '../contracts/model-texts.ts'
import type { CallAnswer, CallApproval } from '../contracts/call.ts'
import { DENIED, type AppCallItem, type CallItem, type QuestionItem, type ToolItem } from '../contracts/approval-record.ts'
import type { WorkFolder } from '../contracts/tool.ts'

/** Returns the fields of an approval that record the folder shown with it. */
export const boundTo = ({ path, ...folder }: WorkFolder): Pick<ToolItem, 'cwd' | 'folder'> => ({ cwd: path, folder })

/** Returns the folder that was shown with an approval request. */
export const shownFolder = ({ cwd, folder }: ToolItem): WorkFolder => ({ path: cwd, ...folder })

/** Returns the approval of a call as its step sees it. An approval that cannot be answered any more counts as expired. */
export function callApproval (approval: ToolItem, isOpen: boolean): CallApproval {
  const { approvalId, state, identity, reason = DENIED, shown, previewDigest, asks = 0, unbound, correctedInput, boundary } = approval
  const folder = shownFolder(approval)
  const known = { approvalId, identity, folder, reason, shown, previewDigest, asks, unbound, correctedInput, boundary }
  switch (state) {
    case 'approved':
    case 'denied':
      return { ...known, state }
    case 'executing':
    case 'unknown':
      return { ...known, state: 'begun' }
    default:
      return { ...known, state: isOpen ? 'open' : 'expired' }
  }
}

/** Returns the answer to a call that the user or the application answers in the tool's place, as its step sees it. */
export function callAnswer (item: QuestionItem | AppCallItem, isOpen: boolean): CallAnswer {
  if (isOpen) return { is: 'open' }
  return item.kind === 'app' ? appAnswer(item) : userAnswer(item)
}

function appAnswer ({ state, output = {}, isWrapped, errorText = 'The application reported an error.' }: AppCallItem): CallAnswer {
  switch (state) {
    case 'done':
      return { is: 'output', output, ...(isWrapped && { isWrapped }) }
    case 'error':
      return { is: 'error', errorText }
    case 'claimed':
    case 'unknown':
      return { is: 'unknown', errorText: OUTCOME_UNKNOWN }
    case 'withdrawn':
      return { is: 'error', errorText: 'The call was withdrawn before the application answered it.' }
    case 'open':
    case 'expired':
      return { is: 'error', errorText: 'The application did not answer in time.' }
  }
}

/** Nobody's silence is an answer. */
function userAnswer ({ state, answers = {}, reason }: QuestionItem): CallAnswer {
  switch (state) {
    case 'answered':
      return { is: 'output', output: { answers } }
    case 'declined':
      return { is: 'output', output: { declined: true, ...(reason && { reason }) } }
    case 'withdrawn':
      return { is: 'error', errorText: 'The questions were withdrawn before anybody answered them.' }
    case 'pending':
    case 'expired':
      return { is: 'error', errorText: 'Nobody answered in time. Go on without the answers, and say what you assumed.' }
  }
}

/** Finds, in the items of a run, the newest approval of a call and what answers it in the tool's place. */
export const findOfCall = <I extends CallItem>(items: Iterable<I>, toolCallId: string) => {
  let approval: Extract<I, { kind: 'tool' }> | undefined
  let answer: Exclude<I, { kind: 'tool' }> | undefined
  for (const item of items) {
    if (item.toolCallId !== toolCallId) continue
    if (item.kind === 'tool') approval = item as typeof approval
    else answer = item as typeof answer
  }
  return { approval, answer }
}
