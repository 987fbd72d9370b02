import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { messageKey, messagesPrefix, metadataKey, type Store, threadKey, unlessDamaged } from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'
import type { Metadata } from '../thread-metadata.ts'
import { saidIn } from '../steer-messages.ts'
import { partsOf, type ThreadMessage } from '../thread-message.ts'

/** Messages of a thread that the index takes as one: a search reads all of them where one may hold its words. */
export const BLOCK = 16
export const blockOf = (position: number) => Math.floor(position / BLOCK)

/** Reads what is searched of threads, which are named by their digests. What is damaged is left out. */
export function createSearchedTexts (store: Pick<Store, 'get' | 'list'>) {
  return {
    head: (thread: string) => unlessDamaged(store.get<ThreadHead>(threadKey(thread))),
    title: async (thread: string) => (await unlessDamaged(store.get<Metadata>(metadataKey(thread))))?.title,

    /** Yields the messages of a block before a position, the newest first. */
    async * messages (thread: string, block: number, before = Infinity): AsyncGenerator<{ at: number, message: ThreadMessage }> {
      const first = block * BLOCK
      const end = Math.min(first + BLOCK, before)
      const prefix = messagesPrefix(thread)
      const range = { reverse: true, limit: Math.max(end - first, 0), after: messageKey(thread, end), damaged () {} }
      for await (const [key, message] of store.list<ThreadMessage>(prefix, range)) {
        const at = Number(key.slice(prefix.length))
        if (at < first) return
        yield { at, message }
        await yieldToEventLoop()
      }
    }
  }
}
export type SearchedTexts = ReturnType<typeof createSearchedTexts>

/** Returns the text of a message that is searched: what people and models said, without reasoning, files and tools. */
export const searchedText = (message: ThreadMessage): string =>
  partsOf(message).flatMap((part) => {
    const text = part?.type === 'text' ? part.text : saidIn(part)?.text
    return typeof text === 'string' ? [text] : []
  }).join('\n\n')
