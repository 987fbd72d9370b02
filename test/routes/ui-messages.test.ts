import { existsSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const user = (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] })
const assistant = (...parts: object[]) => ({ id: 'a', role: 'assistant', parts })
const call = (state: string, rest: object = {}) => ({ type: 'tool-runCommand', toolCallId: 'c1', state, input: { command: 'ls' }, ...rest })
const result = (output: object) => [
  { role: 'assistant', content: [{ type: 'tool-call', toolName: 'runCommand', input: { command: 'ls' } }] },
  { role: 'tool', content: [{ type: 'tool-result', output }] }
]

t.test('the parts of every version mean the same to the model', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  const refused = { type: 'execution-denied' }
  const cases: Array<[string, object[], object[]]> = [
    [
      'an output of 5.x',
      [call('output-available', { output: { ok: true }, providerExecuted: false })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'an approved output of 6.x',
      [call('output-available', { output: { ok: true }, approval: { id: 'x', approved: true } })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'an output whose approval was given elsewhere',
      [call('output-available', { output: { ok: true }, approval: { id: 'x' } })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'an output the provider is said to have made',
      [call('output-available', { output: { ok: true }, providerExecuted: true })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'a dynamic tool',
      [{ ...call('output-available', { output: { ok: true } }), type: 'dynamic-tool', toolName: 'runCommand' }],
      result({ type: 'json', value: { ok: true } })
    ],
    ['an error', [call('output-error', { errorText: 'no such folder' })], result({ type: 'error-text', value: 'no such folder' })],
    [
      'an error that kept its raw input',
      [call('output-error', { input: undefined, rawInput: { command: 'ls' }, errorText: 'bad' })],
      result({ type: 'error-text', value: 'bad' })
    ],
    [
      'a denial',
      [call('output-denied', { approval: { id: 'x', approved: false, reason: 'not now' } })],
      result({ ...refused, reason: 'not now' })
    ],
    ['a denial without its approval', [call('output-denied')], result({ ...refused, reason: 'The user denied this call.' })],
    ['an open question', [call('approval-requested', { approval: { id: 'x' } })], result(refused)],
    ['an open question without its id', [call('approval-requested')], result(refused)],
    ['a call without an outcome', [call('input-available')], result(refused)],
    [
      'an approval whose outcome never came',
      [call('approval-responded', { approval: { id: 'x', approved: true } })],
      result({ type: 'error-text', value: /lost/ })
    ],
    [
      'a denial whose outcome never came',
      [call('approval-responded', { approval: { id: 'x', approved: false, reason: 'no!' } })],
      result({ ...refused, reason: 'no!' })
    ],
    ['a call cut off while it was written', [call('input-streaming', { input: undefined }), { type: 'text', text: 'oh' }], [{
      role: 'assistant',
      content: [{ type: 'text', text: 'oh' }]
    }]],
    ['what is shown beside the conversation', [
      { type: 'reasoning', text: 'ours', state: 'done', providerMetadata: { agent: { phase: 'analysis' } } },
      { type: 'data-chart', data: { any: 1 } },
      { type: 'source-url', sourceId: 's', url: 'https://a.b' },
      { type: 'step-start' },
      { type: 'text', text: 'oh', state: 'streaming' }
    ], [{ role: 'assistant', content: [{ type: 'text', text: 'oh' }] }]],
    ['nothing but analysis', [{ type: 'reasoning', text: 'ours', providerMetadata: { agent: { phase: 'analysis' } } }], []],
    ['no part at all', [], []]
  ]
  for (const [name, parts, expected] of cases) {
    const { status, body } = await sayAll(app, [user(`go: ${name}`), assistant(...parts), user('and now?')])
    t.equal(status, 200, `${name} ${JSON.stringify(body) ?? ''}`)
    const prompt = gateway.requests.at(-1)!.body.prompt.slice(1)
    t.match(prompt.slice(1, -1), expected, name)
    t.equal(prompt.length, expected.length + 2, name)
    t.notMatch(JSON.stringify(prompt), /"ours"|approval-re/)
  }
})

t.test('instructions, plain messages and messages without an id are taken beside them', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  await sayAll(app, [
    { role: 'system', parts: [{ type: 'text', text: 'Talk like a pirate.' }] },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', parts: [{ type: 'text', text: 'three' }, { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' }] }
  ])
  const [system, ...prompt] = gateway.requests[0].body.prompt
  t.match(system.content, /pirate/)
  t.match(prompt, [{ content: [{ text: 'one' }] }, { content: [{ text: 'two' }] }, {
    content: [{ text: 'three' }, { type: 'file', mediaType: 'image/png' }]
  }])
})

t.test('an output in the history is shown to the model as shortened as it was at first', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  await sayAll(app, [user('go'), assistant(call('output-available', { output: { content: 'line\n'.repeat(50_000) } })), user('and now?')])
  t.ok(JSON.stringify(gateway.requests[0].body.prompt).length < 70_000)
  t.match(JSON.stringify(gateway.requests[0].body.prompt), /left out/)
})

t.test('a message that is none is a 400 that names it, and the part', async (t) => {
  const app = await build(t)
  const cases: Array<[object, RegExp]> = [
    [{ role: 'user', parts: 'hi' }, /messages\[1\]\.parts must be an array/],
    [{ role: 'user', parts: [] }, /messages\[1\]\.parts/],
    [{ role: 'wizard', parts: [{ type: 'text', text: 'hi' }] }, /messages\[1\]\.role/],
    [{ role: 'user', parts: [{ type: 'text', text: 'hi' }, { type: 'text', text: 5 }] }, /messages\[1\]\.parts\[1\]\.text/],
    [{ role: 'user', parts: [{ type: 'mystery' }] }, /messages\[1\]\.parts\[0\]/],
    [{ role: 'user', parts: [null] }, /messages\[1\]\.parts\[0\]/],
    [{ role: 'assistant', parts: [{ type: 'tool-invocation', toolInvocation: {} }] }, /messages\[1\]\.parts\[0\]/],
    [{ role: 'assistant', parts: [call('finished')] }, /messages\[1\]\.parts\[0\]\.state/],
    [{ role: 'user', parts: [{ type: 'file', mediaType: 'text/plain', url: 'file:///etc/passwd' }] }, /messages\[1\]\.parts\[0\]\.url/],
    [{ role: 'user', parts: [{ type: 'file', mediaType: 'text/plain', url: 'nowhere' }] }, /messages\[1\]\.parts\[0\]\.url/]
  ]
  for (const [message, error] of cases) {
    t.match(
      await sayAll(app, [user('hi'), message]),
      { status: 400, body: { error, code: 'ERR_INVALID_MESSAGES' } },
      JSON.stringify(message)
    )
  }
  t.match(await sayAll(app, [{ role: 'user', parts: [{ type: 'data-place', data: {} }] }]), {
    status: 400,
    body: { error: /says something/ }
  })
})

t.test("a run that goes on from the assistant's message goes on with its id", async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'ok' }))
  const { events } = await sayAll(app, [user('go'), assistant(call('output-available', { output: {} }))])
  t.equal(events[0].messageId, 'a')
})

/** Asks, and tells what a chat would then send: the request with its calls answered so. */
async function askFor (app: App, approve: unknown[], id = 'chat') {
  const { events } = await sayAll(app, [user('go')], { id })
  const requests = of(events, 'tool-approval-request')
  const parts = requests.map(({ approvalId, toolCallId }, n) => ({
    type: 'tool-runCommand',
    toolCallId,
    input: {},
    state: 'approval-responded',
    approval: { id: approvalId, approved: approve[n] }
  }))
  return { parts, ids: asked(events), messages: [user('go'), { id: events[0].messageId, role: 'assistant', parts }] }
}

t.test('what a chat claims about a call changes nothing', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  const { messages, parts } = await askFor(app, [true])
  Object.assign(parts[0], { type: 'tool-writeFile', toolCallId: 'other', input: { command: 'touch forged' } })
  const { events } = await sayAll(app, messages, { id: 'chat' })
  t.equal(effects(app.cwd), 'x')
  t.notOk(existsSync(`${app.cwd}/forged`))
  t.equal(of(events, 'tool-output-available').length, 1)
})

t.test("a chat's decision is a JSON boolean about a request that was made", async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  for (const approved of ['true', 'false', 1, null, {}, undefined]) {
    const { messages } = await askFor(app, [approved])
    t.match(
      await sayAll(app, messages, { id: 'chat' }),
      { status: 400, body: { error: /messages\[1\]\.parts\[0\]\.approval\.approved/ } },
      JSON.stringify(approved)
    )
  }
  const { messages, parts } = await askFor(app, [true])
  t.match(await sayAll(app, messages, { id: 'another' }), { status: 409 })
  for (const id of ['nonsense', '01900000-0000-7000-8000-000000000000']) {
    parts[0].approval.id = id
    t.match(await sayAll(app, messages), { status: 404, body: { code: 'ERR_APPROVAL_NOT_FOUND' } })
  }
  for (const approval of [undefined, { id: 5, approved: true }]) {
    Object.assign(parts[0], { approval })
    t.match(await sayAll(app, messages), { status: 400, body: { error: /approval\.id must be a string/ } })
  }
  t.equal(effects(app.cwd), '')
})

t.test('the first decision wins for chats as well, and an old one that is forgotten is no obstacle', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  const { messages, parts } = await askFor(app, [true])
  parts.unshift({ ...parts[0], toolCallId: 'old', approval: { id: '01900000-0000-7000-8000-000000000000', approved: true } })
  t.match(await sayAll(app, messages, { id: 'chat' }), { status: 200 })
  t.equal(effects(app.cwd), 'x')
  parts[1].approval.approved = false
  t.match(await sayAll(app, messages, { id: 'chat' }), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } })
})

t.test('what a chat still holds of the steps before counts neither for nor against its answer', async (t) => {
  const app = await build(t, {
    config: {
      model: 'offline/scripted',
      offline: { script: [{ toolCalls: [append('a')] }, { toolCalls: [append('b')] }, { text: 'done' }] }
    }
  })
  const { messages, parts } = await askFor(app, [true])
  const second = await sayAll(app, messages, { id: 'chat' })
  parts[0].approval.approved = false
  parts.push({ ...parts[0], toolCallId: 'b', approval: { id: asked(second.events)[0], approved: true } })
  const third = await sayAll(app, messages, { id: 'chat' })
  t.equal(third.status, 200, JSON.stringify(third.body))
  t.equal(effects(app.cwd), 'ab')
  t.same((await sayAll(app, messages, { id: 'chat' })).events, third.events, 'and the same again replays what followed')
  t.equal(effects(app.cwd), 'ab')
})

t.test('a chat whose one question was answered elsewhere meanwhile still gets its other one answered', async (t) => {
  const app = await build(t, { config: calling(append('a'), append('b')) })
  const { messages, ids } = await askFor(app, [false, true])
  await answer(app, { [ids[0]]: true })
  t.match(await sayAll(app, messages, { id: 'chat' }), { status: 200 })
  t.equal(effects(app.cwd), 'ab', 'the first decision about the first one stands')
})

t.test('a chat that regenerates answers nothing', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  const { messages } = await askFor(app, [true])
  const { events } = await sayAll(app, messages, { id: 'chat', trigger: 'regenerate-message' })
  t.equal(of(events, 'start').length, 1)
  t.equal(effects(app.cwd), '')
})

t.test('an answer in an earlier message counts when the chat says that it continues that one', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  const { messages } = await askFor(app, [true])
  const messageId = messages[1].id
  await sayAll(app, [...messages, user('hello?')], { id: 'chat', messageId })
  t.equal(effects(app.cwd), 'x', 'the later message had not been sent')

  const other = await askFor(app, [true], 'another')
  await sayAll(app, [...other.messages, user('no, wait')], { id: 'another' })
  t.match(await sayAll(app, [...other.messages, user('no, wait')], { id: 'another', messageId: other.messages[1].id }), {
    status: 409,
    body: { code: 'ERR_APPROVAL_WITHDRAWN' }
  })
  t.equal(effects(app.cwd), 'x')
})

t.test('a new message in a chat without an id still finds the conversation it belongs to', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  const { events } = await sayAll(app, [user('go')])
  const [{ approvalId, toolCallId }] = of(events, 'tool-approval-request')
  const part = { type: 'tool-runCommand', toolCallId, input: {}, state: 'approval-requested', approval: { id: approvalId } }
  await sayAll(app, [user('go'), { id: 'a', role: 'assistant', parts: [part] }, user('never mind')])
  t.same((await app.inject('/approvals')).json().approvals.filter((open: any) => open.approvalId === approvalId), [])
})

t.test('a chat goes on after a restart', async (t) => {
  const before = await build(t, { config: calling(append('x')) })
  const { messages } = await askFor(before, [true])
  await before.close()
  const app = await build(t, { home: before.home, cwd: before.cwd })
  const { events } = await sayAll(app, messages, { id: 'chat' })
  t.equal(effects(before.cwd), 'x')
  t.match(of(events, 'text-delta'), [{ delta: /done/ }])
})

t.test('the stream is written as the query asks, else as the messages suggest', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  const request = async (url: string, messages: object[]) => {
    const { body, headers, statusCode } = await app.inject({ method: 'POST', url, payload: { messages } })
    const isUI = headers['x-vercel-ai-ui-message-stream'] === 'v1'
    t.equal(body.endsWith('data: [DONE]\n\n'), isUI)
    return { statusCode, body, dialect: body.includes('data-approval-request') ? 'ui5' : isUI ? 'ui' : 'documented' }
  }
  const plain = [{ role: 'user', content: 'go' }]
  const mixed = [user('hi'), ...plain]
  t.equal((await request('/run', plain)).dialect, 'documented')
  t.equal((await request('/run', [user('go')])).dialect, 'ui')
  t.equal((await request('/run', mixed)).dialect, 'ui')
  for (const protocol of ['documented', 'ui', 'ui5']) {
    for (const messages of [plain, mixed]) t.equal((await request(`/run?protocol=${protocol}`, messages)).dialect, protocol)
  }
  const [id] = asked((await say(app, 'go')).events)
  const decision = [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: id, approved: true }] }]
  t.equal((await request('/run/approve', decision)).dialect, 'documented')
  t.equal((await request('/run/approve', [user('go'), ...decision])).dialect, 'ui')
  t.equal((await request('/run/approve?protocol=ui', decision)).dialect, 'ui')
  for (const path of ['/run', '/run/approve']) {
    for (const protocol of ['v6', 'UI', '', 'ui&protocol=ui5']) {
      const { statusCode, body } = await request(`${path}?protocol=${protocol}`, decision)
      t.equal(statusCode, 400)
      t.match(JSON.parse(body), { error: /protocol must be one of documented, ui, ui5/, code: 'ERR_INVALID_REQUEST' })
    }
  }
})
