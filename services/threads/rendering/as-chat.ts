import { DENIED } from '../../contracts/approval-record.ts'
import { saidIn, steeringMessagePart, steerPart } from '../steer-messages.ts'
import { dropTries, markOf, textOf, type ThreadMessage } from '../thread-message.ts'
import type { ChatMessage, ChatPart } from './chat-message.ts'
import type { Unit } from './answer-units.ts'
import { denyUnanswered, NONE_UNANSWERED, type Unanswered } from './unanswered.ts'

const isObject = (value: unknown): value is ChatPart => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Renders a unit (the stored messages that clients show as one) as a chat's message (AI SDK 6 and 7). `id` is used if the message has no
 * id.
 */
export function asChat ({ messages }: Unit, id: string, unanswered: Unanswered = NONE_UNANSWERED): ChatMessage {
  const [first] = messages
  if (Array.isArray(first.parts)) {
    const message = { ...dropTries(first), id: idOf(first) ?? id } as ChatMessage
    return { ...message, parts: denyUnanswered(withApprovals(message.parts), unanswered).map(asSteerPart) }
  }
  const message = fromModelMessages(messages, id)
  return { ...message, parts: denyUnanswered(message.parts, unanswered) }
}

export const idOf = ({ id }: ThreadMessage) => typeof id === 'string' && id !== '' ? id : undefined

/** Adds approval requests to the open calls whose requests are stored as data parts, the only form of requests for clients of AI SDK 5. */
function withApprovals (parts: ChatPart[]): ChatPart[] {
  const asked = new Map(parts.flatMap(({ type, data }) => type === 'data-approval-request' ? [[data?.toolCallId, data?.approvalId]] : []))
  if (asked.size === 0) return parts
  return parts.map((part) => {
    const approvalId = asked.get(part.toolCallId)
    return part.state === 'input-available' && approvalId !== undefined
      ? { ...part, state: 'approval-requested', approval: { id: approvalId } }
      : part
  })
}

/** Renders a unit as a chat's message for clients of AI SDK 5, which have no approvals. */
export function asChat5 (unit: Unit, id: string, unanswered: Unanswered): ChatMessage {
  const message = asChat(unit, id, unanswered)
  const asked = new Set(message.parts.flatMap(({ type, id }) => type === 'data-approval-request' ? [id] : []))
  const parts = message.parts.flatMap((part): ChatPart[] => {
    const { approval, ...call } = part
    switch (part.state) {
      case 'approval-requested':
      case 'approval-responded': {
        if (asked.has(approval?.id)) return [{ ...call, state: 'input-available' }]
        const { kind, note, ...request } = message.parts.find(({ type, id }) => type === 'data-approval' && id === approval?.id)?.data ?? {}
        return [{ ...call, state: 'input-available' }, {
          type: 'data-approval-request',
          id: approval?.id,
          data: { approvalId: approval?.id, toolCallId: part.toolCallId, ...request, ...note !== undefined && { reason: note } }
        }]
      }
      case 'output-denied':
        return [{ ...call, state: 'output-error', errorText: approval?.reason ?? DENIED }]
      case 'output-available':
      case 'output-error':
        return [call]
      default:
        return [part]
    }
  })
  return { ...message, parts }
}

/** Renders a unit as a chat's message for the newest clients of AI SDK 7, which have a part type of their own for steering messages. */
export function asChat7 (unit: Unit, id: string, unanswered: Unanswered): ChatMessage {
  const message = asChat(unit, id, unanswered)
  const parts = message.parts.map((part): ChatPart => {
    const said = saidIn(part)
    return said?.state === 'read' ? steeringMessagePart(said) : part
  })
  return { ...message, parts }
}

const asSteerPart = (part: ChatPart): ChatPart => {
  const said = part.type === 'steering-message' ? saidIn(part) : undefined
  return said === undefined ? part : steerPart(said)
}

/** Converts ModelMessages to a chat's message. The results of calls are added to the calls, and several assistant messages become steps. */
function fromModelMessages (messages: ThreadMessage[], id: string): ChatMessage {
  const parts: ChatPart[] = []
  const calls = new Map<unknown, ChatPart>()
  const hasSteps = messages.filter(({ role }) => role === 'assistant').length > 1
  const others: ChatPart[] = []
  let fields: object = {}
  for (const message of messages) {
    const mark = markOf(message)
    if (mark !== undefined && messages.length > 1) {
      parts.push(steerPart({ ...mark, text: textOf(message) }))
      continue
    }
    const { role, content, chatParts, id: _, steer, ...rest } = message
    fields = { ...fields, ...rest, ...steer !== undefined && { metadata: { ...rest.metadata as object | undefined, steer } } }
    if (hasSteps && role === 'assistant') parts.push({ type: 'step-start' })
    const list = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
    for (const part of list) if (isObject(part)) addPart(part, role, { parts, calls })
    if (Array.isArray(chatParts)) others.push(...chatParts.filter(isObject))
  }
  const [first] = messages
  const role = first.role === 'tool' ? 'assistant' : first.role
  return { ...fields, id: idOf(first) ?? id, role, parts: [...parts, ...others] }
}

function addPart (part: ChatPart, role: string, { parts, calls }: { parts: ChatPart[], calls: Map<unknown, ChatPart> }) {
  const { type, providerOptions, ...rest } = part
  const attached = providerOptions === undefined ? {} : { providerMetadata: providerOptions }
  const { toolCallId, toolName } = part
  const callOf = () => {
    let call = calls.get(toolCallId)
    if (call === undefined) {
      call = { type: `tool-${toolName}`, toolCallId, state: 'input-available', input: {} }
      calls.set(toolCallId, call)
      parts.push(call)
    }
    return call
  }
  switch (type) {
    case 'text':
    case 'reasoning':
      parts.push({ ...rest, type, text: String(part.text ?? ''), ...role === 'assistant' && { state: 'done' }, ...attached })
      break
    case 'image':
    case 'file': {
      const { image, data = image, mediaType = 'image/png', url = urlOf(data, mediaType), ...other } = rest
      parts.push({ ...other, type: 'file', mediaType, url, ...attached })
      break
    }
    case 'tool-call':
      Object.assign(callOf(), {
        input: part.input,
        ...part.providerExecuted === true && { providerExecuted: true },
        ...providerOptions !== undefined && { callProviderMetadata: providerOptions }
      })
      break
    case 'tool-approval-request':
      if (calls.has(toolCallId)) Object.assign(callOf(), { state: 'approval-requested', approval: { id: part.approvalId } })
      break
    case 'tool-approval-response': {
      const call = [...calls.values()].find(({ approval }) => approval?.id === part.approvalId)
      if (call === undefined) break
      const { approvalId, approved, reason } = part
      call.approval = { id: approvalId, approved, ...reason !== undefined && { reason } }
      if (call.state === 'approval-requested') call.state = 'approval-responded'
      break
    }
    case 'tool-result': {
      const call = callOf()
      Object.assign(call, outcomeOf(part.output, call.approval))
      break
    }
    default:
      parts.push(part)
  }
}

/** Returns the URL of a file whose data in a ModelMessage is a URL or Base64. */
const urlOf = (data: unknown, mediaType: unknown) =>
  typeof data === 'string' && /^[a-z][a-z\d+.-]*:/i.test(data) ? data : `data:${String(mediaType)};base64,${String(data)}`

function outcomeOf (output: unknown, approval: ChatPart['approval']): object {
  const { type, value, reason } = isObject(output) ? output : { type: '' } as ChatPart
  switch (type) {
    case 'error-text':
    case 'error-json':
      return { state: 'output-error', errorText: typeof value === 'string' ? value : JSON.stringify(value) }
    // Chats expect the user's answer in a denied part, so a denial without an answer is shown as an error.
    case 'execution-denied':
      return approval === undefined
        ? { state: 'output-error', errorText: reason ?? DENIED }
        : { state: 'output-denied', approval: { ...approval, approved: false, ...reason !== undefined && { reason } } }
    default:
      return { state: 'output-available', output: value ?? output }
  }
}
