import type { RunBody } from '../../schemas/agent.ts'
import { dropTries } from '../threads/index.ts'

/** Returns the request without the tries of steps that broke off, which chats cannot take back from what they show. */
export const withoutDroppedTries = <B extends Pick<RunBody, 'messages' | 'message'>>({ messages, message, ...body }: B) => ({
  ...body,
  ...(messages && { messages: messages.map(dropTries) }),
  ...(message && { message: dropTries(message) })
})
