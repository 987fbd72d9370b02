import { partsOf, type ThreadMessage } from '../thread-message.ts'
import { type ChatPart, chatFormOf } from './chat-form.ts'

/** How what a conversation waited for ended without an answer. */
export interface UnansweredEnd {
  state: 'withdrawn' | 'expired'
  reason: string
}

/**
 * The requests for approval, questions and calls of the application that were not answered, and cannot be any more, by their ids; the id
 * of a call of the application is that of the call.
 */
export type Unanswered = ReadonlyMap<string, UnansweredEnd>

export const NONE_UNANSWERED: Unanswered = new Map()

/** Returns the ids of what messages wait for without an answer. */
export function requestsIn (messages: readonly ThreadMessage[]): string[] {
  const formOf = (message: ThreadMessage) => (chatFormOf(message)?.parts ?? []).map(({ part }) => part)
  return [...new Set(messages.flatMap((message) => [...partsOf(message), ...formOf(message)].flatMap(requestIn)))]
}

const isRequestData = (type: string) => type === 'data-approval' || type === 'data-approval-request'

function requestIn ({ type, state, toolCallId, approval, approvalId, data }: ChatPart): string[] {
  const id = state === 'approval-requested'
    ? approval?.id
    : state === 'input-available' ? toolCallId : isRequestData(type) ? data?.approvalId : approvalId
  return typeof id === 'string' ? [id] : []
}

/** Returns how the call of a chat's part ended, if what it waited for was not answered. */
export function unansweredEnd (parts: readonly ChatPart[], unanswered: Unanswered): (part: ChatPart) => UnansweredEnd | undefined {
  const questions = new Map(parts.flatMap((part) => isQuestion(part) ? [[part.data.toolCallId, part.data.approvalId]] : []))
  return ({ toolCallId, approval }) => unanswered.get(approval?.id ?? questions.get(toolCallId) ?? toolCallId)
}

/** Returns a chat's parts, with the calls whose requests were not answered as denied, and those whose result never came as failed. */
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
