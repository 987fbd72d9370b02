import type { UIMessageChunk } from 'ai'

/**
 * The maximum number of chunks that are read per frame, and the maximum time for reading them, in milliseconds. The rest stays in the
 * connection, so that the page can draw and respond.
 */
const MOST_IN_FRAME = 500
const READING_MS = 8

/**
 * Returns a stream that emits chunks once per frame, with consecutive pieces of one text joined. The page is thus drawn at most once per
 * frame, however fast a model writes. `nextFrame` resolves at the next frame.
 */
export function frameStream (chunks: AsyncGenerator<UIMessageChunk>, nextFrame: () => Promise<void>): ReadableStream<UIMessageChunk> {
  let collected: UIMessageChunk[] = []
  let count = 0
  /** The time when the first chunk of this frame was read. */
  let since = 0
  let isOver = false
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let room = () => {}

  async function collect () {
    try {
      for await (const chunk of chunks) {
        if (count++ === 0) since = performance.now()
        append(collected, chunk)
        wake()
        if (count < MOST_IN_FRAME && performance.now() - since < READING_MS) continue
        await new Promise<void>((resolve) => {
          room = resolve
        })
      }
    } catch (error) {
      failure = { error }
    }
    isOver = true
    wake()
  }
  void collect()

  return new ReadableStream({
    async pull (controller) {
      if (collected.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (!isOver) await nextFrame()
      for (const chunk of collected) controller.enqueue(chunk)
      collected = []
      count = 0
      room()
      if (!isOver) return
      if (failure === undefined) controller.close()
      else controller.error(failure.error)
    },
    async cancel () {
      room()
      await chunks.return(undefined)
    }
  }, { highWaterMark: 0 })
}

/** Appends a chunk. If it continues the text of the last chunk, the two are joined. */
function append (collected: UIMessageChunk[], chunk: UIMessageChunk) {
  const last = collected.at(-1)
  if (chunk.type === 'text-delta' && last?.type === 'text-delta' && last.id === chunk.id) {
    collected[collected.length - 1] = { ...chunk, delta: last.delta + chunk.delta }
  } else if (chunk.type === 'reasoning-delta' && last?.type === 'reasoning-delta' && last.id === chunk.id) {
    collected[collected.length - 1] = { ...chunk, delta: last.delta + chunk.delta }
  } else if (chunk.type === 'tool-input-delta' && last?.type === 'tool-input-delta' && last.toolCallId === chunk.toolCallId) {
    collected[collected.length - 1] = { ...chunk, inputTextDelta: last.inputTextDelta + chunk.inputTextDelta }
  } else collected.push(chunk)
}
