import fc from 'fast-check'
import t from 'tap'
import { batchesOf } from '../../../../services/models/providers/part-batches.ts'
import { ask, compared, events, ID, openAt, read, type Part } from '../../../harness/compared-readers.ts'
import { damagedStreams, send, serve } from '../../../harness/event-streams.ts'
import type { Answer } from '../../../suites/gateway-reader.ts'

const MIB = 1024 * 1024

const chunk = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })
const call = (...pieces: unknown[]) => chunk({ tool_calls: pieces })
const piece = (index: number | undefined, id: string | undefined, name: string | undefined, input?: string) =>
  ({ index, id, function: { name, arguments: input } })
const said = (text: string) => ({ type: 'text', text })
const stop = chunk({}, { finish_reason: 'stop' })
const called = chunk({}, { finish_reason: 'tool_calls' })
const of = (parts: Part[], type: Part['type']) => parts.filter((part) => part.type === type)

t.test('texts, thoughts, the beginning and the end of an answer', async (t) => {
  const both = await compared(t)
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 4, more: 1 },
    completion_tokens_details: { reasoning_tokens: 2, accepted_prediction_tokens: 1, rejected_prediction_tokens: 3 }
  }
  const { parts } = await both({
    pieces: events(
      { id: '', created: 0, model: '', choices: [] },
      { id: 'c', created: 1_700_000_000, model: 'm', ...chunk({ role: 'assistant', reasoning_content: 'hm' }) },
      chunk({ reasoning: 'm' }),
      chunk({ content: 'one ' }),
      chunk({ content: [said('two'), { type: 'thinking', thinking: [said('three'), null, { type: 'x' }] }] }),
      chunk({ role: '', content: '', refusal: false }),
      stop,
      { choices: [], usage },
      '[DONE]'
    )
  })
  t.strictSame(parts.map(({ type }) => type), [
    'stream-start',
    'response-metadata',
    'reasoning-start',
    'reasoning-delta',
    'reasoning-delta',
    'reasoning-end',
    'text-start',
    'text-delta',
    'text-delta',
    'text-end',
    'reasoning-start',
    'reasoning-delta',
    'error',
    'reasoning-end',
    'finish'
  ])
  t.match(parts[0], { warnings: [{ feature: 'topK' }] })
  t.match(parts.at(-1), { usage: { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { reasoning: 2 } } })
})

t.test('the reason for the end of an answer', async (t) => {
  const both = await compared(t)
  for (const reason of ['stop', 'length', 'content_filter', 'function_call', 'tool_calls', 'odd', 'constructor', '']) {
    const { parts } = await both({ pieces: events(chunk({ content: 'x' }), chunk(null, { finish_reason: reason })) })
    t.match(parts.at(-1), { type: 'finish', finishReason: { raw: reason } })
  }
  const { parts } = await both({ pieces: events(chunk({ refusal: 'No.' }, { finish_reason: 'stop' })) })
  t.match(parts.at(-1), { finishReason: { unified: 'content-filter' } })
  t.match((await both({ pieces: events(chunk({ content: 'x' })) })).parts, { length: 6 })
  await both({ pieces: [] })
})

t.test('tool calls, however they are cut into pieces', async (t) => {
  const both = await compared(t)
  const rows: Record<string, unknown[]> = {
    'one chunk': [call(piece(0, 'a', 'read', '{"x":1}'))],
    pieces: [call(piece(0, 'a', 'read', '')), call(piece(0, undefined, undefined, '{"x"')), call(piece(0, undefined, undefined, ':1}'))],
    'two calls in turn': [
      call(piece(0, 'a', 'read', '{'), piece(1, 'b', 'list')),
      call(piece(1, undefined, undefined, '{}')),
      call(piece(0, undefined, undefined, '}'))
    ],
    'no id': [call(piece(0, undefined, 'read', '{}')), call(piece(1, '', 'read', '{}'))],
    'no index': [call(piece(undefined, 'a', 'read', '{}')), call(piece(undefined, 'b', 'read', '{}'))],
    'the name last': [call(piece(0, 'a', undefined, '{"x"')), call(piece(0, undefined, 'read', ':1}'))],
    'no name': [call(piece(0, 'a', undefined, '{}'))],
    'no name and no index': [call(piece(undefined, 'a', undefined, '{}'))],
    'a signature': [call({ ...piece(0, 'a', 'read', '{}'), extra_content: { google: { thought_signature: 's' } } })],
    'after thoughts and text': [chunk({ reasoning: 'hm' }), call(piece(0, 'a', 'read', '{}')), chunk({ content: 'done' })]
  }
  for (const [what, chunks] of Object.entries(rows)) {
    const { parts, failure } = await both({ pieces: events(...chunks, called) })
    if (what.startsWith('no name')) t.match(failure, { code: String }, what)
    else t.equal(of(parts, 'tool-call').length, /two|no i/.test(what) ? 2 : 1, what)
  }
})

t.test('errors and what cannot be read, before the rest of the answer', async (t) => {
  const both = await compared(t)
  const bad = [
    { error: { message: 'slow down', type: 'rate_limit_exceeded', code: 429, more: 1 } },
    { error: { message: 'odd', code: null }, choices: [] },
    { error: 'words', choices: [] },
    { error: 'words' },
    { choices: 7 },
    { choices: [7] },
    chunk({ content: 7 }),
    chunk({ role: 'user' }),
    chunk({ tool_calls: [{ index: 0 }] }),
    { choices: [], usage: { prompt_tokens: '7' } },
    { choices: [], created: 'now' },
    { unknown: { constructor: { prototype: 1 } }, choices: [] },
    null,
    'words',
    [1]
  ]
  for (const each of bad) {
    const { parts } = await both({ pieces: events(chunk({ content: 'x' }), each, chunk({ content: 'y' }), stop) })
    t.equal(of(parts, 'error').length, 1, JSON.stringify(each))
  }
  for (const text of ['data: {"cho\n\n', 'data: x\n\n', 'data:\n\n']) await both({ pieces: [Buffer.from(text), ...events(stop)] })
})

t.test('answers that are none, too large, refused or cut off', async (t) => {
  const both = await compared(t)
  const slices = (bytes: Buffer) =>
    Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) => bytes.subarray(at * 65_536, (at + 1) * 65_536))
  const huge = (size: number) => slices(Buffer.concat(events(chunk({ content: 'x'.repeat(size) }), stop)))
  t.match((await both({ pieces: huge(3 * MIB) })).failure, undefined)
  const rows: Array<[Answer, object]> = [
    [{ pieces: huge(9 * MIB) }, { message: /more than 8 MiB/ }],
    [{ pieces: events(chunk({ content: 'x' })), isCut: true }, { code: 'ERR_PROVIDER_CONNECTION', retryable: true }],
    [{ pieces: [], isCut: true }, { code: 'ERR_PROVIDER_CONNECTION', retryable: true }],
    [{ pieces: [Buffer.from('<html>')], headers: { 'content-type': 'text/html' } }, { message: /a web page/ }],
    [{ pieces: [Buffer.from('{}')], headers: { 'content-type': 'application/json' } }, { message: /one document/ }],
    [{ pieces: [], status: 307, headers: { location: 'https://x.example/a?b=c' } }, { message: /points to https:\/\/x\.example\/a\)/ }],
    [{ pieces: [Buffer.from('{"error":{"message":"Slow"}}')], status: 429, headers: { 'retry-after': '7' } }, { retryAfterMs: 7_000 }],
    [{ pieces: slices(Buffer.alloc(20 * MIB, 'x')), status: 500 }, { code: 'ERR_PROVIDER_UNAVAILABLE' }]
  ]
  for (const [answer, expected] of rows) t.match((await both(answer)).failure, expected, JSON.stringify(expected))
})

const word = fc.constantFrom('', 'a', 'b', 'né 語 🌊', '{"x":', '1}', '{}', '\n"\\')
const maybe = <T>(value: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: value }, fc.constantFrom(null, undefined))
const written = fc.record({ type: fc.constantFrom('text', 'x'), text: word })
const content = fc.record({
  type: fc.constantFrom('text', 'thinking', 'x'),
  text: word,
  thinking: fc.array(written, { maxLength: 2 })
}, { requiredKeys: ['type'] })
const delta = fc.record({
  role: fc.constantFrom('assistant', 'assistant', '', 'user'),
  content: fc.oneof(word, fc.array(content, { maxLength: 2 })),
  refusal: fc.oneof(word, fc.boolean()),
  reasoning: word,
  reasoning_content: maybe(word),
  tool_calls: fc.array(fc.record({
    index: fc.nat(2),
    id: maybe(word),
    function: fc.record({ name: maybe(word), arguments: maybe(word) }, { requiredKeys: [] })
  }, { requiredKeys: ['function'] }), { maxLength: 2 })
}, { requiredKeys: [] })
const choice = fc.record({ delta, finish_reason: maybe(fc.constantFrom('stop', 'length')) })
const usage = fc.record({
  prompt_tokens: fc.nat(),
  completion_tokens: maybe(fc.nat()),
  completion_tokens_details: fc.oneof(fc.jsonValue(), fc.record({ reasoning_tokens: fc.nat() }))
}, { requiredKeys: [] })
const damagedChunk = fc.oneof(
  { weight: 8, arbitrary: fc.record({ choices: fc.array(choice, { maxLength: 1 }) }) },
  fc.record({
    id: word,
    created: fc.nat(),
    model: word,
    choices: fc.constant([]),
    usage: fc.oneof(usage, fc.jsonValue())
  }, { requiredKeys: ['choices'] }),
  fc.record({
    error: fc.oneof(word, fc.record({ message: word, type: word, code: fc.oneof(word, fc.nat(600)) })),
    choices: maybe(fc.constant([]))
  }),
  fc.jsonValue()
)

t.test('both readers read the same from any stream, however it is damaged and cut', async (t) => {
  const both = await compared(t)
  await fc.assert(fc.asyncProperty(damagedStreams(damagedChunk), async (pieces) => void await both({ pieces })), { numRuns: 400 })
  t.pass('all streams')
})

t.test('a connection is kept for the next call and closed with the registry, and so is one whose reader gives up', async (t) => {
  let isEndless = false
  const { server, url } = await serve(t, async (response) => {
    if (!isEndless) return send(response, { pieces: events(chunk({ content: 'x' }), stop) })
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events(chunk({ content: 'x' }))[0])
  })
  server.keepAliveTimeout = 60_000
  let opened = 0
  const [closed, ended] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()]
  server.on('connection', (socket) => {
    opened++
    socket.on('close', (opened === 1 ? closed : ended).resolve)
  })
  const registry = openAt(url)
  for (let times = 0; times < 2; times++) {
    t.equal((await read(registry)).failure, undefined)
    await new Promise(setImmediate)
  }
  t.equal(opened, 1)
  await registry.close()
  await closed.promise
  isEndless = true
  const abort = new AbortController()
  const { model } = await registry.model(ID)
  const batches = batchesOf(await model.doStream({ ...ask, abortSignal: abort.signal }))
  t.match(await batches.read(), [{ type: 'stream-start' }])
  abort.abort(new Error('enough'))
  await t.rejects((async () => {
    while (await batches.read());
  })(), { message: 'enough' })
  await ended.promise
})
