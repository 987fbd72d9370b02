import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { boundedFetch } from '../../../../services/models/providers/bounded-fetch.ts'
import type { Provider } from '../../../../services/models/providers/provider.ts'
import { createDirectProvider } from '../../../../services/models/providers/direct.ts'
import { createGatewayProvider } from '../../../../services/models/providers/gateway.ts'
import { createRegistry } from '../../../../services/models/providers/registry.ts'
import { startFakeGateway, type Plan } from '../../../fakes/gateway.ts'
import { startFakeOpenAI } from '../../../fakes/openai.ts'

const MIB = 1024 * 1024
const ask = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }] }

/** Both kinds of providers in front of a server that does as the plan says, lists too. */
async function both (t: Test, plan: Plan) {
  const openai = await startFakeOpenAI({ reply: () => plan, listing: () => plan })
  const vercel = await startFakeGateway({ reply: () => plan, listing: () => plan })
  t.teardown(() => Promise.all([openai.close(), vercel.close()]))
  const direct = createDirectProvider({ name: 'ollama', settings: () => ({ baseURL: openai.url, apiKey: 'a-key' }), variables: {} })
  const gateway = createGatewayProvider({ settings: () => ({ baseURL: vercel.url, apiKey: 'a-key' }) })
  const registry = createRegistry({ providers: () => [direct, gateway], settings: () => ({}), clock: systemClock })
  const failed = async (id: string, call: () => PromiseLike<unknown>) => {
    try {
      await call()
    } catch (error) {
      return registry.describeFailure(error, id)
    }
    throw new Error('The call did not fail')
  }
  return [{ id: 'ollama/llama3', provider: direct, requests: openai.requests }, {
    id: 'test/model',
    provider: gateway,
    requests: vercel.requests
  }].map(({ id, provider, requests }) => ({
    id,
    requests,
    whole: async () => failed(id, async () => (await registry.model(id)).model.doGenerate(ask)),
    streamed: async () =>
      failed(id, async () => {
        const { stream } = await (await registry.model(id)).model.doStream(ask)
        for await (const part of stream) if (part.type === 'error') throw part.error
      }),
    list: () => listFailure(provider, registry)
  }))
}

async function listFailure (provider: Provider, registry: ReturnType<typeof createRegistry>) {
  try {
    await provider.listModels(AbortSignal.timeout(5_000))
  } catch (error) {
    return registry.describeListFailure(error, provider)
  }
  throw new Error('The list did not fail')
}

t.test('an answer of 200 MB is cut off soon, whoever sends it', async (t) => {
  for (const { id, requests, whole, list } of await both(t, { bytes: 200 * MIB })) {
    const before = process.memoryUsage().rss
    for (const failure of [await whole(), await list()]) {
      t.match(failure, { code: 'ERR_PROVIDER_RESPONSE', retryable: false, message: /too large \(more than 8 MiB\)/ }, id)
    }
    t.ok(process.memoryUsage().rss - before < 150 * MIB)
    t.equal(await requests[0].ended, 'aborted', 'and the server is told to stop')
  }
})

t.test('a web page is no answer, and points to the address', async (t) => {
  const page = { error: { status: 200, body: '<html>Welcome</html>', headers: { 'content-type': 'text/html; charset=utf-8' } } }
  for (const { id, whole, streamed, list } of await both(t, page)) {
    for (const failure of [await whole(), await streamed(), await list()]) {
      t.match(failure, { code: 'ERR_PROVIDER_RESPONSE', retryable: false, message: /\(a web page\)\. Check .*in the settings/ }, id)
    }
  }
})

t.test('a redirection is not followed, and where it points is told without its query', async (t) => {
  for (
    const { id, streamed, list } of await both(t, {
      error: { status: 302, headers: { location: 'https://login.example/start?token=abc' } }
    })
  ) {
    for (const failure of [await streamed(), await list()]) {
      t.match(failure, { code: 'ERR_PROVIDER_RESPONSE', message: /points to https:\/\/login\.example\/start\)/ }, id)
    }
  }
})

t.test('a call that was to be streamed and is answered in one piece is told as such', async (t) => {
  const [direct] = await both(t, { error: { status: 200, body: '{"choices":[]}' } })
  t.match(await direct.streamed(), { code: 'ERR_PROVIDER_RESPONSE', retryable: false, message: /one document instead of a stream/ })
})

t.test('an answer that is no JSON, or other JSON, cannot be read, and is not quoted', async (t) => {
  const [direct, gateway] = await both(t, { error: { status: 200, body: 'not json: secret words' } })
  const [other] = await both(t, { error: { status: 200, body: '{"other":"secret words"}' } })
  for (const { id, whole, list } of [direct, gateway, other]) {
    for (const failure of [await whole(), await list()]) {
      t.match(failure, { code: 'ERR_PROVIDER_RESPONSE', retryable: true, message: /cannot be read/ }, id)
      t.notMatch(failure.message, /secret words/)
    }
  }
})

t.test('a list that is refused says what to do about the list', async (t) => {
  const [{ list }] = await both(t, { error: { status: 404, message: 'no such page' } })
  t.match(await list(), {
    message: 'The provider ollama has no list of models at its address. Check the address of ollama in the settings.'
  })
})

/** A server that streams pieces as fast as they are taken. */
async function streaming (t: Test, pieces: string[], status = 200) {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'text/event-stream' })
    pipeline(Readable.from(pieces), response).catch(() => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const repeated = (piece: string, times: number) => Array.from({ length: times }, () => piece)

t.test('a stream may be long, but not one event of it', async (t) => {
  const event = `data: ${'x'.repeat(MIB / 2)}\n\n`
  const long = await boundedFetch('events')(await streaming(t, repeated(event, 40)))
  t.equal((await long.text()).length, 40 * event.length)
  for (const endless of ['x'.repeat(MIB), `data: ${'x'.repeat(MIB)}\n`]) {
    const response = await boundedFetch('events')(await streaming(t, repeated(endless, 12)))
    await t.rejects(response.text(), { code: 'ERR_ANSWER_TOO_LARGE' })
  }
})

t.test('events may end between two pieces, however the blank line is written', async (t) => {
  for (const [end, ...rest] of [['\n', '\n'], ['\n', '\r\n'], ['\r\n', '\r', '\n'], ['\r\n\r', '\n']]) {
    const pieces = Array.from({ length: 12 }, () => [`data: ${'x'.repeat(MIB)}${end}`, ...rest]).flat()
    const fetch = boundedFetch(
      'events',
      async () =>
        new Response(ReadableStream.from(pieces.map((piece) => Buffer.from(piece))), { headers: { 'content-type': 'text/event-stream' } })
    )
    t.equal((await (await fetch('http://x')).text()).length, pieces.join('').length, JSON.stringify([end, ...rest]))
  }
})

t.test('of an error only the beginning is read', async (t) => {
  const response = await boundedFetch('answer')(await streaming(t, repeated('x'.repeat(MIB), 200), 500))
  t.equal((await response.text()).length, 64 * 1024)
})

t.test('a reader who leaves ends the answer', async (t) => {
  const stop = new AbortController()
  const response = await boundedFetch('events')(await streaming(t, repeated('data: x\n\n'.repeat(1000), 100_000)), { signal: stop.signal })
  const reader = response.body!.getReader()
  await reader.read()
  stop.abort(new Error('enough'))
  await t.rejects(async () => {
    while (!(await reader.read()).done);
  }, { message: 'enough' })
})
