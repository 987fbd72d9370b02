import type { AppCallItem, QuestionItem, ToolItem } from '../../contracts/approval-record.ts'
import { OUTCOME_UNKNOWN, NOBODY_ANSWERED } from '../../contracts/model-texts.ts'
import type { EventOf } from '../../contracts/run-events.ts'
import type { Call, ToolOutput } from '../../contracts/tool.ts'
import type { Op } from '../../store/index.ts'

/** The end of a call: its event, and the new state of its approval, if it has one. */
export interface CallEnd {
  event: EventOf<'tool-output' | 'tool-error' | 'tool-denied'>
  state: 'done' | 'unknown' | 'denied' | 'expired'
  /** The duration of the call, milliseconds; absent if no tool ran. */
  durationMs?: number
  /** The operations that record what the call changed, to be stored together with the event. */
  ops?: Op[]
}

/** Returns the end of a call that failed. */
export const failedCall = ({ toolCallId, toolName }: Call, errorText: string, state: CallEnd['state'] = 'done'): CallEnd =>
  ({ event: { type: 'tool-error', toolCallId, toolName, errorText }, state })

/** Returns the end of a call that was refused. */
export const refusedCall = ({ toolCallId, toolName }: Call, state: 'denied' | 'expired', reason: string, approvalId?: string): CallEnd =>
  ({ event: { type: 'tool-denied', toolCallId, toolName, reason, ...(approvalId !== undefined && { approvalId }) }, state })

/** Returns the end of a call with its output. */
export const completedCall = ({ toolCallId, toolName }: Call, output: { output: ToolOutput, isWrapped?: true }): CallEnd =>
  ({ event: { type: 'tool-output', toolCallId, toolName, ...output }, state: 'done' })

/** Returns the end of a call that the user or the application was to answer. Without an answer, the call has failed. */
export function answeredCall (call: Call, item: QuestionItem | AppCallItem, approval?: ToolItem): CallEnd {
  const { event, ...end } = item.kind === 'app' ? answeredByApp(call, item) : answeredByUser(call, item)
  return { ...end, event: withCorrection(event, approval) }
}

function answeredByApp (call: Call, { state, output = {}, isWrapped, errorText = APP_ERROR }: AppCallItem): CallEnd {
  switch (state) {
    case 'done':
      return completedCall(call, { output, ...(isWrapped && { isWrapped }) })
    case 'error':
      return failedCall(call, errorText)
    case 'claimed':
    case 'unknown':
      return failedCall(call, OUTCOME_UNKNOWN, 'unknown')
    case 'withdrawn':
      return failedCall(call, 'The call was withdrawn before the application answered it.')
    case 'open':
    case 'expired':
      return failedCall(call, 'The application did not answer in time.')
  }
}

const APP_ERROR = 'The application reported an error.'

function answeredByUser (call: Call, { state, answers = {}, reason }: QuestionItem): CallEnd {
  switch (state) {
    case 'answered':
      return completedCall(call, { output: { answers } })
    case 'declined':
      return completedCall(call, { output: { declined: true, ...(reason && { reason }) } })
    case 'withdrawn':
      return failedCall(call, 'The questions were withdrawn before anybody answered them.')
    case 'pending':
    case 'expired':
      return failedCall(call, `${NOBODY_ANSWERED} Go on without the answers, and say what you assumed.`)
  }
}

/** The most characters of a corrected input that are shown to the model. */
const INPUT_SHOWN = 2_000

/**
 * Adds a sentence before the result of a call that ran with a person's corrected input instead of the model's; long inputs are cut in it.
 * Returns other results, and those of denied calls, unchanged.
 */
export function withCorrection<E extends CallEnd['event']> (event: E, approval: ToolItem | undefined): E {
  if (approval?.correctedInput === undefined || event.type === 'tool-denied') return event
  const text = `ran with the user's corrected input: ${JSON.stringify(approval.correctedInput).slice(0, INPUT_SHOWN)}`
  if (event.type === 'tool-error') return { ...event, errorText: `${text}\n${event.errorText}` }
  return { ...event, output: { ran: text, ...event.output } }
}
