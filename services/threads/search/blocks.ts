import { type Op, searchPlacesKey, searchWordsKey, messageKey, messagesPrefix, type Store } from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { saidIn } from '../steer-messages.ts'
import { partsOf, type ThreadMessage } from '../thread-message.ts'

/** Messages of a thread that one part of its index covers. */
export const BLOCK = 250
export const blockOf = (position: number) => Math.floor(position / BLOCK)
export const blockCount = ({ messageCount }: ThreadHead) => Math.ceil(messageCount / BLOCK)

/** Returns the version of a block. The index of a block is good if it was made of this version. */
export const versionOf = ({ blocks, updatedAt }: ThreadHead, block: number) => blocks?.[block] ?? updatedAt

/** Returns the versions of the blocks after the messages from a position on changed. */
export function versionsAfter (before: ThreadHead, after: ThreadHead, { from, now }: { from: number, now: number }): number[] {
  const known = before.blocks ?? []
  const version = Math.max(now, ...known.map((each) => each + 1))
  return Array.from({ length: blockCount(after) }, (_, block) => (block < blockOf(from) ? known[block] : undefined) ?? version)
}

/** Returns the operations that remove the index of these blocks. */
export function removeBlocks (thread: string, { from, to }: { from: number, to: number }): Op[] {
  const ops: Op[] = []
  for (let block = from; block < to; block++) {
    ops.push({ type: 'del', key: searchWordsKey(thread, block) }, { type: 'del', key: searchPlacesKey(thread, block) })
  }
  return ops
}

/** Returns the text of a message that is searched: what people and models said, without reasoning, files and tools. */
export const searchedText = (message: ThreadMessage): string =>
  partsOf(message).flatMap((part) => {
    const text = part?.type === 'text' ? part.text : saidIn(part)?.text
    return typeof text === 'string' ? [text] : []
  }).join('\n\n')

/** Yields the messages of a block with their positions, the newest first with `reverse`; `before` is a position that ends it earlier. */
export async function * messagesOfBlock (
  store: Pick<Store, 'list'>,
  thread: string,
  block: number,
  { reverse = false, before = Infinity }: { reverse?: boolean, before?: number } = {}
): AsyncGenerator<{ at: number, message: ThreadMessage }> {
  const first = block * BLOCK
  const end = Math.min(first + BLOCK, before)
  const prefix = messagesPrefix(thread)
  const after = reverse ? messageKey(thread, end) : first > 0 ? messageKey(thread, first - 1) : undefined
  const range = { reverse, limit: Math.max(end - first, 0), after, damaged () {} }
  for await (const [key, message] of store.list<ThreadMessage>(prefix, range)) {
    const at = Number(key.slice(prefix.length))
    if (at < first || at >= end) return
    yield { at, message }
    await yieldToEventLoop()
  }
}
