import type { ThreadMessage } from '../thread-message.ts'

/** The field of a stored message that holds its answer's chat form. No client sees or sets it. */
const CHAT_FORM = '!chat'

/** A part of a chat's message. */
export type ChatPart = { type: string, [field: string]: any }

/** A message as chats of the AI SDK have it: a UIMessage. */
export interface ChatMessage extends ThreadMessage {
  id: string
  parts: ChatPart[]
}

/** The place of a value: the index of its message in the answer, and of its part in that message. */
type Place = [message: number, part: number]

/** A part without the values that the messages of the answer hold, and where they are. */
interface ShortPart {
  part: ChatPart
  from?: Partial<Record<'text' | 'input' | 'output', Place>>
}

/**
 * What chats show of an answer that is stored as ModelMessages: its id, metadata and parts, such as approvals and data parts, for which
 * ModelMessages have no place. The first message of the answer holds all of it, the others only the id.
 */
interface ChatForm {
  id: string
  metadata?: unknown
  parts?: ShortPart[]
}

export const chatFormOf = (message: ThreadMessage) => message[CHAT_FORM] as ChatForm | undefined

/** Returns a message as clients see it. */
export function withoutChatForm <M extends object> (message: M): M {
  if (!(CHAT_FORM in message)) return message
  const { [CHAT_FORM]: _, ...bare } = message
  return bare as M
}

/** Returns the messages of an answer with its chat form. Texts, inputs and outputs are not stored twice. */
export function withChatForm (
  messages: ThreadMessage[],
  { id, metadata, parts }: { id: string, metadata: unknown, parts: ChatPart[] }
): ThreadMessage[] {
  const held = messages.flatMap(({ content }, message) =>
    (Array.isArray(content) ? content : []).map((value, part): { value: any, place: Place } => ({ value, place: [message, part] }))
  )
  let next = 0
  const shorten = (part: ChatPart): ShortPart => {
    if (part.type === 'text' || part.type === 'reasoning') {
      const at = held.findIndex(({ value }, n) => n >= next && value.type === part.type && value.text === part.text)
      if (at === -1) return { part }
      next = at + 1
      const { text, ...rest } = part
      return { part: rest, from: { text: held[at].place } }
    }
    if (typeof part.toolCallId !== 'string') return { part }
    const { input, output, ...rest } = part
    const call = held.find(({ value }) => value.type === 'tool-call' && value.toolCallId === part.toolCallId && value.input === input)
    const result = held.find(({ value }) =>
      value.type === 'tool-result' && value.toolCallId === part.toolCallId && value.output?.value === output
    )
    return {
      part: { ...rest, ...call === undefined && { input }, ...result === undefined && { output } },
      from: {
        ...input !== undefined && call !== undefined && { input: call.place },
        ...output !== undefined && result !== undefined && { output: result.place }
      }
    }
  }
  const form: ChatForm = { id, metadata, parts: parts.map(shorten) }
  return messages.map((message, n) => ({ ...message, [CHAT_FORM]: n === 0 ? form : { id } }))
}

/** Returns the answer of these messages as chats have it; undefined if it has no chat form. */
export function fromChatForm (messages: ThreadMessage[]): ChatMessage | undefined {
  const { id, metadata, parts } = chatFormOf(messages[0]) ?? {}
  if (id === undefined || parts === undefined) return undefined
  const valueAt = ([message, part]: Place) => {
    const value = (messages[message]?.content as any[] | undefined)?.[part]
    return value?.text ?? value?.input ?? value?.output?.value
  }
  return {
    id,
    role: 'assistant',
    metadata,
    parts: parts.map(({ part, from = {} }) =>
      ({ ...part, ...Object.fromEntries(Object.entries(from).map(([field, place]) => [field, valueAt(place)])) })
    )
  }
}
