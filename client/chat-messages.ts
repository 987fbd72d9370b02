import type { ThreadView } from './generated/index.ts'

type Stored = ThreadView['messages'][number]

/** A message as chats of the AI SDK show it: a UIMessage. */
export interface ChatMessage {
  id: string
  role: 'system' | 'user' | 'assistant'
  parts: Array<{ type: string } & Record<string, unknown>>
  [field: string]: unknown
}

/** A part while it is made; what it holds is what a client or the service stored. */
type Draft = Record<string, unknown> & { type: string }

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the messages of a thread as chats show them, one for each stored message; `from` is the position of the first. Messages of
 * other clients, which have `content`, are converted; the results of their tool calls go to the calls, so that their message is empty.
 */
export function chatMessages (stored: Stored[], from = 0): ChatMessage[] {
  const calls = new Map<string, Draft>()
  return stored.map((message, at) => {
    const id = typeof message.id === 'string' && message.id !== '' ? message.id : `message ${from + at}`
    if (Array.isArray(message.parts)) return { ...message, id } as unknown as ChatMessage
    return { id, role: roleOf(message.role), parts: partsOf(message.content).flatMap((part) => converted(part, calls)) }
  })
}

const roleOf = (role: string): ChatMessage['role'] => role === 'user' || role === 'system' ? role : 'assistant'

const partsOf = (content: unknown): Draft[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content.filter(isObject) as Draft[] : []

function converted (part: Draft, calls: Map<string, Draft>): Draft[] {
  const callId = String(part.toolCallId)
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: String(part.text ?? ''), state: 'done' }]
    case 'tool-call': {
      const call = { type: `tool-${String(part.toolName)}`, toolCallId: callId, state: 'input-available', input: part.input }
      calls.set(callId, call)
      return [call]
    }
    case 'tool-result':
      Object.assign(calls.get(callId) ?? {}, outcomeOf(part.output))
      return []
    case 'image':
    case 'file': {
      const data = part.image ?? part.data
      const mediaType = String(part.mediaType ?? 'image/png')
      const isUrl = typeof data === 'string' && /^(data|https?):/.test(data)
      return [{ type: 'file', mediaType, url: isUrl ? data : `data:${mediaType};base64,${String(data)}` }]
    }
    default:
      return []
  }
}

function outcomeOf (output: unknown): object {
  const { type, value, reason } = isObject(output) ? output : {}
  if (type === 'error-text' || type === 'error-json') {
    return { state: 'output-error', errorText: typeof value === 'string' ? value : JSON.stringify(value) }
  }
  if (type === 'execution-denied') return { state: 'output-denied', approval: { reason } }
  return { state: 'output-available', output: value ?? output }
}

/**
 * Returns the parts of a chat's message without the tries of steps that broke off and were made again: what stands from the last
 * `step-start` before a part `data-retry` up to that. Chats cannot take back what they have received, so they filter what they show.
 */
export function withoutDroppedTries<P extends { type: string }> (parts: readonly P[]): P[] {
  const kept: P[] = []
  for (const part of parts) {
    if (part.type !== 'data-retry') kept.push(part)
    else kept.length = Math.max(kept.findLastIndex(({ type }) => type === 'step-start'), 0)
  }
  return kept
}
