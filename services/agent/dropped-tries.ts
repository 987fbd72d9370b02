import type { RunBody } from '../../schemas/agent.ts'
import { dropTries, type ThreadMessage, withoutChatForm } from '../threads/index.ts'

const cleaned = <M extends ThreadMessage>(message: M): M => dropTries(withoutChatForm(message))

/**
 * Returns the request without the tries of steps that broke off, which chats cannot take back from what they show, and without what only
 * the service writes into stored messages.
 */
export const withoutDroppedTries = <B extends Pick<RunBody, 'messages' | 'message'>>({ messages, message, ...body }: B) => ({
  ...body,
  ...(messages && { messages: messages.map(cleaned) }),
  ...(message && { message: cleaned(message) })
})
