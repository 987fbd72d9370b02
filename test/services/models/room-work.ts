import { Session } from 'node:inspector/promises'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createCompactor } from '../../../services/threads/compaction/compactor.ts'

// node room-work.ts <messages> <problem|summary>: how often the statements of services/threads/compaction ran to make a
// conversation of so many messages fit. A process of its own: the engine counts for one listener at a time.

const [count, answer] = process.argv.slice(2)
const messages: LanguageModelV4Prompt = Array.from({ length: Number(count) }, (_, n): LanguageModelV4Prompt =>
  n % 10 === 8
    ? [
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `c${n}`, toolName: 'look', input: { n } }] },
        {
          role: 'tool',
          content: [{
            type: 'tool-result',
            toolCallId: `c${n}`,
            toolName: 'look',
            output: n % 20 === 8 ? { type: 'json', value: { text: 'word '.repeat(200) } } : { type: 'execution-denied' }
          }]
        }
      ]
    : [
        n % 2 === 0
          ? { role: 'user', content: [{ type: 'text', text: `question ${n}` }] }
          : { role: 'assistant', content: [{ type: 'text', text: `answer ${n}` }] }
      ]).flat()

const room = createCompactor({
  // Some of it always fits, so that each kind of compaction has most of the conversation before it.
  contextWindow: async () => Number(count) * 2,
  askedWindow: async () => Number(count) * 2,
  ask: async () => (answer === 'summary' ? { value: { summary: 'They talked.' } } : { problem: 'none' }) as never,
  load: async () => [],
  keep: async () => {},
  onCompaction () {}
})
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
const conversation = {
  opening: [{ role: 'system' as const, content: 'Be brief.' }],
  messages,
  latest: messages.length - 1,
  tools: [],
  places: new Map(messages.map((message, at) => [message, at]))
}
await room.compact('a/model', conversation, false)
await room.compact('a/model', conversation, false)
await room.compact('a/model', conversation, true)
const { result } = await session.post('Profiler.takePreciseCoverage')
const ours = result.filter(({ url }) => url.includes('/services/threads/compaction/'))
console.log(ours.flatMap(({ functions }) => functions).flatMap(({ ranges }) => ranges).reduce((sum, range) => sum + range.count, 0))
