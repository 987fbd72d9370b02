import { partsOf, type ThreadMessage } from '../thread-message.ts'
import type { ChatPart } from './chat-message.ts'

/** How an item that a conversation waited for ended without an answer. */
export interface UnansweredEnd {
  state: 'withdrawn' | 'expired'
  reason: string
}

/**
 * The approval requests, questions and calls of the application that were not answered and cannot be answered any more. The keys are their
 * ids; for a call of the application, the id of the call.
 */
export type Unanswered = ReadonlyMap<string, UnansweredEnd>

export const NONE_UNANSWERED: Unanswered = new Map()

/** Returns the ids of the requests in messages whose parts have no answer. */
export const requestsIn = (messages: readonly ThreadMessage[]): string[] =>
  [...new Set(messages.flatMap((message) => partsOf(message).flatMap(requestIn)))]

/** Whether a part of this type holds the data of a request to the user. */
export const isRequestData = (type: string) => type === 'data-approval' || type === 'data-approval-request'

function requestIn ({ type, state, toolCallId, approval, approvalId, data }: ChatPart): string[] {
  const id = state === 'approval-requested'
    ? approval?.id
    : state === 'input-available' ? toolCallId : isRequestData(type) ? data?.approvalId : approvalId
  return typeof id === 'string' ? [id] : []
}

/**
 * Returns a function that says how the call in a part of a chat's message ended without an answer. It returns undefined for other parts.
 */
export function unansweredEnd (parts: readonly ChatPart[], unanswered: Unanswered): (part: ChatPart) => UnansweredEnd | undefined {
  const isOfCall = (part: ChatPart) => isQuestion(part) && part.data.toolCallId !== undefined
  const questions = new Map(parts.flatMap((part) => isOfCall(part) ? [[part.data.toolCallId, part.data.approvalId]] : []))
  return ({ toolCallId, approval }) => unanswered.get(approval?.id ?? questions.get(toolCallId) ?? toolCallId)
}

/**
 * Returns the parts of a chat's message with unanswered calls closed: a call with an unanswered approval request is denied, and a call
 * whose result never came has failed.
 */
export function denyUnanswered (parts: ChatPart[], unanswered: Unanswered): ChatPart[] {
  if (unanswered.size === 0) return parts
  const endOf = unansweredEnd(parts, unanswered)
  return parts.map((part) => {
    const end = isQuestion(part) ? unanswered.get(part.data.approvalId) : endOf(part)
    if (end === undefined) return part
    if (isQuestion(part)) return { ...part, data: { ...part.data, state: end.state } }
    if (part.state === 'input-available') return { ...part, state: 'output-error', errorText: end.reason }
    if (part.state !== 'approval-requested') return part
    return { ...part, state: 'output-denied', approval: { id: part.approval.id, approved: false, reason: end.reason } }
  })
}

const isQuestion = ({ type, data }: ChatPart) => type === 'data-approval' && data?.kind === 'question'
