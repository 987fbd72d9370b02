import { jsonBytes, PAGE_BYTES } from '../lib/json.ts'
import { isDamage, messageKey, messagesPrefix, metadataKey, type Store, threadKey } from '../store/index.ts'
import { continuesAnswer } from './rendering/answer-units.ts'
import { SettingsDamaged, ThreadDamaged } from './thread-errors.ts'
import { type ThreadHead } from './thread-head.ts'
import type { Metadata } from './thread-metadata.ts'
import type { ThreadMessage } from './thread-message.ts'

/** Reads stored threads. Every function throws ThreadDamaged (500) if a record cannot be read. */
export function createThreadReader (store: Pick<Store, 'get' | 'list' | 'digest'>) {
  const onDamage = (id: string) => (): never => {
    throw new ThreadDamaged(id)
  }
  const orThreadDamaged = (id: string) => (error: unknown): never => {
    throw isDamage(error) ? new ThreadDamaged(id) : error
  }

  const reader = {
    /** Returns the head of a thread; undefined if there is no such thread. */
    get: (id: string) => store.get<ThreadHead>(threadKey(store.digest(id))).catch(orThreadDamaged(id)),

    /** Returns what is set for the runs of a thread. Throws SettingsDamaged (500): without them, runs could do more than is allowed. */
    settings: async (id: string) =>
      (await store.get<Metadata>(metadataKey(store.digest(id))).catch((error) => {
        throw isDamage(error) ? new SettingsDamaged(id) : error
      }))?.settings,

    /** Returns the messages from position `from` on, at most `limit`. */
    async messages (id: string, { from = 0, limit }: { from?: number, limit?: number } = {}): Promise<ThreadMessage[]> {
      const thread = store.digest(id)
      const found: ThreadMessage[] = []
      const range = { limit, ...(from > 0 && { after: messageKey(thread, from - 1) }), damaged: onDamage(id) }
      for await (const [, message] of store.list<ThreadMessage>(messagesPrefix(thread), range)) found.push(message)
      return found
    },

    /** Yields the messages from position `from` on. Messages are read from disk on demand. */
    async * from (id: string, from: number): AsyncGenerator<ThreadMessage> {
      const thread = store.digest(id)
      const range = { ...(from > 0 && { after: messageKey(thread, from - 1) }), damaged: onDamage(id) }
      for await (const [, message] of store.list<ThreadMessage>(messagesPrefix(thread), range)) yield message
    },

    /** Yields the messages before position `end` with their positions, the newest first. Messages are read from disk on demand. */
    async * backwards (id: string, end?: number): AsyncGenerator<{ at: number, message: ThreadMessage }> {
      const thread = store.digest(id)
      const prefix = messagesPrefix(thread)
      const range = { reverse: true, damaged: onDamage(id), ...end !== undefined && { after: messageKey(thread, end) } }
      for await (const [key, message] of store.list<ThreadMessage>(prefix, range)) {
        yield { at: Number(key.slice(prefix.length)), message }
      }
    },

    /** Returns the last messages before position `end`, at most `limit` and at most one page of bytes, and the position of the first. */
    async lastMessages (
      id: string,
      { end, limit }: { end: number, limit: number }
    ): Promise<{ messages: ThreadMessage[], from: number }> {
      const thread = store.digest(id)
      const found: ThreadMessage[] = []
      let bytes = 0
      if (end > 0) {
        const range = { reverse: true, after: messageKey(thread, end), damaged: onDamage(id) }
        for await (const [, message] of store.list<ThreadMessage>(messagesPrefix(thread), range)) {
          bytes += jsonBytes(message)
          if (found.length > 0 && (found.length === limit || bytes > PAGE_BYTES)) break
          found.push(message)
        }
      }
      return { messages: found.reverse(), from: end - found.length }
    },

    /** As `lastMessages`, with more at the beginning if the first message belongs to an answer that begins earlier. */
    async lastAnswers (id: string, page: { end: number, limit: number }): Promise<{ messages: ThreadMessage[], from: number }> {
      const { messages, from } = await reader.lastMessages(id, page)
      const earlier: ThreadMessage[] = []
      for (let at = from; at > 0 && messages.length > 0; at--) {
        const [before] = await reader.messages(id, { from: at - 1, limit: 1 })
        if (before === undefined || !continuesAnswer(before, earlier.at(-1) ?? messages[0])) break
        earlier.push(before)
      }
      return { messages: [...earlier.reverse(), ...messages], from: from - earlier.length }
    }
  }
  return reader
}
