import type { UIMessage } from 'ai'
import { chatMessages } from '../../../../client/chat-messages.ts'

/** Returns the messages of a thread as the chat shows them; see `chatMessages`. */
export const shownMessages = (...stored: Parameters<typeof chatMessages>): UIMessage[] => chatMessages(...stored) as unknown as UIMessage[]
