import { jsonBytes, PAGE_BYTES } from '../lib/json.ts'
import { isDamage, messageKey, messagesPrefix, metadataKey, type Store, threadKey } from '../store/index.ts'
import { continuesAnswer } from './rendering/answer-units.ts'
import { SettingsDamaged, ThreadDamaged } from './thread-errors.ts'
import { type ThreadHead } from './thread-head.ts'
import type { Metadata } from './thread-metadata.ts'
import { isStoredAnswer, type ReadAnswer } from './stored-answer.ts'
import type { ThreadMessage } from './thread-message.ts'

/** A range of numbers of messages, from the first up to but without the second. */
export type Span = readonly [from: number, to: number]

/**
 * Yields the records of the messages with these numbers, in order or, with `reverse`, the last first. Records are read from disk on demand.
 * `thread` is the digest of the thread.
 */
export async function * readSpan (
  store: Pick<Store, 'list'>,
  thread: string,
  [from, to]: Span,
  { reverse = false, damaged }: { reverse?: boolean, damaged: (key: string) => void }
): AsyncGenerator<{ number: number, record: ThreadMessage }> {
  if (from >= to) return
  const prefix = messagesPrefix(thread)
  const after = reverse ? messageKey(thread, to) : from > 0 ? messageKey(thread, from - 1) : undefined
  for await (const [key, record] of store.list<ThreadMessage>(prefix, { reverse, after, limit: to - from, damaged })) {
    const number = Number(key.slice(prefix.length))
    if (number < from || number >= to) break
    yield { number, record }
  }
}

/** The most answers that are read at the same time. */
const AT_ONCE = 32

/**
 * Reads stored threads. Answers are read from the logs of their runs. Every function throws ThreadDamaged (500) if a record cannot be read.
 */
export function createThreadReader (store: Pick<Store, 'get' | 'list' | 'digest'>, readAnswer: ReadAnswer) {
  const onDamage = (id: string) => (): never => {
    throw new ThreadDamaged(id)
  }
  const orThreadDamaged = (id: string) => (error: unknown): never => {
    throw isDamage(error) ? new ThreadDamaged(id) : error
  }

  /** Returns the message of a record. */
  const resolve = async (id: string, record: ThreadMessage): Promise<ThreadMessage> =>
    isStoredAnswer(record) ? readAnswer(record).catch(orThreadDamaged(id)) : record

  /** Yields the messages of records. The messages are read in groups: first one, then twice as many each time, up to AT_ONCE. */
  async function * resolveEach (
    id: string,
    records: AsyncIterable<{ record: ThreadMessage }>
  ): AsyncGenerator<ThreadMessage> {
    let some: Array<Promise<ThreadMessage>> = []
    let size = 1
    for await (const { record } of records) {
      const message = resolve(id, record)
      // The promise is awaited later, or never if the reader stops.
      message.catch(() => {})
      some.push(message)
      if (some.length < size) continue
      yield * await Promise.all(some)
      some = []
      size = Math.min(2 * size, AT_ONCE)
    }
    yield * await Promise.all(some)
  }

  /** Yields the records between two positions, the newest first with `reverse`. */
  async function * recordsOf (id: string, { from = 0, to = Infinity, reverse = false }: { from?: number, to?: number, reverse?: boolean }) {
    const head = await reader.get(id)
    if (head === undefined) return
    yield * readSpan(store, store.digest(id), [from, Math.min(to, head.messageCount)], { reverse, damaged: onDamage(id) })
  }

  const reader = {
    /** Returns the records of the messages with these numbers. */
    async inSpan (id: string, span: Span): Promise<ThreadMessage[]> {
      const found: ThreadMessage[] = []
      for await (const { record } of readSpan(store, store.digest(id), span, { damaged: onDamage(id) })) found.push(record)
      return found
    },

    /** Returns the messages of records. */
    resolve: (id: string, records: readonly ThreadMessage[]): Promise<ThreadMessage[]> =>
      Promise.all(records.map((record) => resolve(id, record))),

    /** Returns the head of a thread; undefined if there is no such thread. */
    get: (id: string) => store.get<ThreadHead>(threadKey(store.digest(id))).catch(orThreadDamaged(id)),

    /**
     * Returns the settings for the runs of a thread. Throws SettingsDamaged (500), because without its settings a run could do more than
     * the user allows.
     */
    settings: async (id: string) =>
      (await store.get<Metadata>(metadataKey(store.digest(id))).catch((error) => {
        throw isDamage(error) ? new SettingsDamaged(id) : error
      }))?.settings,

    /** Returns the messages from position `from` on, at most `limit`. */
    async messages (id: string, { from = 0, limit = Infinity }: { from?: number, limit?: number } = {}): Promise<ThreadMessage[]> {
      const found: ThreadMessage[] = []
      for await (const message of resolveEach(id, recordsOf(id, { from, to: from + limit }))) found.push(message)
      return found
    },

    /** Yields the records of messages from position `from` on, in their stored form. Records are read from disk on demand. */
    async * records (id: string, from: number): AsyncGenerator<ThreadMessage> {
      for await (const { record } of recordsOf(id, { from })) yield record
    },

    /** Yields the messages before position `end` with their positions, the newest first. Messages are read from disk on demand. */
    async * backwards (id: string, end = Infinity): AsyncGenerator<{ at: number, message: ThreadMessage }> {
      let at = Math.min(end, (await reader.get(id))?.messageCount ?? 0)
      for await (const { record } of recordsOf(id, { to: at, reverse: true })) yield { at: --at, message: await resolve(id, record) }
    },

    /** Returns the last messages before position `end`, at most `limit` and at most PAGE_BYTES, and the position of the first of them. */
    async lastMessages (
      id: string,
      { end, limit }: { end: number, limit: number }
    ): Promise<{ messages: ThreadMessage[], from: number }> {
      const found: ThreadMessage[] = []
      let bytes = 0
      for await (const message of resolveEach(id, recordsOf(id, { from: Math.max(end - limit, 0), to: end, reverse: true }))) {
        bytes += jsonBytes(message)
        if (found.length > 0 && bytes > PAGE_BYTES) break
        found.push(message)
      }
      return { messages: found.reverse(), from: end - found.length }
    },

    /** Like `lastMessages`, but adds messages at the beginning if the first one belongs to an answer that begins earlier. */
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
