import type { Call, CallAnswer, CallApproval } from '../../contracts/call.ts'
import type { EventOf } from '../../contracts/run-events.ts'
import type { Op } from '../../store/index.ts'

/** The end of a call: its event, and what becomes of its approval, if it has one. */
export interface CallEnd {
  event: EventOf<'tool-output' | 'tool-error' | 'tool-denied'>
  state: 'done' | 'unknown' | 'denied' | 'expired'
  /** The duration of the call, milliseconds; absent if no tool ran. */
  durationMs?: number
  /** To be stored with it: what the call changed. */
  ops?: Op[]
}

/** Returns the end of a call that failed. */
export const failedCall = ({ toolCallId, toolName }: Call, errorText: string, state: CallEnd['state'] = 'done'): CallEnd =>
  ({ event: { type: 'tool-error', toolCallId, toolName, errorText }, state })

/** Returns the end of a call that was refused. */
export const refusedCall = ({ toolCallId, toolName }: Call, state: 'denied' | 'expired', reason: string, approvalId?: string): CallEnd =>
  ({ event: { type: 'tool-denied', toolCallId, toolName, reason, ...(approvalId !== undefined && { approvalId }) }, state })

/** Returns the end of a call that the user or the application answered in the tool's place. */
export function answeredCall (call: Call, answer: Exclude<CallAnswer, { is: 'open' }>, approval?: CallApproval): CallEnd {
  if (answer.is !== 'output') return failedCall(call, answer.errorText, answer.is === 'unknown' ? 'unknown' : 'done')
  const { is, ...output } = answer
  const { toolCallId, toolName } = call
  return { event: withCorrection({ type: 'tool-output', toolCallId, toolName, ...output }, approval), state: 'done' }
}

/** Characters of a corrected input that the model is told. */
const INPUT_SHOWN = 2_000

/** Puts in front of the result that the call ran with another input than the model's. */
export function withCorrection<E extends CallEnd['event']> (event: E, approval: CallApproval | undefined): E {
  if (approval?.correctedInput === undefined || event.type === 'tool-denied') return event
  const text = `ran with the user's corrected input: ${JSON.stringify(approval.correctedInput).slice(0, INPUT_SHOWN)}`
  if (event.type === 'tool-error') return { ...event, errorText: `${text}\n${event.errorText}` }
  return { ...event, output: { ran: text, ...event.output } }
}
