import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import t from 'tap'
import { withRecentImages } from '../../../services/models/recent-images.ts'

/** A tool message with one result that has these parts: a number is an image of so many characters. */
const tool = (...parts: Array<string | number>): LanguageModelV4Prompt[number] => ({
  role: 'tool',
  content: [{
    type: 'tool-result',
    toolCallId: 'c',
    toolName: 'look',
    output: {
      type: 'content',
      value: parts.map((part) =>
        typeof part === 'string'
          ? { type: 'text', text: part }
          : { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'A'.repeat(part) } }
      )
    }
  }]
})
/** The same back; an image that was left out is null. */
const shown = (prompt: LanguageModelV4Prompt) =>
  prompt.flatMap((message) =>
    message.role !== 'tool'
      ? [message.role]
      : message.content.flatMap((result: any) =>
        result.output.value.map((part: any) => part.type === 'file' ? part.data.data.length : /older/.test(part.text) ? null : part.text)
      )
  )

t.test('a call carries ten images of tools; when there are more, the five newest', async (t) => {
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: 'x' },
    ...Array.from({ length: 12 }, (_, n) => tool(`text ${n}`, n + 1))
  ]
  t.same(shown(withRecentImages(prompt)), ['system', ...Array.from({ length: 12 }, (_, n) => [`text ${n}`, n < 6 ? null : n + 1]).flat()])
})

t.test('images are left out in blocks: between two blocks each prompt begins with the one before', async (t) => {
  const images = Array.from({ length: 40 }, (_, n) => tool(n % 7 === 0 ? 3 * 1024 * 1024 : n + 1))
  const begins = images.map((_, n) => {
    const [before, after] = [n, n + 1].map((count) => shown(withRecentImages(images.slice(0, count))))
    return before.every((part, at) => part === after[at])
  })
  t.ok(begins.filter((same) => !same).length <= 40 / 5, `${begins.filter((same) => !same).length} blocks`)
})

t.test('and no more of them than 10 MiB, within a result too', async (t) => {
  const mib = 1024 * 1024
  t.same(shown(withRecentImages([tool(1), tool(6 * mib, 4 * mib, 4 * mib), tool(2 * mib)])), [null, null, 4 * mib, 4 * mib, 2 * mib])
})

t.test('all else stays as it is', async (t) => {
  const prompt: LanguageModelV4Prompt = [
    { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'x', output: { type: 'json', value: { a: 1 } } }, {
        type: 'tool-result',
        toolCallId: 'b',
        toolName: 'x',
        output: { type: 'error-text', value: 'no' }
      }]
    }
  ]
  t.strictSame(withRecentImages(prompt), prompt)
})
