import { saidIn, steerMessage } from '../steer-messages.ts'
import type { ThreadMessage } from '../thread-message.ts'
import { asChat, idOf } from './as-chat.ts'
import { writtenForm } from '../stored-answer.ts'
import type { ChatMessage, ChatPart } from './chat-message.ts'
import { stepId, type Unit } from './answer-units.ts'
import { isRequestData, type Unanswered, unansweredEnd } from './unanswered.ts'

/**
 * Renders a unit (the stored messages that clients show as one) as ModelMessages with ids. Approvals are parts of the AI SDK's types. Parts
 * of chats that ModelMessages have no type for, such as data parts, are in `chatParts` of the first message. `id` is used if the message
 * has no id.
 */
export function asModelMessages (unit: Unit, id: string, unanswered: Unanswered): ThreadMessage[] {
  const [first] = unit.messages
  const written = unit.messages.flatMap(writtenForm)
  if (Array.isArray(written[0].parts)) return fromChat(asChat(unit, id, unanswered))
  if (first === written[0]) {
    const own = idOf(first) ?? id
    return written.map((message, n) => ({ ...message, id: idOf(message) ?? stepId(own, n) }))
  }
  const { id: answerId, metadata, parts } = asChat(unit, id, unanswered)
  const calls = new Map(parts.flatMap((part) => part.toolCallId === undefined ? [] : [[part.toolCallId, approvalOf(part, parts)]]))
  const chatParts = parts.filter((part) => part.type.startsWith('data-') && saidIn(part) === undefined)
  const answered = new Set<unknown>()
  const messages = written.map((message, n): ThreadMessage => {
    const content = (Array.isArray(message.content) ? message.content : []).flatMap((part): object[] => {
      const approval = calls.get(part.toolCallId)
      if (approval === undefined || part.type === 'text') return [part]
      if (part.type === 'tool-call') return [part, requestPart(part.toolCallId, approval)]
      if (part.type !== 'tool-result' || approval.approved === undefined || answered.has(part.toolCallId)) return [part]
      answered.add(part.toolCallId)
      return [responsePart(approval), part]
    })
    return {
      ...message,
      content: Array.isArray(message.content) ? content : message.content,
      id: stepId(answerId, n),
      ...n === 0 && { metadata, ...chatParts.length > 0 && { chatParts } }
    }
  })
  const endOf = unansweredEnd(parts, unanswered)
  const ended = parts.flatMap((part) => {
    if (!isCall(part) || endOf(part) === undefined) return []
    return [...part.approval === undefined ? [] : [responsePart(part.approval)], resultPart(part, outputOf(part))]
  })
  if (ended.length === 0) return messages
  const last = messages.at(-1)!
  return last.role === 'tool'
    ? messages.with(-1, { ...last, content: [...last.content as object[], ...ended] })
    : [...messages, { role: 'tool', content: ended, id: stepId(answerId, messages.length) }]
}

interface Approval {
  id: string
  approved?: boolean
  reason?: string
}

const requestPart = (toolCallId: unknown, { id }: Approval) => ({ type: 'tool-approval-request', approvalId: id, toolCallId })
const responsePart = ({ id, approved, reason }: Approval) =>
  ({ type: 'tool-approval-response', approvalId: id, approved, ...reason !== undefined && { reason } })
const resultPart = (part: ChatPart, output: object | undefined) =>
  ({ type: 'tool-result', toolCallId: part.toolCallId, toolName: nameOf(part), output })

/**
 * Returns the approval of a call. For a call of the application, the approval is in a data part, so that chats do not execute the call too
 * early.
 */
function approvalOf ({ approval, toolCallId, state }: ChatPart, parts: ChatPart[]): Approval | undefined {
  if (approval?.id !== undefined) return approval
  if (state !== 'input-streaming') return undefined
  const asked = parts.find(({ type, data }) => isRequestData(type) && data?.toolCallId === toolCallId)
  return asked && { id: asked.data.approvalId }
}

/** Converts a chat's message to ModelMessages. */
function fromChat ({ id, role, parts, ...fields }: ChatMessage): ThreadMessage[] {
  if (role !== 'assistant') {
    const content = parts.flatMap(contentOf)
    const [only] = content
    const { metadata } = fields as { metadata?: { steer?: unknown } }
    const mark = metadata?.steer === undefined ? {} : { steer: metadata.steer }
    const isText = content.length === 1 && Object.keys(only).length === 2 && only.type === 'text'
    const text = role === 'system' ? content.map(({ text = '' }) => text).join('') : isText ? only.text : content
    return [{ ...fields, id, role, content: text, ...others(parts), ...mark }]
  }
  const messages: ThreadMessage[] = []
  let content: object[] = []
  let results: object[] = []
  const closeStep = () => {
    if (content.length > 0) messages.push({ role, content })
    if (results.length > 0) messages.push({ role: 'tool', content: results })
    content = []
    results = []
  }
  for (const part of parts) {
    const said = saidIn(part)
    if (part.type === 'step-start') closeStep()
    else if (said !== undefined) {
      closeStep()
      messages.push(steerMessage(said, false))
    } else if (isCall(part)) {
      const approval = approvalOf(part, parts)
      const input = part.input ?? part.rawInput ?? inputAsked(part, parts)
      if (input === undefined) continue
      content.push({
        type: 'tool-call',
        toolCallId: part.toolCallId,
        toolName: nameOf(part),
        input,
        ...part.providerExecuted === true && { providerExecuted: true },
        ...part.callProviderMetadata !== undefined && { providerOptions: part.callProviderMetadata }
      })
      if (approval !== undefined) content.push(requestPart(part.toolCallId, approval))
      if (approval?.approved !== undefined) results.push(responsePart(approval))
      const output = outputOf(part)
      if (output !== undefined) results.push(resultPart(part, output))
    } else content.push(...contentOf(part))
  }
  closeStep()
  if (messages.length === 0) messages.push({ role, content: [] })
  return messages.map((message, n) => ({ ...message, ...n === 0 && { ...fields, ...others(parts) }, id: stepId(id, n) }))
}

const isCall = ({ type }: ChatPart) => type.startsWith('tool-') || type === 'dynamic-tool'
const nameOf = ({ type, toolName }: ChatPart): string => type === 'dynamic-tool' ? toolName : type.slice('tool-'.length)
const inputAsked = ({ toolCallId }: ChatPart, parts: ChatPart[]) =>
  parts.find(({ type, data }) => isRequestData(type) && data?.toolCallId === toolCallId)?.data.input

/**
 * Returns the field `chatParts` with the parts of a chat's message that ModelMessages have no type for; an empty object if there are none.
 */
function others (parts: ChatPart[]): object {
  const isElsewhere = (part: ChatPart) => isCall(part) || isAnalysis(part) || saidIn(part) !== undefined || contentOf(part).length > 0
  const chatParts = parts.filter((part) => part.type !== 'step-start' && !isElsewhere(part))
  return chatParts.length > 0 ? { chatParts } : {}
}

const isAnalysis = ({ type, providerMetadata }: ChatPart) => type === 'reasoning' && providerMetadata?.agent?.phase === 'analysis'

function contentOf (part: ChatPart): ChatPart[] {
  const { type, state, providerMetadata, ...rest } = part
  const attached = providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
  switch (type) {
    case 'text':
      return [{ type, ...rest, ...attached }]
    case 'reasoning':
      return isAnalysis(part) ? [] : [{ type, ...rest, ...attached }]
    case 'file': {
      const { url, ...file } = rest
      return [{ type, ...file, data: url, ...attached }]
    }
    default:
      return []
  }
}

function outputOf ({ state, output, errorText, approval }: ChatPart): object | undefined {
  switch (state) {
    case 'output-available':
      return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null }
    case 'output-error':
      return { type: 'error-text', value: errorText ?? '' }
    case 'output-denied':
      return { type: 'execution-denied', ...approval?.reason !== undefined && { reason: approval.reason } }
    default:
      return undefined
  }
}
