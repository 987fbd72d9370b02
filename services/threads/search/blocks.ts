import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { metadataKey, type Store, threadKey, unlessDamaged } from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'
import type { Metadata } from '../thread-metadata.ts'
import { readSpan } from '../thread-reader.ts'
import { saidIn } from '../steer-messages.ts'
import { isStoredAnswer, type ReadAnswer } from '../stored-answer.ts'
import { partsOf, type ThreadMessage } from '../thread-message.ts'

/**
 * The number of messages of a thread that the index treats as one block. If a block might contain the searched words, a search reads all
 * its messages.
 */
export const BLOCK = 16
export const blockOf = (position: number) => Math.floor(position / BLOCK)

/** Reads the texts of threads that are searched. `thread` is the digest of a thread. Damaged texts are left out. */
export function createSearchedTexts (store: Pick<Store, 'get' | 'list'>, readAnswer: ReadAnswer) {
  return {
    head: (thread: string) => unlessDamaged(store.get<ThreadHead>(threadKey(thread))),
    title: async (thread: string) => (await unlessDamaged(store.get<Metadata>(metadataKey(thread))))?.title,

    /** Yields the messages of a block that are before a position, the newest first. */
    async * messages (thread: string, block: number, before = Infinity): AsyncGenerator<{ at: number, message: ThreadMessage }> {
      const head = await unlessDamaged(store.get<ThreadHead>(threadKey(thread)))
      const end = Math.min((block + 1) * BLOCK, before, head?.messageCount ?? 0)
      for await (const { number: at, record } of readSpan(store, thread, [block * BLOCK, end], { reverse: true, damaged () {} })) {
        const message = isStoredAnswer(record) ? await unlessDamaged(readAnswer(record)) : record
        if (message === undefined) continue
        yield { at, message }
        await yieldToEventLoop()
      }
    }
  }
}

/** Returns the text of a message that is searched: what people and models said, without reasoning, files and tools. */
export const searchedText = (message: ThreadMessage): string =>
  partsOf(message).flatMap((part) => {
    const text = part?.type === 'text' ? part.text : saidIn(part)?.text
    return typeof text === 'string' ? [text] : []
  }).join('\n\n')
