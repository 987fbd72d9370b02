import { once } from 'node:events'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { createAgent, type Execute } from '../../client/index.ts'
import { fakeService, json, stream, type Received } from '../harness/fake-service.ts'

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const START = event({ type: 'start', messageId: 'm', messageMetadata: { threadId: 'thread', runId: 'run' } })
const FINISH = (finishReason: string) => event({ type: 'finish', finishReason, usage: {} })
const CALL = event({ type: 'tool-call-request', toolCallId: 'c1', toolName: 'add', input: { a: 1 }, expiresAt: Date.now() + 60_000 })
const TOOL = { description: 'Adds', inputSchema: { type: 'object' }, effect: 'read' as const }

/** A service whose run asks for one call; `answer` says how it takes what is posted for the call. */
async function service (t: Test, answer: (body: any) => [object, number?] = () => [{}]) {
  const { url, received } = await fakeService(t, ({ line, body }, response) => {
    if (line.startsWith('POST /tool-calls/c1')) return json(response, ...answer(body))
    if (line.startsWith('GET /run/run/stream')) return stream(response, START + FINISH('stop')).end()
    return stream(response, START + CALL + FINISH('tool-calls')).end()
  })
  const posted = () => received.filter(({ line }) => line.startsWith('POST /tool-calls')).map(({ body }: Received) => body)
  const run = (execute: Execute, { signal, timeoutMs }: { signal?: AbortSignal, timeoutMs?: number } = {}) =>
    createAgent({ url, app: 'desk' }).run({ prompt: 'go', signal, tools: { add: { ...TOOL, ...timeoutMs && { timeoutMs }, execute } } })
  return { run, posted, received }
}

t.test('a call is claimed, executed and answered, and the run is read on', async (t) => {
  const { run, posted, received } = await service(t)
  const { finishReason, pending } = await run(({ a }, { toolName }) => ({ sum: a + 1, toolName })).result()
  t.match({ finishReason, pending }, { finishReason: 'stop', pending: [] })
  t.match(posted(), [{ claim: /^desk-[0-9a-f]{16}$/ }, { output: { sum: 2, toolName: 'add' } }])
  t.match(received[0].body.options, { app: 'desk', appTools: [{ name: 'add', description: 'Adds', effect: 'read' }] })
  t.notOk('execute' in received[0].body.options.appTools[0])
})

t.test('what a tool throws, and a call that takes too long, is told to the model', async (t) => {
  const thrown = await service(t)
  await thrown.run(() => {
    throw new Error('no such order')
  }).result()
  t.match(thrown.posted(), [{}, { error: 'no such order' }])

  const late = await service(t)
  let reason: unknown
  await late.run(async (_input, { signal }) => {
    await once(signal, 'abort')
    reason = signal.reason
  }, { timeoutMs: 1 }).result()
  t.match(late.posted(), [{}, { error: /add took longer than 1 ms/ }])
  t.match(reason, { message: /took longer/ }, 'its signal is aborted')
})

t.test('a call that another instance has is left to it', async (t) => {
  const refusal = { error: 'Another instance holds this call.', code: 'ERR_CALL_CLAIMED', statusCode: 409 }
  const { run, posted } = await service(t, () => [refusal, 409])
  const { finishReason, pending } = await run(() => t.fail('it must not be executed')).result()
  t.match({ finishReason, pending }, { finishReason: 'tool-calls', pending: [{ kind: 'app', toolCallId: 'c1', toolName: 'add' }] })
  t.equal(posted().length, 1)
})

t.test('the claim is renewed while the tool works, and its loss aborts the tool', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let claims = 0
  const renewed = Promise.withResolvers<void>()
  const { run, posted } = await service(t, (body) => {
    if ('claim' in body && ++claims === 2) renewed.resolve()
    return claims === 3 ? [{ error: 'Lost.', code: 'ERR_CALL_CLAIMED', statusCode: 409 }, 409] : [{}]
  })
  let isAborted = false
  await run(async (_input, { signal }) => {
    mock.timers.tick(20_000)
    await renewed.promise
    mock.timers.tick(20_000)
    await once(signal, 'abort')
    isAborted = true
  }).result()
  t.ok(isAborted)
  t.match(posted(), [{ claim: /./ }, { claim: /./ }, { claim: /./ }])
  t.equal(new Set(posted().map(({ claim }) => claim)).size, 1)
})

t.test('an abort of the run aborts its tool, which sends nothing', async (t) => {
  const { run, posted } = await service(t)
  const controller = new AbortController()
  const reason = new Error('closed')
  await t.rejects(run(() => controller.abort(reason), { signal: controller.signal }).result(), reason)
  t.match(posted(), [{ claim: /./ }])
})

t.test('a result that does not arrive is sent again', async (t) => {
  let times = 0
  const draining = { error: 'The service is shutting down.', code: 'ERR_DRAINING', statusCode: 503 }
  const { run, posted } = await service(t, (body) => 'output' in body && ++times === 1 ? [draining, 503] : [{}])
  t.match(await run(() => ({ sum: 2 })).result(), { finishReason: 'stop' })
  t.match(posted(), [{ claim: /./ }, { output: { sum: 2 } }, { output: { sum: 2 } }])
})

t.test('an output that cannot be sent, or is refused, is an error that the model is told', async (t) => {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  const odd = await service(t)
  await odd.run(() => cycle).result()
  t.match(odd.posted(), [{}, { error: /circular/ }])

  const large = { error: 'The answer has 2000000 bytes.', code: 'ERR_TOOL_OUTPUT_TOO_LARGE', statusCode: 413 }
  const { run, posted } = await service(t, (body) => 'output' in body ? [large, 413] : [{}])
  t.match(await run(() => ({})).result(), { finishReason: 'stop' })
  t.match(posted(), [{}, { output: {} }, { error: large.error }])
})

t.test('an abort before a call is executed leaves the call alone', async (t) => {
  const controller = new AbortController()
  const { run } = await service(t, () => {
    controller.abort()
    return [{}]
  })
  await t.rejects(run(() => t.fail('it must not be executed'), { signal: controller.signal }).result(), { name: 'AbortError' })
})
