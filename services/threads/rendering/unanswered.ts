import { partsOf, type ThreadMessage } from '../thread-message.ts'
import { type ChatPart, chatFormOf } from './chat-form.ts'

/** Why requests for approval were not answered, and cannot be any more, by their ids. */
export type Unanswered = ReadonlyMap<string, string>

export const NONE_UNANSWERED: Unanswered = new Map()

/** Returns the ids of the requests for approval that messages hold without an answer. */
export function requestsIn (messages: readonly ThreadMessage[]): string[] {
  const formOf = (message: ThreadMessage) => (chatFormOf(message)?.parts ?? []).map(({ part }) => part)
  return [...new Set(messages.flatMap((message) => [...partsOf(message), ...formOf(message)].flatMap(requestIn)))]
}

function requestIn ({ type, state, approval, approvalId, data }: ChatPart): string[] {
  const id = state === 'approval-requested' ? approval?.id : type === 'data-approval-request' ? data?.approvalId : approvalId
  return typeof id === 'string' ? [id] : []
}

/** Returns a chat's parts, with the calls whose requests were not answered as denied. */
export function denyUnanswered (parts: ChatPart[], unanswered: Unanswered): ChatPart[] {
  if (unanswered.size === 0) return parts
  return parts.map((part) => {
    const reason = part.state === 'approval-requested' ? unanswered.get(part.approval.id) : undefined
    return reason === undefined ? part : { ...part, state: 'output-denied', approval: { id: part.approval.id, approved: false, reason } }
  })
}
