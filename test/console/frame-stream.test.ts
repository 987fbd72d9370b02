import type { UIMessageChunk } from 'ai'
import t from 'tap'
import { frameStream } from '../../console/pages/chat/stream/frame-stream.ts'

const delta = (id: string, delta: string): UIMessageChunk => ({ type: 'text-delta', id, delta })

/** Reads a stream frame by frame; returns what each frame brought. */
async function frames (chunks: AsyncGenerator<UIMessageChunk>) {
  const seen: UIMessageChunk[][] = []
  const stream = frameStream(chunks, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    seen.push([])
  })
  for await (const chunk of stream) {
    if (seen.length === 0) seen.push([])
    seen.at(-1)!.push(chunk)
  }
  return seen
}

t.test('the pieces of one text that come in one frame are joined, and nothing else changes', async (t) => {
  const [first] = await frames((async function * () {
    yield { type: 'text-start', id: 'a' } as const
    yield * [delta('a', 'one '), delta('a', 'two'), delta('b', 'three')]
    yield { type: 'text-end', id: 'a' } as const
  })())
  t.same(first, [{ type: 'text-start', id: 'a' }, delta('a', 'one two'), delta('b', 'three'), { type: 'text-end', id: 'a' }])
})

t.test('a model that never waits fills many frames, of bounded size', async (t) => {
  let made = 0
  const seen = await frames((async function * () {
    for (; made < 2_000; made++) yield delta('a', '.')
  })())
  const texts = seen.flat().map((chunk) => 'delta' in chunk ? String(chunk.delta) : '')
  t.equal(texts.join('').length, 2_000)
  t.ok(texts.every((text) => text.length <= 500))
})

t.test('a failure comes after what was read before it, and a reader that leaves ends the source', async (t) => {
  const failing = frameStream((async function * () {
    yield delta('a', 'before')
    throw new Error('cut')
  })(), async () => {})
  const reader = failing.getReader()
  t.same((await reader.read()).value, delta('a', 'before'))
  await t.rejects(reader.read(), { message: 'cut' })

  let isEnded = false
  const endless = frameStream((async function * () {
    try {
      while (true) yield delta('a', '.')
    } finally {
      isEnded = true
    }
  })(), async () => {})
  const first = endless.getReader()
  await first.read()
  await first.cancel()
  t.ok(isEnded)
})
