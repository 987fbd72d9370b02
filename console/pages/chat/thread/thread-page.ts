import type { UIMessage } from 'ai'
import { AgentError } from '../../../../client/errors.ts'
import { getThread, type ThreadSettings, type ThreadView } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'
import type { LoadedMessages } from './loaded-messages.ts'

/** The number of messages on the newest page of a thread, and on a page of older messages. */
const PAGE = 50
const OLDER_PAGE = 200

/** The newest messages of a thread, and its state. */
export interface ThreadPage extends LoadedMessages {
  /**
   * When the page was requested, in milliseconds since the Unix epoch. A page requested before an answer ended does not hold that answer.
   */
  askedAt: number
  title: string
  status: ThreadView['status']
  settings?: ThreadSettings
  /** True if the thread does not exist yet: it begins with its first message. */
  isNew: boolean
}

async function read (id: string, query: { limit: number, cursor?: string }) {
  const { messages, nextCursor, ...thread } = await getThread({ ...asked(), path: { id }, query: { ...query, protocol: 'ui' } }).then(body)
  return { ...thread, from: Number(nextCursor ?? 0), messages: messages as unknown as UIMessage[] }
}

/** The query of the newest messages of a thread. */
export const threadPage = (id: string) => ({
  queryKey: [...keys.thread(id), 'page'],
  queryFn: async (): Promise<ThreadPage> => {
    const askedAt = Date.now()
    try {
      const { title, status, settings, from, messages } = await read(id, { limit: PAGE })
      return { askedAt, title, status, settings, from, messages, isNew: false }
    } catch (error) {
      if (!(error instanceof AgentError) || error.statusCode !== 404) throw error
      return { ...NEW_PAGE, askedAt }
    }
  }
})

/** The page of a conversation that has no message yet. */
export const NEW_PAGE: ThreadPage = { askedAt: 0, title: '', status: 'idle', from: 0, messages: [], isNew: true }

/** Reads the messages before position `end`. */
export async function olderMessages (id: string, end: number): Promise<LoadedMessages & { end: number }> {
  const { from, messages } = await read(id, { limit: OLDER_PAGE, cursor: String(end) })
  return { from, messages, end }
}

/** Returns all messages of a thread whose newest messages are loaded. */
export async function allMessages (id: string, { from, messages }: LoadedMessages): Promise<UIMessage[]> {
  const all = [messages]
  for (let end = from; end > 0;) {
    const older = await olderMessages(id, end)
    all.unshift(older.messages)
    end = older.from
  }
  return all.flat()
}
