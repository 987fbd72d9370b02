import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { createDirectProvider } from '../../../services/models/providers/direct.ts'
import { createGatewayProvider } from '../../../services/models/providers/gateway.ts'
import { giveSignOfLife, onSignOfLife } from '../../../services/models/providers/answer-stream/signs-of-life.ts'
import { streamModel } from '../../../services/models/stream-call.ts'
import { fakeClock } from '../../harness/clock.ts'
import { unmetered } from '../../harness/meter.ts'

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]
const SECOND = 1_000
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} } as LanguageModelV4StreamPart

/** A call whose parts and signs of life come when the test says so. */
function slowCall () {
  const clock = fakeClock()
  const called = Promise.withResolvers<AbortSignal>()
  let controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>
  const stream = new ReadableStream<LanguageModelV4StreamPart>({ start: (given) => void (controller = given) })
  const model = {
    async doStream ({ abortSignal }: { abortSignal: AbortSignal }) {
      called.resolve(abortSignal)
      return { stream }
    }
  } as unknown as LanguageModelV4
  const waited: number[] = []
  const done = streamModel({
    models: ['a/b'],
    load: async (id) => ({ id, model }),
    describe: (error) => ({ message: String(error), code: 'ERR_PROVIDER_TIMEOUT', retryable: false }),
    prompt: async () => prompt,
    options: {},
    withFewerTools: async () => undefined,
    signal: new AbortController().signal,
    clock,
    meter: unmetered,
    timeouts: () => ({ firstTokenMs: 120 * SECOND, idleMs: 60 * SECOND, isOwn: false }),
    pause: (work) => work,
    onDropped () {},
    onWaiting: (ms) => void waited.push(ms),
    onParts () {}
  }).then(() => 'answered', (error: Error) => error.message)
  return {
    ...{ clock, called: called.promise, done, waited },
    push: (part: LanguageModelV4StreamPart) => controller.enqueue(part),
    end: () => controller.close()
  }
}
const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

t.test('a connection that shows life is waited for, up to ten minutes without a part, and readers are told meanwhile', async (t) => {
  for (const beat of ['bytes', 'an empty piece', 'a ping'] as const) {
    const { clock, called, done, waited, push, end } = slowCall()
    const signal = await called
    const live = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 50) {
        await clock.advance(50 * SECOND)
        giveSignOfLife(signal)
        if (beat === 'an empty piece') push({ type: 'text-delta', id: '0', delta: '' })
        if (beat === 'a ping') push({ type: 'ping' } as never)
        await turns()
      }
    }
    await live(550)
    t.ok(waited.length > 30, `${beat}: readers are told`)
    push({ type: 'text-delta', id: '0', delta: 'at last' })
    await turns()
    await live(550)
    push(finish)
    end()
    t.equal(await done, 'answered', beat)
  }
})

t.test('a connection that is silent, or alive for more than ten minutes without a part, is given up', async (t) => {
  const silent = slowCall()
  await silent.called
  await silent.clock.advance(121 * SECOND)
  t.match(await silent.done, /sent nothing/)
  const alive = slowCall()
  const signal = await alive.called
  for (let passed = 0; passed < 660; passed += 30) {
    await alive.clock.advance(30 * SECOND)
    giveSignOfLife(signal)
  }
  t.match(await alive.done, /sent nothing/)
})

t.test('comments of a stream are signs of life, whatever its API', async (t) => {
  let opened = Promise.withResolvers<ServerResponse>()
  const server = createServer((request, response) => {
    request.resume()
    opened.resolve(response.writeHead(200, { 'content-type': 'text/event-stream' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const kinds = ['openai-compatible', 'openai', 'anthropic', 'google'] as const
  const providers = [
    ...kinds.map((kind) => createDirectProvider({ name: kind, settings: () => ({ kind, baseURL, apiKey: 'a-key' }), variables: {} })),
    createGatewayProvider({ settings: () => ({ baseURL, apiKey: 'a-key' }), clock: systemClock })
  ]
  for (const provider of providers) {
    opened = Promise.withResolvers()
    const abort = new AbortController()
    const alive = Promise.withResolvers<void>()
    onSignOfLife(abort.signal, alive.resolve)
    const model = await provider.languageModel(provider.kind === 'gateway' ? 'test/model' : 'm')
    const ended = (async () => {
      const reader = (await model.doStream({ prompt, abortSignal: abort.signal })).stream.getReader()
      while (!(await reader.read()).done);
    })().catch(() => 'ended')
    ;(await opened.promise).write(': keepalive\n\n')
    await alive.promise
    abort.abort(new Error('enough'))
    t.equal(await ended, 'ended', provider.name)
    await provider.close?.()
  }
})
