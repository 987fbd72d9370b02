import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { failureOf, isFailure } from '../../../../services/models/providers/check-part.ts'
import { createGatewayProvider } from '../../../../services/models/providers/gateway.ts'
import { createPartReader } from '../../../../services/models/providers/lenient-answers/gateway-parts.ts'
import { readBatches } from '../../../../services/models/providers/answer-stream/response-batches.ts'
import { batchesOf, type PartBatches } from '../../../../services/models/providers/part-batches.ts'
import { createRegistry } from '../../../../services/models/providers/registry.ts'
import { damagedStreams, send, serve } from '../../../harness/event-streams.ts'
import { gatewayReaderSuite, type Outcome } from '../../../suites/gateway-reader.ts'

const ID = 'test/model'
const ask = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }] }

function gatewayAt (baseURL: string, clock = systemClock) {
  const provider = createGatewayProvider({ settings: () => ({ baseURL, apiKey: 'a-key' }), clock })
  return createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
}

/** Reads an answer as a model call does: up to the first part that cannot be used. */
async function outcomeOf (registry: ReturnType<typeof createRegistry>, open: () => Promise<PartBatches>): Promise<Outcome> {
  const parts: LanguageModelV4StreamPart[] = []
  try {
    const batches = await open()
    for (let batch; (batch = await batches.read()) !== undefined;) {
      for (const part of batch) {
        if (isFailure(part)) throw failureOf(part)
        parts.push(part)
      }
    }
    return { parts }
  } catch (error) {
    return { parts, failure: registry.describeFailure(error, ID) }
  }
}

gatewayReaderSuite(t, async (t, answer) => {
  const { url } = await serve(t, (response) => send(response, answer))
  const registry = gatewayAt(url)
  return outcomeOf(registry, async () => batchesOf(await (await registry.model(ID)).model.doStream(ask)))
})

const part = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary' }).map((delta) => ({ type: 'text-delta', id: '0', delta })) },
  fc.record({ type: fc.constantFrom('raw', 'finish', 'odd', 'text-end', 'tool-call'), id: fc.string(), more: fc.jsonValue() }),
  fc.record({ type: fc.constant('response-metadata'), timestamp: fc.oneof(fc.date({ noInvalidDate: true }).map(String), fc.integer()) }),
  fc.constant(JSON.parse('{"type":"odd","__proto__":{"a":1}}')),
  fc.constantFrom(5, 'words', [1])
)

t.test('an answer is read the same, however it is damaged and cut', async (t) => {
  const registry = gatewayAt('http://gateway.test')
  const found = (pieces: Uint8Array[]) =>
    outcomeOf(registry, async () => readBatches(Readable.from(pieces, { objectMode: true }), undefined, createPartReader()))
  await fc.assert(
    fc.asyncProperty(damagedStreams(part), async (pieces) => {
      assert.deepStrictEqual(await found(pieces), await found([Buffer.concat(pieces)]))
    }),
    { numRuns: 400 }
  )
  t.pass('all streams')
})

t.test('an answer whose connection broke before it was read is told as such', async (t) => {
  const body = new Readable({ read () {} }).destroy()
  await once(body, 'close')
  t.match(await outcomeOf(gatewayAt('http://gateway.test'), async () => readBatches(body, undefined, createPartReader())), {
    failure: { code: 'ERR_PROVIDER_CONNECTION' }
  })
})

t.test('an answer in an encoding that was not asked for is decoded', async (t) => {
  const text = 'data: {"type":"text-delta","id":"0","delta":"hello"}\n\n'
  const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
  const { url } = await serve(t, (response) => send(response, { pieces: [gzipSync(text)], headers }))
  const registry = gatewayAt(url)
  const found = await outcomeOf(registry, async () => batchesOf(await (await registry.model(ID)).model.doStream(ask)))
  t.match(found, { parts: [{ delta: 'hello' }] })
})

t.test('an answer whose server says that it is not compressed is read, however the server says it', async (t) => {
  const text = 'data: {"type":"text-delta","id":"0","delta":"hello"}\n\n'
  for (const coding of ['none', 'Identity', '']) {
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': coding }
    const { url } = await serve(t, (response) => send(response, { pieces: [Buffer.from(text)], headers }))
    const registry = gatewayAt(url)
    const found = await outcomeOf(registry, async () => batchesOf(await (await registry.model(ID)).model.doStream(ask)))
    t.match(found, { parts: [{ delta: 'hello' }] }, coding)
  }
})

t.test('an answer compressed in another way than gzip is refused, and of an error the status is read', async (t) => {
  const text = 'data: {"type":"text-delta","id":"0","delta":"hello"}\n\n'
  const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'br' }
  const { url } = await serve(t, (response) => send(response, { pieces: [brotliCompressSync(text)], headers }))
  const registry = gatewayAt(url)
  const found = await outcomeOf(registry, async () => batchesOf(await (await registry.model(ID)).model.doStream(ask)))
  t.match(found, { failure: { message: /compressed as "br"/ } })
  const refusing = await serve(t, (response) => {
    response.writeHead(401, headers)
    response.end(brotliCompressSync('{"error":{"message":"wrong key"}}'))
  })
  const refused = gatewayAt(refusing.url)
  const outcome = await outcomeOf(refused, async () => batchesOf(await (await refused.model(ID)).model.doStream(ask)))
  t.match(outcome, { failure: { code: 'ERR_PROVIDER_AUTH' } })
})

t.test('a reader that does not read pauses the server', async (t) => {
  const event = Buffer.from(`data: ${JSON.stringify({ type: 'text-delta', id: '0', delta: 'x'.repeat(100_000) })}\n\n`)
  const count = 1_000
  let sent = 0
  function * events () {
    for (; sent < count; sent++) yield event
  }
  const { url } = await serve(t, async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await pipeline(events, response).catch(() => {})
  })
  const batches = batchesOf(await (await gatewayAt(url).model(ID)).model.doStream(ask))
  await batches.read()
  for (let before = -1; sent > before;) {
    before = sent
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  }
  t.ok(sent < count / 2, `${sent} events were sent`)
  t.ok(await batches.read(), 'what has arrived is not lost')
  batches.cancel(new Error('enough'))
  await t.rejects(batches.read(), { message: 'enough' })
})

t.test('a connection is kept for the next call, replaced when the server has closed it, and not used after a long pause', async (t) => {
  const { server, url } = await serve(t, (response) => send(response, { pieces: [Buffer.from('data: {"type":"odd"}\n\n')] }))
  server.keepAliveTimeout = 60_000
  let connections = 0
  server.on('connection', () => connections++)
  let now = 0
  const registry = gatewayAt(url, { ...systemClock, now: () => now })
  const call = async () => {
    const { model } = await registry.model(ID)
    t.match(await outcomeOf(registry, async () => batchesOf(await model.doStream(ask))), { parts: [{ type: 'odd' }], failure: undefined })
    await new Promise(setImmediate)
  }
  await call()
  await call()
  t.equal(connections, 1, 'kept')
  server.closeIdleConnections()
  await call()
  t.equal(connections, 2, 'replaced')
  now += 5 * 60_000
  await call()
  t.equal(connections, 3, 'after a long pause')
})

t.test('a proxy that Node is told to use is used', async (t) => {
  let asked: string | undefined
  const { server, url } = await serve(t, (response) => send(response, { pieces: [Buffer.from('data: {"type":"odd"}\n\n')] }))
  server.on('request', (request) => (asked = request.url))
  const script = `
    import { createGatewayProvider } from '${new URL('../../../../services/models/providers/gateway.ts', import.meta.url)}'
    const provider = createGatewayProvider({ settings: () => ({ baseURL: 'http://gateway.test/v4/ai', apiKey: 'a-key' }) })
    const { stream } = await (await provider.languageModel('test/model')).doStream(${JSON.stringify(ask)})
    for await (const part of stream) console.log(JSON.stringify(part))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1', http_proxy: url }
  })
  t.equal(stdout, '{"type":"odd"}\n')
  t.equal(asked, 'http://gateway.test/v4/ai/language-model')
})
