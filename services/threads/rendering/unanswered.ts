import { partsOf, type ThreadMessage } from '../thread-message.ts'
import type { ChatPart } from './chat-message.ts'

/** How an item that a conversation waited for ended without an answer. */
export interface UnansweredEnd {
  state: 'withdrawn' | 'expired'
  reason: string
}

/**
 * The approval requests, questions and calls of the application that were not answered and cannot be answered any more, by their ids; for a
 * call of the application, the id of the call.
 */
export type Unanswered = ReadonlyMap<string, UnansweredEnd>

export const NONE_UNANSWERED: Unanswered = new Map()

/** Returns the ids of the unanswered requests in messages. */
export const requestsIn = (messages: readonly ThreadMessage[]): string[] =>
  [...new Set(messages.flatMap((message) => partsOf(message).flatMap(requestIn)))]

const isRequestData = (type: string) => type === 'data-approval' || type === 'data-approval-request'

function requestIn ({ type, state, toolCallId, approval, approvalId, data }: ChatPart): string[] {
  const id = state === 'approval-requested'
    ? approval?.id
    : state === 'input-available' ? toolCallId : isRequestData(type) ? data?.approvalId : approvalId
  return typeof id === 'string' ? [id] : []
}

/** Returns how the call of a chat's part ended, if its request was not answered. */
export function unansweredEnd (parts: readonly ChatPart[], unanswered: Unanswered): (part: ChatPart) => UnansweredEnd | undefined {
  const isOfCall = (part: ChatPart) => isQuestion(part) && part.data.toolCallId !== undefined
  const questions = new Map(parts.flatMap((part) => isOfCall(part) ? [[part.data.toolCallId, part.data.approvalId]] : []))
  return ({ toolCallId, approval }) => unanswered.get(approval?.id ?? questions.get(toolCallId) ?? toolCallId)
}

/** Returns a chat's parts, in which calls with unanswered requests are denied, and calls whose result never came have failed. */
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
