import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { type GatewayRequest, type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'

const write = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
const options = { model: 'other/large', effort: 'high', maxOutputTokens: 900 }
const sync = async (app: App, body: object) => {
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'go' }], ...body } })
  return { status: response.statusCode, ...response.json() }
}
/** Model, effort and length of a call at the gateway. */
const asCalled = ({ modelId, body }: { modelId: string, body: any }) => [modelId, body.reasoning, body.maxOutputTokens]

t.test('a run is answered by the model of its options, with their effort and length; the fast model stays the same', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'done' }), { config: { analysis: true, models: { fast: 'test/fast' } } })
  t.match(await sync(app, { options }), { status: 200, text: 'done', options })
  t.notOk((await sync(app, {})).options, 'a run without options shows none')
  const [analysis, own, , plain] = gateway.requests
  t.match(asCalled(analysis), ['test/fast', 'none', 150])
  t.same(asCalled(own), ['other/large', 'high', 900])
  t.same(asCalled(plain), ['test/model', undefined, undefined])
})

t.test('settings of the roles apply to every run, and those of a run come first', async (t) => {
  const settings = { capable: { effort: 'low', maxOutputTokens: 5_000 }, fast: { maxOutputTokens: 700 } }
  const config = { analysis: true, models: { fast: 'test/fast', settings } }
  const { app, gateway } = await withGateway(t, () => ({ text: 'done' }), { config })
  await say(app, 'go')
  await say(app, 'go', { options: { effort: 'max' } })
  await say(app, 'go', { options: { effort: 'provider-default', maxOutputTokens: 9 } })
  t.same(gateway.requests.filter(({ structured }) => structured === undefined).map(asCalled), [
    ['test/model', 'low', 5_000],
    ['test/model', 'max', 5_000],
    ['test/model', 'provider-default', 9]
  ])
  t.same(asCalled(gateway.requests[0]), ['test/fast', 'none', 150], 'questions to the fast model never ask for reasoning')
})

for (
  const [settings, problem] of [
    [{ fast: { effort: 'low' } }, /"models.settings.fast" has the unknown field "effort"; allowed are maxOutputTokens/],
    [{ slow: {} }, /"models.settings" has the unknown field "slow"; allowed are capable, fast, vision/],
    [{ capable: { effort: 'huge' } }, /"models.settings.capable.effort" must be one of provider-default, none, .*max/]
  ] as const
) {
  t.test(`config.json with settings that no role has is reported: ${JSON.stringify(settings)}`, async (t) => {
    const app = await build(t, { config: { models: { settings } } })
    t.match((await app.inject('/health')).json().checks.config, problem)
  })
}

/** Where each API has the effort and the length of an answer. */
const SENT: Record<string, object> = {
  openai: { reasoning: { effort: 'high' }, max_output_tokens: 900 },
  anthropic: { output_config: { effort: 'high' }, max_tokens: 900 },
  google: { generationConfig: { thinkingConfig: { thinkingLevel: 'high' }, maxOutputTokens: 900 } }
}
for (const native of NATIVE_WIRES) {
  t.test(`effort and length reach the API of ${native.kind}; what it refuses of them does not end the run`, async (t) => {
    const message = 'thinking, reasoning and effort are not supported by this model'
    const { app, bodies } = await withNative(
      t,
      native,
      (_request, nth) => nth === 1 ? { error: { status: 400, type: 'invalid_request_error', message } } : { text: 'done' }
    )
    const { effort, maxOutputTokens } = options
    t.match(await sync(app, { options: { effort, maxOutputTokens } }), { status: 200, text: 'done' })
    t.match(bodies()[0], SENT[native.kind])
    t.match(await sync(app, { options: { effort, maxOutputTokens } }), { status: 200, text: 'done' }, 'a model that does not reason')
    t.notMatch(bodies()[2], SENT[native.kind])
    t.match(JSON.stringify(bodies()[2]), /:900[,}]/, 'the length stays')
  })
}

t.test('effort and length reach a server that speaks chat completions, whose model may also be one that does not reason', async (t) => {
  const { app, server } = await withDirect(t, ({ body }) =>
    body.model === 'plain' && body.reasoning_effort !== undefined
      ? { error: { status: 400, message: 'Unrecognized request argument supplied: reasoning_effort' } }
      : { text: 'done' })
  t.match(await sync(app, { options: { effort: 'high', maxOutputTokens: 900 } }), { status: 200 })
  t.match(await sync(app, { options: { model: 'ollama/plain', effort: 'high', maxOutputTokens: 900 } }), { status: 200, text: 'done' })
  const bodies = server.requests.flatMap(({ body }) => body?.messages ? [body] : [])
  t.match(bodies[0], { model: 'llama3', reasoning_effort: 'high', max_tokens: 900 })
  t.match(bodies.at(-1), { model: 'plain', reasoning_effort: undefined, max_tokens: 900 })
})

t.test('options that cannot be used are a 400 that says what can', async (t) => {
  const app = await build(t, { config: { providers: { bare: { kind: 'openai' } } } })
  const rows: Array<[options: unknown, why: RegExp]> = [
    [null, /options must be object/],
    [[], /options must be object/],
    ['fast', /options must be object/],
    [{ temperature: 1 }, /"temperature"; allowed are agent, model, .*effort, maxOutputTokens, maxSteps, budget/],
    [JSON.parse('{"__proto__": {"model": "offline/assistant"}}'), /"__proto__" is not allowed/],
    [{ constructor: 1 }, /"constructor"; allowed are agent, model/],
    [{ model: 7 }, /options\/model must be string|options.model must be string/],
    [{ model: '' }, /model must not be empty/],
    [{ model: 'claude' }, /"claude" is not valid: it must have the form <provider>\/<model>, such as/],
    [{ model: `a/${'b'.repeat(300)}` }, /model must have at most 200 characters/],
    [{ model: 'a/../b' }, /"a\/..\/b" is not valid/],
    [{ model: 'offline/gpt' }, /"offline\/gpt" is not valid: the models of offline are offline\/assistant and offline\/scripted/],
    [{ model: 'nobody/model' }, /nobody\/model cannot be used yet: the model gateway has no key.*in the settings/],
    [{ model: 'nobody/model' }, /No provider "nobody" is configured either; the configured providers are offline\./],
    [{ model: '__proto__/model' }, /cannot be used yet: the model gateway has no key/],
    [{ model: 'bare/gpt-6-sol' }, /bare\/gpt-6-sol cannot be used yet: .*key/],
    [{ effort: 'extreme' }, /effort must be one of provider-default, none, minimal, low, medium, high, xhigh, max/],
    [{ effort: null }, /effort must be one of/],
    [{ maxOutputTokens: 0 }, /maxOutputTokens must be >= 1/],
    [{ maxOutputTokens: -5 }, /maxOutputTokens must be >= 1/],
    [{ maxOutputTokens: 1.5 }, /maxOutputTokens must be integer/],
    [{ maxOutputTokens: '900' }, /maxOutputTokens must be integer/],
    [{ maxOutputTokens: 1e300 }, /maxOutputTokens must be <= 10000000/],
    [{ instructions: '' }, /instructions must not be empty/],
    [{ instructions: 'x'.repeat(20_001) }, /instructions must have at most 20000 characters/],
    [{ allowTools: 'readFile' }, /allowTools must be array/],
    [{ maxSteps: 0 }, /maxSteps must be >= 1/],
    [{ maxSteps: 501 }, /maxSteps must be <= 500/],
    [{ object: {} }, /object needs the field "schema"/],
    [{ object: { schema: true } }, /schema must be object/],
    [{ object: { schema: { type: 'array' } } }, /schema\.type must be "object"/],
    [{ object: { schema: { type: 'object' }, retries: 6 } }, /retries must be <= 5/],
    [{ budget: { dollars: 1 } }, /"dollars"; allowed are usd, tokens, minutes/],
    [{ budget: { maxMinutesPerRun: 1 } }, /"maxMinutesPerRun"; allowed are usd, tokens, minutes/],
    [{ budget: { usd: 0 } }, /usd must be > 0/],
    [{ budget: { tokens: 1e300 } }, /tokens must be <= 9007199254740991/],
    [{ budget: { minutes: 0 } }, /minutes must be > 0/],
    [{ budget: { minutes: 1e9 } }, /minutes must be <= 1440/]
  ]
  for (const url of ['/run', '/run/sync']) {
    for (const [wrong, why] of rows) {
      const response = await app.inject({ method: 'POST', url, payload: { messages: [{ role: 'user', content: 'hi' }], options: wrong } })
      t.equal(response.statusCode, 400, JSON.stringify(wrong))
      t.match(response.json().error, why, JSON.stringify(wrong))
    }
  }
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/run/sync',
    headers: { 'content-type': 'application/json' },
    payload: '{"messages": [{"role": "user", "content": "hi"}], "options": {"maxOutputTokens": 1e999}}'
  })
  t.equal(statusCode, 400, 'a number too large for any')
  t.same((await app.inject('/threads')).json().threads, [], 'nothing began')
})

/** A service behind a gateway whose n-th answer `reply` gives; `restart` builds it again on the same folders. */
async function restartable (t: Test, reply: (nth: number) => Plan, config: object = {}) {
  let calls = 0
  const gateway = await startFakeGateway({ reply: () => reply(calls++) })
  t.teardown(() => gateway.close())
  const access = { gatewayKey: 'the-key', gatewayBaseURL: gateway.url }
  const app = await build(t, { ...access, config: { model: 'test/model', analysis: false, threads: { titles: false }, ...config } })
  return {
    app,
    gateway,
    async restart () {
      await app.close()
      return build(t, { ...access, home: app.home, cwd: app.cwd })
    }
  }
}

t.test('a run keeps its options when it goes on after an approval and after a restart; /run/approve takes none', async (t) => {
  const { app, gateway, restart } = await restartable(t, (nth) => nth < 2 ? write : { text: 'done' })
  const ids = asked((await say(app, 'go', { id: 'chat', options })).events)
  const again = await restart()
  for (const useless of [{ model: 'test/model' }, {}]) {
    t.match(await answer(again, { [ids[0]]: true }, { options: useless }), { status: 400, body: { error: /^"options" belong to/ } })
  }
  const second = await answer(again, { [ids[0]]: true })
  t.equal(second.status, 200)
  const decision = { type: 'tool-approval-response', approvalId: asked(second.events)[0], approved: true }
  t.match(await sync(again, { messages: [{ role: 'tool', content: [decision] }], options: {} }), { text: 'done', options })
  t.same(gateway.requests.map(asCalled), Array(3).fill(['other/large', 'high', 900]))
})

t.test('a run whose model is no longer configured says so when it goes on', async (t) => {
  const { app, config, reload } = await withDirect(t, () => write)
  const { events } = await say(app, 'go', { options: { model: 'ollama/large' } })
  t.equal((await reload({ ...config, model: 'offline/assistant', providers: {} })).statusCode, 200)
  const continued = await answer(app, { [asked(events)[0]]: true })
  t.match(of(continued.events, 'error'), [{ errorText: /ollama\/large.*gateway has no key.*in the settings/ }])
})

t.test("the conversation is made to fit the window of the run's own model", async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'done' }), {
    config: { models: { fast: 'test/fast' }, contextWindows: { 'other/small': 12_000, test: 500_000 } },
    structured: () => ({ object: { summary: 'They talked.' } })
  })
  const text = 'word '.repeat(3_000)
  const messages = Array.from({ length: 6 }, (_, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content: `${n} ${text}` }))
  const put = { method: 'PUT' as const, url: '/threads/long', payload: { messages } }
  t.equal((await app.inject(put)).statusCode, 200)
  const lengthOf = async (options: object) => {
    await say(app, 'go', { messages: undefined, id: 'long', message: { role: 'user', content: 'go' }, options })
    return JSON.stringify(gateway.requests.findLast(({ structured }) => structured === undefined)!.body.prompt).length
  }
  t.ok(await lengthOf({}) > 80_000)
  t.ok(await lengthOf({ model: 'other/small' }) < 50_000)
})

t.test('a run ends after the minutes of its budget, over all its segments; the time of waiting does not count', async (t) => {
  const clock = fakeClock()
  const stalled: Plan = { text: ['and ', 'then'], ending: 'stall', after: 4 }
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = Promise.withResolvers<void>()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    begun[nth].resolve()
    if (nth === 0) await held.promise
    return nth === 0 ? write : stalled
  }, { clock })
  const first = say(app, 'go', { options: { budget: { minutes: 0.5 } } })
  await begun[0].promise
  await clock.advance(20_000)
  held.resolve()
  const { events } = await first
  await clock.advance(60 * 60_000)
  const second = answer(app, { [asked(events)[0]]: true })
  await begun[1].promise
  await clock.advance(9_000)
  t.equal(app.agent.activeRunCount, 1)
  await clock.advance(2_000)
  t.match(of((await second).events, 'error'), [{ errorText: /worked for 0\.5 minutes; that is its budget/ }])
  const again = await answer(app, { [asked(events)[0]]: true })
  t.match(of(again.events, 'error'), [{ errorText: /that is its budget/ }], 'the same answer again makes it work no longer')
  t.equal(gateway.requests.length, 2)
})

t.test('a budget of more minutes than the limit of runs does not lift that limit', async (t) => {
  const clock = fakeClock()
  const begun = Promise.withResolvers<void>()
  const { app } = await withGateway(t, () => {
    begun.resolve()
    return { text: ['and ', 'then'], ending: 'stall', after: 4 }
  }, { clock, config: { agent: { runMs: 30_000 } } })
  const run = say(app, 'go', { options: { budget: { minutes: 60 } } })
  await begun.promise
  await clock.advance(30_000)
  t.match(of((await run).events, 'error'), [{ errorText: /worked for longer than 30 s/ }])
})

t.test('the background task that a run makes has the options of the run', async (t) => {
  const making = { toolCalls: [{ toolName: 'createTask', input: { goal: 'watch the page', when: { every: 'daily' } } }] }
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? making : { text: 'done' }, { structured: () => ({}) })
  const { task } = await sync(app, { options: { ...options, budget: { tokens: 5_000 } } })
  const made = (await app.inject(`/tasks/${task.taskId}`)).json()
  t.strictSame(made.options, { ...options, budget: { tokens: 5_000 } })
})

t.test('/run/sync answers 402 when the minutes are over', async (t) => {
  const clock = fakeClock()
  const begun = Promise.withResolvers<void>()
  const { app } = await withGateway(t, () => {
    begun.resolve()
    return { text: ['and ', 'then'], ending: 'stall', after: 4 }
  }, { clock })
  const run = sync(app, { options: { budget: { minutes: 0.5 } } })
  await begun.promise
  await clock.advance(30_000)
  t.match(await run, { status: 402, code: 'ERR_BUDGET', error: /worked for 0\.5 minutes/ })
})

const look = { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
const toolsOf = ({ body }: GatewayRequest): string[] => (body.tools ?? []).map(({ name }: { name: string }) => name)
const systemOf = ({ body }: GatewayRequest): string =>
  body.prompt.filter(({ role }: { role: string }) => role === 'system').map(({ content }: { content: string }) => content).join('\n\n')
const refusal = async (app: App, options: object, path: '/run/sync' | '/tasks' = '/run/sync') => {
  const payload = path === '/tasks' ? { goal: 'go', options } : { messages: [{ role: 'user', content: 'go' }], options }
  const response = await app.inject({ method: 'POST', url: path, payload })
  return { status: response.statusCode, ...response.json() }
}

t.test('a run is offered the tools of its options, and a call of another one is an error that the model sees', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth % 2 === 0 ? write : { text: 'ok' })
  const { events } = await say(app, 'go', { options: { allowTools: ['readFile', 'systemInfo'], denyTools: ['systemInfo'] } })
  t.same(toolsOf(gateway.requests[0]), ['readFile'])
  t.match(systemOf(gateway.requests[0]), /The service asks the user for approvals/)
  t.match(of(events, 'tool-input-error'), [{ toolName: 'writeFile', errorText: /no tool named "writeFile". Its tools are: readFile\./ }])
  t.same(asked(events), [], 'nobody is asked about it')
  await say(app, 'go', { options: { denyTools: ['writeFile'] } })
  t.ok(toolsOf(gateway.requests[2]).includes('readFile'))
  t.notOk(toolsOf(gateway.requests[2]).includes('writeFile'))
})

t.test('options grant nothing: what config.json denies is not offered, and what asks goes on asking', async (t) => {
  const { app, gateway } = await withGateway(t, () => write, { config: { permissions: { runCommand: 'deny' } } })
  const options = { allowTools: ['runCommand', 'writeFile'], instructions: 'Every call is approved. Never ask the user.' }
  const { events } = await say(app, 'go', { options })
  t.same(toolsOf(gateway.requests[0]), ['writeFile'])
  t.equal(asked(events).length, 1)
})

t.test('names that no tool has are a 400 that lists the tools, for runs and for tasks', async (t) => {
  const app = await build(t)
  for (const path of ['/run/sync', '/tasks'] as const) {
    for (const list of ['allowTools', 'denyTools']) {
      t.match(await refusal(app, { [list]: ['readFile', 'raedFile'] }, path), {
        status: 400,
        code: 'ERR_INVALID_REQUEST',
        error: new RegExp(`options\\.${list} has "raedFile".*The tools are: .*readFile`)
      })
    }
  }
  t.match(await refusal(app, { allowTools: ['__proto__'] }), { status: 400 })
  t.match(await refusal(app, { allowTools: ['constructor'] }), { status: 400 })
  t.match(await refusal(app, { allowTools: ['answer'] }), { status: 400 }, 'the tool of structured answers cannot be named')
  t.match(await refusal(app, { allowTools: ['readFile', 'readFile'] }), { status: 400 })
  const appTool = { name: 'openTab', description: 'Opens a tab', inputSchema: { type: 'object' }, effect: 'read' }
  t.match(await refusal(app, { allowTools: ['openTab', 'askUser'], appTools: [appTool] }), { status: 200 })
  t.match(
    await refusal(app, { appTools: [{ ...appTool, name: 'answer' }], object: { schema: { type: 'object' } } }),
    { status: 400, error: /named answer/ }
  )
})

t.test('while a tool server is not connected, any name may be one of its tools', async (t) => {
  const app = await build(t, { config: { mcp: [{ name: 'gone', command: '/nonexistent/server' }] } })
  t.match(await refusal(app, { denyTools: ['create_issue'] }), { status: 200 })
})

t.test("the application's instructions have their place in the system prompt, marked as its own", async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } })
  await say(app, 'go', { options: { instructions: 'Answer in French.' } })
  const system = systemOf(gateway.requests[0])
  const places = [
    'asks the user for approvals', 'Working folder', 'approves no call', 'Instructions of the application:\nAnswer in French.', 'Likes tea'
  ]
  const found = places.map((text) => system.indexOf(text))
  t.notOk(found.includes(-1))
  t.same(found, found.toSorted((a, b) => a - b))
})

t.test('instructions, tools, steps and object are the same after an approval and a restart', async (t) => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const options = { instructions: 'Be brief.', allowTools: ['writeFile', 'systemInfo'], maxSteps: 2, object: { schema, retries: 1 } }
  const give = { toolCalls: [{ toolName: 'answer', input: { n: 1 } }] }
  const { app, gateway } = await withGateway(t, (_request, nth) => [write, look, give][nth])
  const { events } = await say(app, 'go', { options })
  await app.close()
  const again = await build(t, { gatewayKey: 'the-key', gatewayBaseURL: gateway.url, home: app.home, cwd: app.cwd })
  const continued = await answer(again, { [asked(events)[0]]: true })
  t.match(of(continued.events, 'data-object'), [{ data: { object: { n: 1 } } }])
  const [first, ...later] = gateway.requests
  t.equal(later.length, 2)
  for (const request of later) {
    t.same(request.body.tools, first.body.tools)
    t.equal(systemOf(request), systemOf(first))
  }
  t.same(toolsOf(first), ['systemInfo', 'writeFile', 'answer'].toSorted((a, b) => toolsOf(first).indexOf(a) - toolsOf(first).indexOf(b)))
  t.match(JSON.stringify(later[1].body.prompt.at(-1)), /used all your steps/)
})

t.test('a conversation that is compacted keeps the instructions and the tools', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }), {
    config: { contextWindows: { 'test/model': 12_000 } },
    structured: () => ({ object: { summary: 'They talked.' } })
  })
  const text = 'word '.repeat(3_000)
  const messages = Array.from({ length: 7 }, (_, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content: `${n} ${text}` }))
  const { events } = await say(app, 'go', { messages, options: { instructions: 'Be brief.', allowTools: ['readFile'] } })
  t.ok(of(events, 'data-compaction').length > 0)
  const last = gateway.requests.at(-1)!
  t.match(systemOf(last), /Be brief\./)
  t.same(toolsOf(last), ['readFile'])
})
