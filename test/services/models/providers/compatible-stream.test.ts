import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { batchesOf } from '../../../../services/models/providers/part-batches.ts'
import { ask, chatReader, events, ID, openAt, read, type Part } from '../../../harness/chat-reader.ts'
import { damagedStreams, send, serve } from '../../../harness/event-streams.ts'
import type { Answer } from '../../../suites/gateway-reader.ts'

const MIB = 1024 * 1024

const chunk = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })
const call = (...pieces: unknown[]) => chunk({ tool_calls: pieces })
const piece = (index: number | undefined, id: string | undefined, name: string | undefined, input?: string) =>
  ({ index, id, function: { name, arguments: input } })
const said = (text: string) => ({ type: 'text', text })
const stop = chunk({}, { finish_reason: 'stop' })
const DONE = Buffer.from('data: [DONE]\n\n')
const called = chunk({}, { finish_reason: 'tool_calls' })
const of = (parts: Part[], type: Part['type']) => parts.filter((part) => part.type === type)

t.test('texts, thoughts, the beginning and the end of an answer', async (t) => {
  const answered = await chatReader(t)
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 4, more: 1 },
    completion_tokens_details: { reasoning_tokens: 2, accepted_prediction_tokens: 1, rejected_prediction_tokens: 3 }
  }
  const { parts } = await answered({
    pieces: events(
      { id: '', created: 0, model: '', choices: [] },
      { id: 'c', created: 1_700_000_000, model: 'm', ...chunk({ role: 'assistant', reasoning_content: 'hm' }) },
      chunk({ reasoning: 'm' }),
      chunk({ content: 'one ' }),
      chunk({ content: [said('two'), { type: 'thinking', thinking: [said('three'), null, { type: 'x' }] }] }),
      chunk({ role: 'model', content: '', refusal: false }),
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
    'reasoning-end',
    'finish'
  ])
  t.match(parts[0], { warnings: [{ feature: 'topK' }] })
  t.match(parts.at(-1), { usage: { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { reasoning: 2 } } })
})

t.test('the reason for the end of an answer', async (t) => {
  const answered = await chatReader(t)
  const x = chunk({ content: 'x' })
  const call = chunk({ tool_calls: [piece(0, 'a', 'read', '{}')] })
  const endOf = async (...chunks: unknown[]) => {
    const { parts, failure } = await answered({ pieces: events(...chunks) })
    const last = parts.at(-1)
    return failure?.code ?? (last?.type === 'finish' ? last.finishReason.unified : 'none')
  }
  const ended = (reason: unknown) => chunk(null, { finish_reason: reason })
  for (const reason of ['stop', 'odd', 'constructor', 'eos']) {
    t.equal(await endOf(x, ended(reason)), 'stop', reason)
    t.equal(await endOf(call, ended(reason)), reason === 'stop' ? 'stop' : 'tool-calls', reason)
  }
  const known = { length: 'length', content_filter: 'content-filter', function_call: 'tool-calls', tool_calls: 'tool-calls' }
  for (const [reason, unified] of Object.entries(known)) t.equal(await endOf(x, ended(reason)), unified)
  t.equal(await endOf(chunk({ refusal: 'No.' }, { finish_reason: 'stop' })), 'content-filter')
  t.equal(await endOf(x, ended('length'), ended('')), 'length', 'an empty later reason')
  for (const reason of ['network_error', 'error', 'abort', 'timeout', 'cancelled', 'model_error']) {
    t.equal(await endOf(x, ended(reason)), 'ERR_PROVIDER_CONNECTION', reason)
  }
  t.equal(await endOf(x), 'ERR_PROVIDER_CONNECTION', 'no end at all')
  t.equal(await endOf(), 'ERR_PROVIDER_CONNECTION', 'nothing at all')
  t.equal((await answered({ pieces: [...events(x), DONE] })).failure, undefined, 'the mark of the end is one')
  t.match((await answered({ pieces: [DONE] })).failure, { code: 'ERR_PROVIDER_CONNECTION' })
  const half = chunk({ tool_calls: [piece(0, 'a', 'read', '{"x":')] })
  t.match((await answered({ pieces: [...events(half), DONE] })).failure, { code: 'ERR_PROVIDER_CONNECTION' }, 'half a call is none')
})

t.test('tool calls, however they are cut into pieces', async (t) => {
  const answered = await chatReader(t)
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
    const { parts, failure } = await answered({ pieces: events(...chunks, called) })
    if (what.startsWith('no name')) t.match(failure, { code: String }, what)
    else t.equal(of(parts, 'tool-call').length, /two|no i/.test(what) ? 2 : 1, what)
  }
})

t.test('errors end an answer, and what is not used may have any form', async (t) => {
  const answered = await chatReader(t)
  const errors = [
    { error: { message: 'slow down', type: 'rate_limit_exceeded', code: 429, more: 1 } },
    { error: { message: 'slow down', code: null }, choices: [] },
    { error: 'slow down', choices: [] },
    { object: 'error', message: 'slow down' },
    { detail: [{ loc: ['body'], msg: 'slow down' }] },
    { errors: [{ message: 'slow down' }] }
  ]
  for (const each of errors) {
    const { failure } = await answered({ pieces: events(chunk({ content: 'x' }), each, chunk({ content: 'y' }), stop) })
    t.match(failure?.message, /slow down/, JSON.stringify(each))
  }
  const unused = [
    { choices: 7 },
    { choices: [7] },
    chunk({ role: 'user' }),
    chunk({ tool_calls: [{ index: 0 }] }),
    { choices: [], usage: { prompt_tokens: '7' } },
    { choices: [], created: 'now' },
    { error: null, choices: [] },
    null,
    'words',
    [1]
  ]
  for (const each of unused) {
    const { parts, failure } = await answered({ pieces: events(chunk({ content: 'x' }), each, chunk({ content: 'y' }), stop) })
    t.equal(failure, undefined, JSON.stringify(each))
    t.equal(parts.map((part) => part.type === 'text-delta' ? part.delta : '').join(''), 'xy', JSON.stringify(each))
  }
  const unreadable = ['data: {"cho\n\n', 'data: {"unknown":{"constructor":{"prototype":1}},"choices":[]}\n\n']
  for (const text of unreadable) {
    t.match((await answered({ pieces: [Buffer.from(text), ...events(stop)] })).failure, { code: 'ERR_PROVIDER_RESPONSE' }, text)
  }
})

t.test('answers that are none, too large, refused or cut off', async (t) => {
  const answered = await chatReader(t)
  const slices = (bytes: Buffer) =>
    Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) => bytes.subarray(at * 65_536, (at + 1) * 65_536))
  const huge = (size: number) => slices(Buffer.concat(events(chunk({ content: 'x'.repeat(size) }), stop)))
  t.match((await answered({ pieces: huge(3 * MIB) })).failure, undefined)
  const rows: Array<[Answer, object]> = [
    [{ pieces: huge(9 * MIB) }, { message: /more than 8 MiB/ }],
    [{ pieces: events(chunk({ content: 'x' })), isCut: true }, { code: 'ERR_PROVIDER_CONNECTION', retryable: true }],
    [{ pieces: [], isCut: true }, { code: 'ERR_PROVIDER_CONNECTION', retryable: true }],
    [{ pieces: [Buffer.from('<html>')], headers: { 'content-type': 'text/html' } }, { message: /a web page/ }],
    [{ pieces: [Buffer.from('{}')], headers: { 'content-type': 'application/json' } }, { message: /one document/ }],
    [{ pieces: huge(9 * MIB).map(() => Buffer.alloc(65_536, '{')), headers: { 'content-type': 'application/json' } }, { message: /8 MiB/ }],
    [{ pieces: [], status: 307, headers: { location: 'https://x.example/a?b=c' } }, { message: /points to https:\/\/x\.example\/a\)/ }],
    [{ pieces: [Buffer.from('{"error":{"message":"Slow"}}')], status: 429, headers: { 'retry-after': '7' } }, { retryAfterMs: 7_000 }],
    [{ pieces: slices(Buffer.alloc(20 * MIB, 'x')), status: 500 }, { code: 'ERR_PROVIDER_UNAVAILABLE' }]
  ]
  for (const [answer, expected] of rows) t.match((await answered(answer)).failure, expected, JSON.stringify(expected))
})

t.test('an answer is read the same, however it is damaged and cut', async (t) => {
  const answered = await chatReader(t)
  const values = [
    chunk({ role: 'assistant', content: 'né 語 🌊 ' }),
    chunk({ content: '', reasoning: 'hm' }),
    chunk({ tool_calls: [piece(0, 'a', 'read', '{"x":')] }),
    chunk({ tool_calls: [piece(0, undefined, undefined, '"né 🌊"}')] }),
    { choices: [], usage: { prompt_tokens: 3 } },
    called,
    7,
    null
  ]
  await fc.assert(
    fc.asyncProperty(damagedStreams(fc.constantFrom(...values)), async (pieces) => {
      const whole = await answered({ pieces: [Buffer.concat(pieces)] })
      const cut = await answered({ pieces })
      assert.deepEqual(cut.failure, whole.failure)
      assert.deepEqual(contentOf(cut.parts), contentOf(whole.parts))
    }),
    { numRuns: 200 }
  )
  t.pass('all streams')
})

/** Returns what an answer holds; of several deltas in a row it does not matter how they were cut. */
const contentOf = (parts: Part[]) => [
  parts.map((part) => 'delta' in part ? `${part.type.charAt(0)}:${part.delta}` : '').join(''),
  ...parts.flatMap((part) => part.type === 'tool-call' ? [part.toolName, part.input] : []),
  ...parts.flatMap((part) => part.type === 'finish' ? [part.finishReason.unified] : [])
]

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
