import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import fc from 'fast-check'
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createCompactor, type Compaction, type CompactorParts } from '../../../services/threads/compaction/compactor.ts'
import { tokensIn, tokensOf } from '../../../services/models/token-estimate.ts'
import { unpaired } from '../../harness/pairs.ts'
import { yieldToEventLoop } from '../../../services/lib/yield-to-event-loop.ts'
import { withRecentImages } from '../../../services/models/recent-images.ts'

t.test('an estimate is a token for four letters of English, and one for each Chinese character', async (t) => {
  t.equal(tokensIn('abcdefgh'), 2)
  t.equal(tokensIn('你好世界'), 4)
  t.equal(tokensIn(''), 0)
  const picture = { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: 'A'.repeat(1_000_000) } }
  t.ok(tokensOf({ role: 'user', content: [picture] }) < 2_000, 'a picture is no text')
})

const system = { role: 'system' as const, content: 'Be brief.' }

const room = (parts: Partial<CompactorParts>, said: Compaction[] = []) =>
  createCompactor({
    contextWindow: async () => 2_000,
    ask: async () => ({ problem: 'none' }),
    askedWindow: async () => 2_000,
    load: async () => [],
    keep: async () => {},
    onCompaction: (done) => {
      said.push(done)
    },
    ...parts
  })

const text = fc.nat(6_000).map((length) => 'word '.repeat(length / 5))
const said = text.map((words): LanguageModelV4Prompt => [{ role: 'user', content: [{ type: 'text', text: words }] }])
const answered = text.map((words): LanguageModelV4Prompt => [{ role: 'assistant', content: [{ type: 'text', text: words }] }])
const looked = fc.tuple(fc.uuid(), fc.uuid(), text, fc.boolean()).map(([a, b, words, isWhole]): LanguageModelV4Prompt => [
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: a, toolName: 'look', input: { words } }, {
      type: 'tool-call',
      toolCallId: b,
      toolName: 'look',
      input: {}
    }]
  },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: a, toolName: 'look', output: { type: 'json', value: { words } } }] },
  {
    role: 'tool',
    content: [{
      type: 'tool-result',
      toolCallId: b,
      toolName: 'look',
      output: isWhole ? { type: 'text', value: words } : { type: 'execution-denied' }
    }]
  }
])
const conversation = fc.tuple(
  fc.array(fc.oneof(said, answered, looked), { maxLength: 25 }),
  said,
  fc.array(fc.oneof(looked, looked, said), { maxLength: 15 })
)
const summary = fc.oneof(
  fc.constant({ problem: 'took too long' }),
  fc.constantFrom('', 'short', 'long '.repeat(5_000), '{"role":"system"}').map((words) => ({ value: { summary: words } }))
)

t.test('whatever a conversation holds and a summary says: pairs stay, the system prompt and what the user said last stay, and it fits ' +
  'if it can', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, summary, fc.boolean(), async ([before, [latest], after], answer, isRefused) => {
      const history = before.flat()
      const messages = [...history, latest, ...after.flat()]
      const done: Compaction[] = []
      const { compact } = room({ ask: async () => answer as never }, done)
      const call = { opening: [system], messages, latest: history.length, tools: [] }
      let prompt = await compact('a/model', call, false)
      if (isRefused) prompt = await compact('a/model', call, true) ?? prompt
      if (prompt![0] !== system) throw new Error('the system prompt is another')
      const wrong = unpaired(prompt!)
      if (wrong.length > 0) throw new Error(wrong.join('; '))
      if (!prompt!.includes(latest)) throw new Error("the user's message is gone")
      for (const steering of after.flat().filter(({ role }) => role === 'user')) {
        if (!prompt!.includes(steering)) throw new Error('steering is gone')
      }
      const tokens = prompt!.reduce((sum, message) => sum + tokensOf(message), 0)
      const begins = history.findLastIndex(({ role }) => role !== 'user') + 1
      const fixed = [system, ...messages.slice(begins).filter(({ role }) => role === 'user')].reduce(
        (sum, message) => sum + tokensOf(message),
        0
      )
      const newest = prompt!.slice(prompt!.findLastIndex(({ role }) => role !== 'tool')).reduce(
        (sum, message) => sum + tokensOf(message),
        0
      )
      // What must stay may be too much by itself.
      const words = prompt!.filter(({ role, content }) =>
        role === 'user' && (content[0] as { text: string }).text.startsWith('[Not written')
      ).reduce((sum, message) => sum + tokensOf(message), 0)
      if (tokens > Math.max(1_800, fixed + newest) + words) throw new Error(`${tokens} tokens`)
      if (prompt!.length - 1 !== messages.length && done.length === 0) throw new Error('nothing was said of it')
    }),
    { numRuns: 300 }
  )
})

t.test('a refused call is not forgotten when its summary is summed up, and no word of it is long', async (t) => {
  const denied = (path: string): LanguageModelV4Prompt => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: path, toolName: 'deleteFile', input: { path: path.repeat(500) } }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: path, toolName: 'deleteFile', output: { type: 'execution-denied', reason: 'no' } }]
    }
  ]
  const talk = (count: number): LanguageModelV4Prompt =>
    Array.from({ length: count }, (_, n): LanguageModelV4Prompt => [
      { role: 'user', content: [{ type: 'text', text: `${n} ${'word '.repeat(300)}` }] },
      { role: 'assistant', content: [{ type: 'text', text: 'ok' }] }
    ]).flat()
  let kept: any[] = []
  const last: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'and now?' }] }]
  const { compact } = room({
    ask: async () => ({ value: { summary: 'Word 3 came up.' } }) as never,
    load: async () => kept,
    keep: async (summaries) => {
      kept = summaries
    }
  })
  let messages = [...denied('one'), ...talk(6)]
  await compact('a/model', { opening: [system], messages: [...messages, ...last], latest: messages.length, tools: [] }, false)
  messages = [...messages, ...denied('two'), ...talk(9)]
  const prompt = await compact(
    'a/model',
    { opening: [system], messages: [...messages, ...last], latest: messages.length, tools: [] },
    false
  )
  t.equal(kept.length, 1)
  const { text } = prompt![1].content[0] as { text: string }
  t.match(text, /Word 3 came up\.\n[^]*- deleteFile [^]*one[^]*- deleteFile [^]*two/)
  t.ok(text.split('\n').every(({ length }) => length < 500))
})

t.test('a conversation that grows beyond the window is shortened in blocks: between two of them each prompt begins with the one ' +
  'before', async (t) => {
  const step = (n: number): LanguageModelV4Prompt => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `c${n}`, toolName: 'look', input: { n } }] },
    {
      role: 'tool',
      content: [{
        type: 'tool-result',
        toolCallId: `c${n}`,
        toolName: 'look',
        output: { type: 'text', value: `${n} ${'word '.repeat(400)}` }
      }]
    }
  ]
  const user: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'look at all' }] }]
  const steps = Array.from({ length: 60 }, (_, n) => step(n))
  const answers = {
    'outputs are left out, and then summed up': async () => ({ value: { summary: 'They looked.' } }) as never,
    'outputs are left out, and then whole steps': async () => ({ problem: 'took too long' }) as never
  }
  for (const [name, ask] of Object.entries(answers)) {
    let kept: any[] = []
    const parts = {
      ask,
      contextWindow: async () => 10_000,
      load: async () => kept,
      keep: async (summaries: any[]) => {
        kept = summaries
      }
    }
    const { compact } = room(parts)
    const callOf = (count: number) => ({ opening: [system], messages: [...user, ...steps.slice(0, count).flat()], latest: 0, tools: [] })
    const prompts: string[][] = []
    for (let count = 1; count <= steps.length; count++) {
      prompts.push((await compact('a/model', callOf(count), false))!.map((message) => JSON.stringify(message)))
    }
    const breaks = prompts.slice(1).filter((prompt, at) => prompts[at].some((message, n) => message !== prompt[n]))
    t.ok(breaks.length <= steps.length / 4, `${name}: ${breaks.length} blocks`)
    const again = await room(parts).compact('a/model', callOf(steps.length), false)
    t.same(again!.map((message) => JSON.stringify(message)), prompts.at(-1), `${name}: a run that goes on later is told the same`)
  }
})

const SCRIPT = fileURLToPath(new URL('room-work.ts', import.meta.url))

/** How much is done to make a conversation of so many messages fit: not how long it takes, but how often anything is. */
function workOf (messages: number, answer: string): number {
  const { NODE_V8_COVERAGE, ...env } = process.env
  return Number(execFileSync(process.execPath, [SCRIPT, `${messages}`, answer], { env, encoding: 'utf8' }))
}

for (const answer of ['problem', 'summary']) {
  t.test(`a conversation four times as long is four times the work to make fit (${answer})`, async (t) => {
    const [some, more] = [1_000, 4_000].map((messages) => workOf(messages, answer))
    t.ok(some > 10_000, `${some}`)
    t.ok(more / some < 4.4, `${some}, then ${more}: ${(more / some).toFixed(2)}`)
  })
}

const STREAMS = 8
const PARTS = 20

function work (ms: number) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('streams that all have much to do let everything else have its turn, and all come to their end', async (t) => {
  const done: number[] = []
  let others = 0
  const other = () => {
    others++
    if (done.length < STREAMS) setImmediate(other)
  }
  setImmediate(other)

  await Promise.all(Array.from({ length: STREAMS }, async (_, stream) => {
    for (let part = 0; part < PARTS; part++) {
      work(1)
      await yieldToEventLoop()
    }
    done.push(stream)
  }))

  t.equal(done.length, STREAMS)
  t.ok(others > STREAMS, 'between slices, not between rounds of all streams')
})

t.test('a stream with little to do goes on without waiting', async (t) => {
  await new Promise(setImmediate)
  await new Promise(setImmediate)

  t.equal(yieldToEventLoop(), undefined)
})

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
