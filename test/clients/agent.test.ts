import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { AgentError, createAgent, putAgent, type RunStreamEvent } from '../../client/index.ts'
import { cuttingProxy } from '../harness/cutting-proxy.ts'
import { fakeService, stream } from '../harness/fake-service.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'

type App = Awaited<ReturnType<typeof build>>
const agentOf = async (app: App, token?: string) => createAgent({ url: `http://127.0.0.1:${await listen(app)}`, token })
const append = (text: string) => ({ toolName: 'runCommand', input: { command: `printf ${text} >> effects.log` } })
const textOf = (events: RunStreamEvent[]) => events.map((event) => event.type === 'text-delta' ? event.content : '').join('')

t.test('a loop reads the events of a run over all of its approvals', async (t) => {
  const agent = await agentOf(await build(t, { token: 'the-token' }), 'the-token')
  const run = agent.run({
    prompt: 'write "one" to a.txt, then write "two" to b.txt',
    approve: ({ input }) => ({ approved: !JSON.stringify(input).includes('b.txt'), reason: 'one is enough' })
  })
  const types: string[] = []
  for await (const event of run) types.push(event.type)
  t.same([types[0], types.at(-1)], ['start', 'finish'])
  t.equal(types.filter((type) => type === 'tool-approval-request').length, 2)
  t.ok(types.includes('tool-output-denied'))
  const { finishReason, threadId, pending } = await run.result()
  t.match({ finishReason, threadId, pending }, { finishReason: 'stop', threadId: run.threadId, pending: [] })

  const { text } = await agent.run({ id: threadId, prompt: 'system info' }).result()
  t.ok(text.length > 0, 'the thread goes on')
})

t.test('a loop decides what the run asks for', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? { toolCalls: [append('a')] } : { text: 'done' })
  const run = (await agentOf(app)).run({ prompt: 'go' })
  for await (const event of run) if (event.type === 'tool-approval-request') run.approve(event.approvalId, true)
  t.equal(readFileSync(`${app.cwd}/effects.log`, 'utf8'), 'a')
  t.equal((await run.result()).text, 'done')
})

t.test('without an answer the run waits: it is decided elsewhere and read on later', async (t) => {
  const release = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) return { toolCalls: [append('a')] }
    await release.promise
    return { text: 'done' }
  })
  const agent = await agentOf(app)
  const { pending, finishReason, threadId } = await agent.run({ prompt: 'go' }).result()
  t.match({ pending, finishReason }, { pending: [{ kind: 'tool', toolName: 'runCommand' }], finishReason: 'tool-calls' })

  const { approvalId } = pending[0] as { approvalId: string }
  t.match(await agent.decide(approvalId, true), { continued: true, threadId })
  const later = agent.resume(threadId)
  const events: RunStreamEvent[] = []
  for await (const event of later) {
    events.push(event)
    release.resolve()
  }
  t.equal(textOf(events), 'done')
  t.equal(readFileSync(`${app.cwd}/effects.log`, 'utf8'), 'a')
})

t.test('a stream that is cut goes on where it was, and nothing is sent or done twice', async (t) => {
  const release = Promise.withResolvers<void>()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) return { text: ['Let me ', 'look. '], toolCalls: [append('a')] }
    if (nth === 1) return { text: ['First ', 'part. '], toolCalls: [append('b')] }
    await release.promise
    return { text: ['All ', 'done.'] }
  })
  const proxy = await cuttingProxy(t, await listen(app), [
    { on: /^POST \/run\?/, after: '"look. "' },
    { on: /^POST \/run\/approve/, after: '"part. "' }
  ])
  const run = createAgent({ url: proxy.url }).run({ prompt: 'go', approve: () => true })
  const events: RunStreamEvent[] = []
  for await (const event of run) {
    events.push(event)
    if (proxy.requests().length >= 5) release.resolve()
  }
  t.equal(textOf(events), 'Let me look. First part. All done.')
  t.equal(readFileSync(`${app.cwd}/effects.log`, 'utf8'), 'ab')
  t.equal(gateway.requests.length, 3)
  const seen = events.map((event) => 'toolCallId' in event ? `${event.type} ${event.toolCallId}` : event.type)
  for (const type of ['tool-input-available', 'tool-approval-request', 'tool-output-available']) {
    const each = seen.filter((key) => key.startsWith(type))
    t.equal(each.length, 2, type)
    t.equal(new Set(each).size, 2, type)
  }
  const path = `GET /run/${run.runId}/stream`
  t.same(proxy.requests(), ['POST /run', path, 'POST /run/approve', path, 'POST /run/approve'], 'each request is sent once')
  t.same(proxy.lastIds().map((id) => id !== undefined), [false, true, false, true, false], 'and read on behind the last event')
})

const part = (type: string, id: string, delta: string) =>
  [{ type: `${type}-start`, id }, { type: `${type}-delta`, id, delta, content: delta }]
const thought = [...part('reasoning', 'reasoning-1', 'Hm.'), ...part('text', 'text-2', 'one')]

for (const [name, cut, again] of [
  ['of reasoning first', part('text', 'text-1', 'one two'), thought],
  ['of text alone', thought, part('text', 'text-1', 'one two')],
  ['that is shorter', part('text', 'text-1', 'one two'), part('text', 'text-1', 'one')],
  ['without its call', [{ type: 'tool-input-start', toolCallId: 'call', toolName: 'readFile' }], part('text', 'text-1', 'one')]
] as const) {
  t.test(`another answer after a kill, ${name}, replaces the one that was cut`, async (t) => {
    const step = [{ type: 'step-boundary' }, { type: 'start-step' }]
    const begin = [
      { type: 'start', messageId: 'm', messageMetadata: { threadId: 'thread', runId: 'run' } },
      ...step.slice(1),
      ...part('text', 'text-0', 'Looking.'),
      { type: 'finish-step' },
      ...step
    ]
    const rest = [...again, { type: 'finish-step' }, { type: 'finish', finishReason: 'stop', usage: {} }]
    const lines = (events: object[]) => events.map((event, n) => `data: ${JSON.stringify(event)}\nid: ${n}\n\n`).join('')
    const { url } = await fakeService(t, (_request, response, nth) =>
      void stream(response, lines(nth === 0 ? [...begin, ...cut] : [...begin, ...rest])).end())
    const run = createAgent({ url }).run({ prompt: 'go' })
    const events: object[] = []
    for await (const event of run) events.push(event)
    const dropped = cut.flatMap((event) => 'delta' in event ? [] : 'id' in event ? event.id : event.toolCallId)
    t.match(events, [...begin, ...cut, { type: 'data-retry', data: { dropped } }, { type: 'finish-step' }, step[1], ...rest])
    t.equal(events.length, begin.length + cut.length + 3 + rest.length)
    t.match(await run.result(), { text: textOf(again as RunStreamEvent[]), messages: { length: 2 } })
  })
}

t.test('a request with a key of its own is sent again when its connection breaks before the run is known', async (t) => {
  const line = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const start = line({ type: 'start', messageId: 'm', messageMetadata: { threadId: 'thread', runId: 'run' } })
  const { url, received } = await fakeService(t, (_request, response, nth) => {
    if (nth === 0 || nth === 2) return void response.destroy()
    if (nth === 1) return void stream(response, ': connected\n\n').destroy()
    stream(response, start + line({ type: 'finish', finishReason: 'stop', usage: {} })).end()
  })
  t.match(await createAgent({ url }).run({ prompt: 'go', idempotencyKey: 'order-4711' }).result(), { runId: 'run' })
  t.same(received.map(({ headers, body }) => [headers['idempotency-key'], body.messages[0].content]), Array(4).fill(['order-4711', 'go']))
})

t.test('a reader that leaves the loop leaves the run, and reads it again from its beginning', async (t) => {
  const release = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async () => {
    await release.promise
    return { text: 'Hello.' }
  })
  const agent = await agentOf(app)
  const run = agent.run({ prompt: 'go' })
  for await (const { type } of run) if (type === 'start') break
  const again = agent.resume(run.runId!)
  release.resolve()
  t.equal((await again.result()).text, 'Hello.')
})

t.test('a run is stopped by its method, and by a signal, which rejects with its reason', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const agent = await agentOf(app)
  const run = agent.run({ prompt: 'go' })
  const types: string[] = []
  for await (const { type } of run) {
    types.push(type)
    if (type === 'text-delta') await run.stop()
  }
  t.same(types.slice(-3), ['abort', 'data-stopped', 'finish'])
  t.equal(await gateway.requests[0].ended, 'aborted')

  const controller = new AbortController()
  const reason = new Error('the window was closed')
  const other = agent.run({ prompt: 'go', signal: controller.signal })
  await t.rejects(async () => {
    for await (const { type } of other) if (type === 'text-delta') controller.abort(reason)
  }, reason)
  t.equal(await gateway.requests[1].ended, 'aborted')
})

t.test('a run takes its agent by name, beside its own options', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'done' }))
  const agent = await agentOf(app)
  await putAgent({ client: agent.client, path: { name: 'shop' }, body: { options: { model: 'test/shop', instructions: 'SELL BOOKS' } } })
  await agent.run({ agent: 'shop', prompt: 'go', options: { effort: 'low' } }).result()
  t.match(gateway.requests[0], { modelId: 'test/shop', body: { reasoning: 'low' } })
  await t.rejects(agent.run({ agent: 'none', prompt: 'go' }).result(), { statusCode: 400, message: /The agents are: shop/ })
})

t.test('a file is stored, and a message names it', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'Read.' }))
  const agent = await agentOf(app)
  const part = await agent.attach(new Blob(['The word is heron.'], { type: 'text/plain' }), { name: 'über.txt' })
  t.match(part, { type: 'file', url: /^attachment:/, mediaType: 'text/plain', filename: 'über.txt' })
  await agent.run({ id: 'one', message: { role: 'user', parts: [{ type: 'text', text: 'read it' }, part] } }).result()
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt.at(-1)), /über\.txt.*The word is heron/)
})

t.test('steering reaches the next step', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] } : { text: 'done' })
  const run = (await agentOf(app)).run({ prompt: 'go' })
  for await (const { type } of run) if (type === 'start') await run.steer('In French, please.')
  t.match(JSON.stringify(gateway.requests.map(({ body }) => body.prompt)), 'In French, please.')
})

t.test('a slow reader slows the service down, and nothing piles up in the client', async (t) => {
  const delta = `data: ${JSON.stringify({ type: 'text-delta', id: 'b', content: 'x'.repeat(64 * 1024) })}\n\n`
  const total = 64 * 1024 * 1024
  let written = 0
  const full = Promise.withResolvers<void>()
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"type":"start","messageId":"m","messageMetadata":{"threadId":"t","runId":"r"}}\n\n')
    response.write('data: {"type":"text-start","id":"b"}\n\n')
    const closed = once(response, 'close')
    while (written < total && !response.destroyed) {
      written += delta.length
      if (response.write(delta)) continue
      full.resolve()
      await Promise.race([once(response, 'drain'), closed])
    }
    full.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.closeAllConnections() ?? server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for await (const event of createAgent({ url }).run({ prompt: 'go' })) {
    if (event.type !== 'text-delta') continue
    await full.promise
    for (let turn = 0; turn < 2_000; turn++) await new Promise(setImmediate)
    t.ok(written < total / 4, `${written} bytes were sent to a reader that took one event`)
    break
  }
})

t.test('a run that fails throws the error of its event', async (t) => {
  const { app } = await withGateway(t, () => ({ error: { status: 401, type: 'authentication_error', message: 'no' } }))
  const types: string[] = []
  const error = await (async () => {
    for await (const { type } of (await agentOf(app)).run({ prompt: 'go' })) types.push(type)
  })().catch((reason) => reason)
  t.ok(error instanceof AgentError)
  t.match(error, { code: 'ERR_PROVIDER_AUTH', message: /in the settings/ })
  t.same(types.slice(-2), ['error', 'finish'])
})

type GatewayApp = Awaited<ReturnType<typeof withGateway>>['app']
const askingAgent = async (app: GatewayApp) => createAgent({ url: `http://127.0.0.1:${await listen(app)}`, app: 'order-desk' })
const questions = [{ id: 'size', text: 'Which size?', options: [{ value: 's', label: 'Small' }, { value: 'l', label: 'Large' }] }]
const INPUT = { type: 'object', properties: { state: { type: 'string' } } }

t.test('calls of tools of the application are executed in one loop, after their approval', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'findOrders', input: { state: 'open' } }, { toolName: 'sendOrder', input: { state: 'sent' } }] }
      : { text: 'One is open.' })
  const done: unknown[] = []
  const execute = (name: string) => (input: unknown) => {
    done.push([name, input])
    return { orders: ['A-1'] }
  }
  const run = (await askingAgent(app)).run({
    prompt: 'Which orders are open?',
    tools: {
      findOrders: { description: 'Finds orders', inputSchema: INPUT, effect: 'read', execute: execute('findOrders') },
      sendOrder: { description: 'Sends an order', inputSchema: INPUT, effect: 'external', execute: execute('sendOrder') }
    },
    approve: ({ toolName }) => {
      done.push(['approved', toolName])
      return true
    }
  })
  const { text, finishReason } = await run.result()
  t.match({ text, finishReason }, { text: 'One is open.', finishReason: 'stop' })
  t.same(done[0], ['approved', 'sendOrder'])
  t.same(new Set(done.slice(1)), new Set([['findOrders', { state: 'open' }], ['sendOrder', { state: 'sent' }]]))
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /A-1/)
  t.equal(gateway.requests.length, 2)
})

t.test('a tool that fails is told to the model', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'findOrders', input: {} }] } : { text: 'I cannot say.' })
  const findOrders = {
    description: 'Finds orders',
    inputSchema: INPUT,
    effect: 'read' as const,
    execute: () => {
      throw new Error('the shop is closed')
    }
  }
  const events: RunStreamEvent[] = []
  for await (const event of (await askingAgent(app)).run({ prompt: 'go', tools: { findOrders } })) events.push(event)
  t.ok(events.some((event) => event.type === 'tool-output-error' && event.errorText.includes('the shop is closed')))
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /the shop is closed/)
})

t.test('questions of the agent are answered by the handler, or in the loop, or declined', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth % 2 === 0 ? { toolCalls: [{ toolName: 'askUser', input: { questions } }] } : { text: 'Good.' })
  const agent = await askingAgent(app)
  const asked: unknown[] = []
  await agent.run({
    prompt: 'order it',
    ask: (request) => {
      asked.push(request.questions)
      return { size: 'l' }
    }
  }).result()
  t.match(asked, [questions])
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /size[^}]*"l/)

  const run = agent.run({ prompt: 'order it', options: { interactive: true } })
  for await (const event of run) if (event.type === 'question-request') run.answer(event.approvalId, false)
  t.equal((await run.result()).finishReason, 'stop')
  t.match(JSON.stringify(gateway.requests[3].body.prompt), /declined/)

  const waiting = await agent.run({ prompt: 'order it', options: { interactive: true } }).result()
  t.match(waiting.pending, [{ kind: 'question', questions }])
  const { approvalId } = waiting.pending[0] as { approvalId: string }
  t.match(await agent.answer(approvalId, { size: 's' }), { continued: true })
  t.equal((await agent.resume(waiting.runId).result()).text, 'Good.')
})

t.test('an answer by a schema is the object of the result', async (t) => {
  const { app } = await withGateway(t, () => ({ toolCalls: [{ toolName: 'answer', input: { city: 'Oslo', days: 3 } }] }))
  const { object, text } = await (await askingAgent(app)).run({
    prompt: 'Where?',
    schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] }
  }).result()
  t.equal(object?.city.toUpperCase(), 'OSLO')
  t.equal(object?.days, 3)
  t.type(text, 'string')
})
