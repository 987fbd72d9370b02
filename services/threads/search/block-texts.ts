import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { messageKey, messagesPrefix, type Store } from '../../store/index.ts'
import { saidIn } from '../steer-messages.ts'
import { partsOf, type ThreadMessage } from '../thread-message.ts'
import { BLOCK } from './blocks.ts'

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
