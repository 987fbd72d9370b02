import { steeringIn } from './steer-messages.ts'
import { ownText, textOf } from './thread-message.ts'
import type { ThreadMessage, ThreadRepository } from './thread-repository.ts'

/** A message of the user in a thread. */
export interface UserMessage {
  text: string
  /** The position of the message in the thread. */
  at: number
  /** When the message was sent, milliseconds since the Unix epoch; 0 if unknown. */
  said: number
  id?: string
  /** The question at the end of the assistant's message before this one. */
  asked?: string
}

/** The user's messages in the conversation of a run. */
export interface UserWords {
  threadId: string
  /** The messages, oldest first. */
  messages: UserMessage[]
  /** Whether the run has results of tools other than those of the memory. */
  hasRead: boolean
}

/** The most characters of a message that are read. */
const MAX_CHARACTERS = 12_000
/** The most messages of the user that are read, the newest ones. */
const MAX_MESSAGES = 500

/** Reads the user's messages in a thread from the `n`-th turn on, including steering messages; at most the newest 500. */
export async function readUserMessages (threads: Pick<ThreadRepository, 'turns' | 'messages'>, id: string, n = 0): Promise<UserMessage[]> {
  const messages: UserMessage[] = []
  const read = async (at: number) => (await threads.messages(id, { from: at, limit: 1 }))[0]
  for (const { at, sentAt, id: messageId, steered = [] } of (await threads.turns(id, n)).slice(-MAX_MESSAGES)) {
    const message = await read(at)
    const text = message === undefined ? '' : beginning(wordsOf(message), MAX_CHARACTERS)
    const before = at > 0 ? await read(at - 1) : undefined
    const asked = before?.role === 'assistant' ? questionAtEnd(wordsOf(before)) : undefined
    messages.push({ text, at, said: sentAt, ...(messageId !== undefined && { id: messageId }), ...(asked !== undefined && { asked }) })
    for (const { id: steerId, ...place } of steered) {
      const holder = await read(place.at)
      const words = holder === undefined ? undefined : steeringIn(holder).find((each) => each.id === steerId)
      messages.push({ text: beginning(words?.text ?? '', MAX_CHARACTERS), at: place.at, said: place.sentAt, id: steerId })
    }
  }
  return messages.slice(-MAX_MESSAGES)
}

/** The most characters of a question of the assistant. */
const MAX_QUESTION = 200
/** Matches a question at the end of a text. Links and markup are not part of a question that a person answers. */
const QUESTION_AT_END = /(?:^|[.!?:;。！？؟।\n]\s*)([^.!?:;。！？؟।\n<>`|]+[?？؟])[\s\p{P}\p{S}]*$/u

/** Returns the question at the end of a text; undefined if the text does not end with a question. */
function questionAtEnd (text: string): string | undefined {
  const question = QUESTION_AT_END.exec(text.slice(-2 * MAX_QUESTION))?.[1].trim()
  return question === undefined || question.length > MAX_QUESTION || /https?:/i.test(question) ? undefined : question
}

/** Returns the text of a message. The parts are on separate lines, because a sentence does not continue in another part. */
const wordsOf = (message: ThreadMessage) => message.role === 'user' ? ownText(message, '\n\n') : textOf(message, '\n\n')

/** Returns the first `limit` characters of a text. The result is a copy, so that the memory of a long text can be freed. */
export const beginning = (text: string, limit: number): string =>
  text.length > limit ? Buffer.from(text.slice(0, limit)).toString() : text
