import type { Decision } from '../approvals/ledger.ts'
import { BadMessage, type RawMessage } from './raw-message.ts'

/** What of a request tells whether it answers. Chat clients name the message they continue. */
export interface AnswerSource {
  messages: RawMessage[]
  messageId?: unknown
  trigger?: unknown
}

export interface Answers {
  decisions: Decision[]
  /** The decisions are all that a chat's message holds, old ones among them. */
  withOld: boolean
}

const REASON_KEPT = 4000
/** Of one request; each is looked up. */
const MOST_DECISIONS = 1000

const list = (value: unknown): any[] => Array.isArray(value) ? value : []
const isResponse = (part: any) => part?.type === 'tool-approval-response'
const isResponded = (part: any) => part?.state === 'approval-responded'

const holdsResponse = ({ role, content, parts }: RawMessage) =>
  role === 'tool'
    ? list(content).some(isResponse)
    : role === 'assistant' && list(parts).some(isResponded)

/** Where the message is that answers approval requests instead of saying something new; -1 when there is none. */
function answeringMessage ({ messages, messageId, trigger }: AnswerSource): number {
  if (trigger === 'regenerate-message') return -1
  const continued = messageId === undefined ? -1 : messages.findLastIndex(({ id, role }) => id === messageId && role === 'assistant')
  return [continued, messages.length - 1].find((at) => at >= 0 && holdsResponse(messages[at])) ?? -1
}

/** Whether a request answers an approval request. */
export const isAnswer = (talk: AnswerSource): boolean => answeringMessage(talk) !== -1

/**
 * The decisions of a request: of its final message with role `tool`, or of the assistant's UIMessage that it
 * continues. Throws BadMessage (400) unless there is at least one and all are well formed.
 */
export function approvalResponses (talk: AnswerSource): Answers {
  const answers = allResponses(talk)
  if (answers.decisions.length > MOST_DECISIONS) {
    throw new BadMessage(`A request may hold at most ${MOST_DECISIONS} answers to approval requests.`)
  }
  return answers
}

function allResponses (talk: AnswerSource): Answers {
  const at = answeringMessage(talk)
  if (at === -1) {
    throw new BadMessage(
      `messages[${talk.messages.length - 1}] must be the answer: ` +
        '{ "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "…", "approved": true }] }.'
    )
  }
  const { role, content, parts } = talk.messages[at]
  if (role === 'tool') {
    return {
      withOld: false,
      decisions: list(content).flatMap((part, n) =>
        isResponse(part) ? [decision(part.approvalId, part, `messages[${at}].content[${n}]`, 'approvalId')] : []
      )
    }
  }
  return {
    withOld: true,
    decisions: list(parts).flatMap((part, n) =>
      isResponded(part) ? [decision(part.approval?.id, part.approval, `messages[${at}].parts[${n}].approval`, 'id')] : []
    )
  }
}

function decision (
  approvalId: unknown,
  said: { approved?: unknown, reason?: unknown } | undefined,
  where: string,
  idField: string
): Decision {
  const { approved, reason } = said ?? {}
  if (typeof approvalId !== 'string') throw new BadMessage(`${where}.${idField} must be a string.`)
  if (typeof approved !== 'boolean') throw new BadMessage(`${where}.approved must be true or false, as a JSON boolean.`)
  if (reason !== undefined && typeof reason !== 'string') throw new BadMessage(`${where}.reason must be a string.`)
  return { approvalId, approved, ...(reason !== undefined && { reason: reason.slice(0, REASON_KEPT) }) }
}

/** Approval ids that the history mentions: they say which conversation a new message belongs to. */
export function referencedApprovals (messages: RawMessage[]): string[] {
  return messages.flatMap(({ content, parts }) => [
    ...list(content).map((part) => part?.approvalId),
    ...list(parts).map((part) => part?.approval?.id)
  ]).filter((id) => typeof id === 'string')
}
