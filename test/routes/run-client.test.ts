import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { startFakeOpenAI } from '../fakes/openai.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { fakeClock, hastyClock } from '../harness/clock.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { textOf } from '../harness/sse.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** A long text that does not repeat itself: one that does is cut. */
const counting = Array.from({ length: 12_000 }, (_, n) => `${n} `).join('')
const stalled = { text: ['and then ', 'nothing'], ending: 'stall' as const, after: 4 }

t.test("a client that hangs up ends the model's call", async (t) => {
  const { app, gateway } = await withGateway(t, () => stalled)
  const run = await openRun(app, userSays('go'))
  await run.says('and then')
  run.hangUp()
  t.equal(await gateway.requests[0].ended, 'aborted')
})

t.test('a client that hangs up ends the command that runs for it, and the conversation is free again', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'runCommand', input: { command: 'touch begun; sleep 60; touch finished' } }] }
      : { text: 'hello again' }, { config: { permissions: { runCommand: 'allow' } } })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('tool-input-available')
  while (!existsSync(`${app.cwd}/begun`)) await new Promise((resolve) => setTimeout(resolve, 2))
  run.hangUp()
  const again = await say(app, 'go', { id: 'chat' })
  t.equal(again.status, 200, JSON.stringify(again.body))
  t.notOk(existsSync(`${app.cwd}/finished`))
})

t.test('an approved tool that was cut off has an unknown outcome and is not run again', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'runCommand', input: { command: 'printf x >> effects.log; touch begun; sleep 60' } }] }
      : { text: 'I had better look' })
  const [id] = asked((await say(app, 'go')).events)
  const response = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: id, approved: true }] }
  const run = await openRun(app, { messages: [response] }, '/run/approve')
  while (!existsSync(`${app.cwd}/begun`)) await new Promise((resolve) => setTimeout(resolve, 2))
  run.hangUp()
  // An answer that arrives before the service has noticed that would follow the run instead.
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  const { events } = await answer(app, { [id]: true })
  t.match(events, [{ type: 'start' }, { type: 'tool-output-error', errorText: /outcome unknown/i }])
  t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
})

t.test('a second run of a live conversation is a 409 once it has not ended for 2 s, another conversation is not in its way', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? stalled : { text: 'hi' })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('and then')
  t.match(await say(app, 'me too', { id: 'chat' }), { status: 409, body: { code: 'ERR_CONVERSATION_BUSY' } })
  t.match(await say(app, 'me too', { id: 'another' }), { status: 200 })
  run.hangUp()
})

t.test('a second run of a conversation whose run goes on without readers is a 409 at once', async (t) => {
  const { app } = await withGateway(t, () => stalled, { clock: fakeClock() })
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('and then')
  t.match(await say(app, 'me too', { id: 'chat' }), { status: 409, body: { code: 'ERR_CONVERSATION_BUSY' } })
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
})

t.test('runs are bounded: the one too many is a 429', async (t) => {
  const { app } = await withGateway(t, () => stalled, { config: { limits: { liveRuns: 3 } } })
  const runs = await Promise.all([1, 2, 3].map(() => openRun(app, userSays('go'))))
  for (const run of runs) await run.says('and then')
  t.match(await say(app, 'me too'), { status: 429, body: { code: 'ERR_TOO_MANY_RUNS' } })
  for (const run of runs) run.hangUp()
})

t.test('also of those that come at the same moment only so many begin', async (t) => {
  const { app, gateway } = await withGateway(t, () => stalled, { config: { limits: { liveRuns: 3 } } })
  const runs = await Promise.all(Array.from({ length: 12 }, () => openRun(app, userSays('go'))))
  t.same(runs.map(({ response }) => response.statusCode).sort(), [...Array(3).fill(200), ...Array(9).fill(429)])
  t.equal(app.agent.activeRunCount, 3)
  while (gateway.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 2))
  for (const run of runs) run.hangUp()
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal(gateway.requests.length, 3)
})

t.test('silence is broken by a comment every four seconds', async (t) => {
  const clock = fakeClock()
  const sleep = { toolCalls: [{ toolName: 'runCommand', input: { command: 'sleep 60' } }] }
  const { app } = await withGateway(t, () => sleep, { clock, config: { permissions: { runCommand: 'allow' } } })
  const run = await openRun(app, userSays('go'))
  await clock.sleeper(30_000)
  t.notMatch(run.text, ': ping')
  await clock.advance(4_000)
  await run.says(': ping\n\n')
  await clock.advance(4_000)
  await run.says(': ping\n\n: ping\n\n')
  run.hangUp()
})

t.test('a reader that stops reading holds the model back, and is dropped after thirty seconds', async (t) => {
  const clock = fakeClock()
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => nth === 0 ? { text: Array.from({ length: 200 }, () => counting) } : { text: 'quick' },
    { clock }
  )
  const run = await openRun(app, userSays('go'))
  await run.says(counting)
  run.response.pause()
  t.match(await say(app, 'me too'), { status: 200 }, 'others are served meanwhile')
  const dropped = new AbortController()
  void run.ended.then(() => dropped.abort())
  void gateway.requests[0].ended.then(() => dropped.abort())
  while (!dropped.signal.aborted) await clock.advance(1_000)
  t.ok(clock.monotonic() >= 30_000, `after ${clock.monotonic()} ms`)
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2)) // its run ends, too
})

t.test('a slow reader gets everything in the end', async (t) => {
  const pieces = Array.from({ length: 60 }, () => counting)
  const { app } = await withGateway(t, () => ({ text: pieces }))
  const run = await openRun(app, userSays('go'))
  const slower = setInterval(() => {
    run.response.pause()
    setImmediate(() => run.response.resume())
  }, 1)
  t.equal(await run.ended, 'whole')
  clearInterval(slower)
  const text = run.events.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join('')
  t.ok(text === pieces.join(''))
})

t.test('a request that is still arriving when the service shuts down is refused, and begins no run that nobody would end', async (t) => {
  const { app, gateway } = await withGateway(t, () => stalled)
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const body = JSON.stringify(userSays('go'))
  const late = request(new URL('/run', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length }
  })
  const answered = once(late, 'response') as Promise<[IncomingMessage]>
  const arriving = once(app.server, 'request')
  late.write(body.slice(0, 10))
  await arriving
  const closed = app.close()
  while (!app.draining.value) await new Promise((resolve) => setTimeout(resolve, 2))
  late.end(body.slice(10))
  const [response] = await answered
  t.equal(response.statusCode, 503)
  response.resume()
  await closed
  t.equal(gateway.requests.length, 0)
})

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
    json_schema: { schema: { required: ['complexity', 'timeWords', 'thinking'] } }
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

/** The events of a stream with their ids; neighboring pieces of a text as one. */
function withIds (text: string) {
  const blocks = text.split('\n\n').filter((block) => block.startsWith('data: {')).map((block) => {
    const [, data, id] = /^data: (.*)(?:\nid: (.*))?$/.exec(block)!
    return { id, event: JSON.parse(data) as { type: string, delta?: string, content?: string } }
  })
  const joined: Array<{ type: string, delta?: string, [field: string]: any }> = []
  for (const { event } of blocks) {
    const last = joined.at(-1)
    const isNext = event.delta !== undefined && last?.type === event.type
    if (isNext) joined[joined.length - 1] = { ...event, delta: last!.delta! + event.delta, content: '' }
    else joined.push({ ...event, ...event.content !== undefined && { content: '' } })
  }
  return { ids: blocks.map(({ id }) => id), joined }
}

t.test('a reader that names the last event it has got reads on behind it, while the run goes on and after its end', async (t) => {
  const release = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async (_request, nth) => {
    const toolCalls = [{ toolName: 'listDirectory', input: {} }]
    if (nth === 0) return { reasoning: ['Hm, ', 'a look.'], text: ['Let me ', 'look.'], toolCalls }
    await release.promise
    return { text: ['Nothing ', 'is ', 'there.'] }
  })
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('tool-output-available')
  run.hangUp()
  const follow = (id: string, at = 'chat') => app.inject({ url: `/run/${at}/stream`, headers: { 'last-event-id': id } })
  const whole = follow('of another service')
  const seen = withIds(run.text)
  const rest = follow(seen.ids.findLast((id) => id !== undefined)!)
  release.resolve()
  const { joined, ids } = withIds((await whole).body)
  t.same(withIds((await rest).body).joined, joined.slice(seen.joined.length), 'the rest, once')
  const { runId } = joined[0].messageMetadata
  for (const [n, id] of ids.entries()) {
    if (id === undefined) continue
    const before = withIds((await whole).body.split('\n\n').slice(0, n + 1).map((block) => `${block}\n\n`).join('')).joined
    for (const place of ['chat', runId]) {
      const answer = await follow(id, place)
      if (n === ids.length - 1) t.equal(answer.statusCode, 204, 'there is nothing after the end')
      else t.same(withIds(joinedText(before, withIds(answer.body).joined)).joined, joined, `after ${id}`)
    }
  }
})

t.test('a replay of what is recorded is read on behind the last event, too', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { text: ['Let me ', 'look.'], toolCalls: [{ toolName: 'listDirectory', input: {} }] } : { text: ['Nothing ', 'there.'] })
  const payload = { ...userSays('go'), id: 'chat' }
  const send = () => app.inject({ method: 'POST', url: '/run', payload, headers: { 'idempotency-key': 'a-key' } })
  const runId = (await send()).headers['x-run-id'] as string
  for (const protocol of ['documented', 'ui']) {
    const follow = (id = '') =>
      app.inject({ url: `/run/${runId}/stream?protocol=${protocol}`, headers: { 'last-event-id': id } })
    const replays = [await follow(), ...protocol === 'documented' ? [await send()] : []]
    for (const { body } of replays) {
      const { ids, joined } = withIds(body)
      const blocks = body.split('\n\n').map((block) => `${block}\n\n`)
      t.ok(ids.filter((id) => id !== undefined).length > 5)
      for (const [n, id] of ids.entries()) {
        if (id === undefined || n === ids.length - 1) continue
        const before = withIds(blocks.slice(0, n + 1).join('')).joined
        t.same(withIds(joinedText(before, withIds((await follow(id)).body).joined)).joined, joined, `${protocol} after ${id}`)
      }
    }
    t.equal((await follow(withIds(replays[0].body).ids.findLast((id) => id !== undefined))).statusCode, 204)
  }
})

/** The text of a stream that was read in two parts. */
const joinedText = (...parts: object[][]) => parts.flat().map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
