import { textOf } from './thread-message.ts'
import type { ThreadMessage, ThreadRepository } from './thread-repository.ts'

/** A message of the user in a thread. */
export interface UserMessage {
  text: string
  /** Its index in the thread. */
  at: number
  /** When it was sent, milliseconds since the Unix epoch; 0 when unknown. */
  said: number
  id?: string
}

/** What the user said in the conversation of a run. */
export interface UserWords {
  threadId: string
  /** Oldest first. */
  messages: UserMessage[]
}

/** Characters of a message that are read. */
const MAX_CHARACTERS = 12_000
/** Messages of the user that are read; the newest count. */
const MAX_MESSAGES = 500

/** Reads the messages of the user in a thread from the `n`-th on, at most the newest 500. */
export async function readUserMessages (threads: Pick<ThreadRepository, 'turns' | 'messages'>, id: string, n = 0): Promise<UserMessage[]> {
  const messages: UserMessage[] = []
  for (const { at, said, id: messageId } of (await threads.turns(id, n)).slice(-MAX_MESSAGES)) {
    const [message] = await threads.messages(id, { from: at, limit: 1 })
    const text = message === undefined ? '' : beginning(wordsOf(message), MAX_CHARACTERS)
    messages.push({ text, at, said, ...(messageId !== undefined && { id: messageId }) })
  }
  return messages
}

/** The text of a message. Its parts are on separate lines, because a sentence does not continue in another part. */
const wordsOf = (message: ThreadMessage) => textOf(message, '\n\n')

/** The beginning of a text that may be read. It is a copy, so that the rest of a long text can be freed. */
export const beginning = (text: string, limit: number): string =>
  text.length > limit ? Buffer.from(text.slice(0, limit)).toString() : text
