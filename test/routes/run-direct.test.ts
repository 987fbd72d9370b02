import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { fakeClock, hastyClock } from '../harness/clock.ts'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { startFakeOpenAI } from '../fakes/openai.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { textOf } from '../harness/sse.ts'
import { withDirect } from '../harness/with-direct.ts'

t.test('a model of a direct provider reads, asks before it writes, writes, and answers', async (t) => {
  const turns: Plan[] = [
    { toolCalls: [{ toolName: 'readFile', input: { path: 'in.txt' } }] },
    { reasoning: 'Now the copy.', toolCalls: [{ toolName: 'writeFile', input: { path: 'out.txt', content: 'copied' } }] },
    { text: 'It is copied.', usage: { inputTokens: 30, outputTokens: 4 } }
  ]
  const { app, server } = await withDirect(t, (_request, nth) => turns[nth], { config: { model: 'ollama/llama3' } })
  writeFileSync(`${app.cwd}/in.txt`, 'the original')

  const first = await say(app, 'copy in.txt')
  const [approvalId] = asked(first.events)
  t.match(of(first.events, 'tool-output-available'), [{ toolName: 'readFile', output: { content: 'the original' } }])
  t.notOk(existsSync(`${app.cwd}/out.txt`))
  const second = await answer(app, { [approvalId]: true })
  t.equal(readFileSync(`${app.cwd}/out.txt`, 'utf8'), 'copied')
  t.equal(textOf(second.events), 'It is copied.')
  t.match(second.events.at(-1), { type: 'finish' })

  const last = server.calls.at(-1)!
  t.equal(last.path, '/v1/chat/completions')
  t.match(last.body, { model: 'llama3', stream: true, stream_options: { include_usage: true } })
  const roles = last.body.messages.map(({ role }: { role: string }) => role)
  t.strictSame(roles, ['system', 'user', 'assistant', 'tool', 'assistant', 'tool'])
  const [read, wrote] = last.body.messages.filter(({ role }: { role: string }) => role === 'tool')
  t.match(read.content, /the original/)
  t.equal(wrote.tool_call_id, last.body.messages[4].tool_calls[0].id)
})

t.test('several calls of one step, their arguments in pieces, are all carried out', async (t) => {
  const { app, server } = await withDirect(t, (_request, nth) =>
    nth > 0
      ? { text: 'Both are read.' }
      : { text: 'Reading.', toolCalls: ['a', 'b'].map((name) => ({ toolName: 'readFile', input: { path: `${name}.txt` } })) })
  for (const name of ['a', 'b']) writeFileSync(`${app.cwd}/${name}.txt`, `this is ${name}`)
  const { events } = await say(app, 'read both')
  t.strictSame(of(events, 'tool-input-available').map(({ input }) => input.path), ['a.txt', 'b.txt'])
  t.strictSame(of(events, 'tool-output-available').map(({ output }) => output.content).sort(), ['this is a', 'this is b'])
  t.equal(server.calls[1].body.messages.filter(({ role }: { role: string }) => role === 'tool').length, 2)
})

t.test('the analysis is a structured call of the active model when no fast one can be had', async (t) => {
  const { app, server } = await withDirect(t, undefined, { config: { analysis: true } })
  const { events } = await say(app, 'hi')
  t.match(server.calls[0], { modelId: 'llama3', streaming: false, structured: 'analysis' })
  t.match(server.calls[0].body.response_format, {
    type: 'json_schema',
    json_schema: { schema: { required: ['complexity', 'goal', 'thinking', 'qualityCriteria'] } }
  })
  t.match(of(events, 'reasoning-delta').map(({ content }) => content).join(''), /short question/)
})

t.test('the fast role may be a direct model beside an active one from elsewhere', async (t) => {
  const gateway = await startFakeGateway()
  t.teardown(() => gateway.close())
  const { app, server } = await withDirect(t, undefined, {
    gatewayKey: 'the-key',
    gatewayBaseURL: gateway.url,
    config: { model: 'test/model', models: { fast: 'ollama/small' }, analysis: true }
  })
  t.equal(textOf((await say(app, 'hi')).events), 'Hello from the fake gateway.')
  t.strictSame([...server.calls, ...gateway.requests].map(({ modelId }) => modelId), ['small', 'test/model'])
})

t.test('the fallback takes over from a server that is down, and a direct one from the gateway', async (t) => {
  const gateway = await startFakeGateway({
    reply: ({ modelId }) => modelId === 'test/gone' ? { error: { status: 404, type: 'model_not_found' } } : undefined
  })
  t.teardown(() => gateway.close())
  const clock = fakeClock()
  const { app, server, reload, config } = await withDirect(t, undefined, {
    gatewayKey: 'the-key',
    gatewayBaseURL: gateway.url,
    clock,
    config: { models: { fallback: 'test/model' } }
  })
  await server.close()
  const running = say(app, 'go')
  for (const wait of [1_000, 2_000, 4_000]) {
    await clock.sleeper(wait)
    await clock.advance(wait)
  }
  t.equal(textOf((await running).events), 'Hello from the fake gateway.')

  const up = await startFakeOpenAI()
  t.teardown(() => up.close())
  await reload({ ...config, model: 'test/gone', models: { fallback: 'ollama/llama3' }, providers: { ollama: { baseURL: up.url } } })
  t.equal(textOf((await say(app, 'go')).events), 'Hello from the fake server.')
})

t.test('a refusal to serve so many requests is waited out as long as the server asks', async (t) => {
  const clock = fakeClock()
  const { app, server } = await withDirect(t, (_request, nth) =>
    nth === 0
      ? { error: { status: 429, type: 'rate_limit_exceeded', message: 'slow down', headers: { 'retry-after': '7' } } }
      : { text: 'now' }, { clock })
  const running = say(app, 'go')
  await clock.sleeper(7_000)
  t.equal(server.calls.length, 1)
  await clock.advance(7_000)
  t.equal(textOf((await running).events), 'now')
})

for (const [ending, calls] of [['cut', 4], ['no-finish', 4], ['invalid-json', 1]] as const) {
  t.test(`an answer that always breaks off (${ending}) ends the stream with an error, keeping what came last`, async (t) => {
    const { app, server } = await withDirect(t, () => ({ text: ['half ', 'of an ', 'answer'], ending, after: 3 }), { clock: hastyClock() })
    const { events } = await say(app, 'go')
    t.match(textOf(events), /^half /)
    t.match(events.slice(-2), [{ type: 'error', errorText: /ollama\/llama3/ }, { type: 'finish', finishReason: 'error' }])
    t.equal(server.calls.length, calls)
    t.equal(of(events, 'data-retry').length, calls - 1)
  })
}

t.test('an answer that is finished needs no [DONE]', async (t) => {
  const { app } = await withDirect(t, () => ({ text: 'all said', ending: 'no-done' }))
  const { events } = await say(app, 'go')
  t.equal(textOf(events), 'all said')
  t.strictSame(of(events, 'error'), [])
})

t.test('a client who leaves ends the call', async (t) => {
  const { app, server } = await withDirect(t, () => ({ text: ['and then '], ending: 'stall', after: 2 }))
  const left = await openRun(app, userSays('again'))
  await left.says('and then')
  left.hangUp()
  t.equal(await server.calls[0].ended, 'aborted')
})

t.test('a changed address, key and list of providers hold from the next run on', async (t) => {
  const { app, server, reload, config } = await withDirect(t, undefined, { provider: { apiKey: 'first-key' } })
  const other = await startFakeOpenAI()
  t.teardown(() => other.close())
  await say(app, 'one')
  t.equal(server.calls[0].headers.authorization, 'Bearer first-key')

  await reload({ ...config, providers: { ollama: { baseURL: other.url, apiKey: 'second-key' } } })
  await say(app, 'two')
  t.equal(other.calls[0].headers.authorization, 'Bearer second-key')

  await reload({ ...config, model: 'another/model', providers: { another: { baseURL: server.url } } })
  await say(app, 'three')
  t.match(server.calls[1], { modelId: 'model', headers: { authorization: undefined } })
  t.strictSame((await app.inject('/providers')).json().providers.map(({ name }: { name: string }) => name), [
    'offline',
    'another',
    'gateway'
  ])
})
