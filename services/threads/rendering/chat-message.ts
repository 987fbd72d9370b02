import type { ThreadMessage } from '../thread-message.ts'

/** A part of a chat's message. */
export type ChatPart = { type: string, [field: string]: any }

/** A UIMessage: the format of messages in chats of the AI SDK. */
export interface ChatMessage extends ThreadMessage {
  id: string
  parts: ChatPart[]
}
