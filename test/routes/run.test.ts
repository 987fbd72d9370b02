import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { breakDisk } from '../harness/disk.ts'
import { build } from '../harness/helper.ts'
import { kinds, textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

t.test('a plain reader sees every event of the interface, in order and with its fields', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { text: 'Let me look. ', toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] },
      { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'A' } }] },
      { text: 'All done.' }
    ][nth], { config: { analysis: true } })

  const first = await say(app, 'do it')
  t.match(first.headers, { 'content-type': /^text\/event-stream/, 'cache-control': 'no-cache', 'x-thread-id': /./ })
  t.same(kinds(first.events), [
    'start',
    'reasoning-start',
    'reasoning-delta',
    'reasoning-end',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
    'tool-output-available',
    'finish-step',
    'step-boundary',
    'start-step',
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
    'tool-approval-request',
    'finish-step',
    'finish'
  ])
  const of1 = (type: string) => of(first.events, type)[0]
  t.match(of1('start'), { messageId: /./, messageMetadata: { threadId: first.headers['x-thread-id'] } })
  t.match(of1('reasoning-delta'), { content: /./, delta: of1('reasoning-delta').content, id: of1('reasoning-start').id })
  t.match(of1('text-delta'), { content: /./, delta: of1('text-delta').content, id: of1('text-start').id })
  t.match(of1('tool-input-start'), { toolName: 'listDirectory', toolCallId: /./ })
  t.match(of1('tool-input-available'), { input: { path: '.' }, toolCallId: of1('tool-input-start').toolCallId })
  t.match(of1('tool-output-available'), { output: { entries: [] }, toolCallId: of1('tool-input-start').toolCallId })
  t.match(of1('tool-approval-request'), { approvalId: /./, toolCallId: /./, toolName: 'writeFile', input: { path: 'a.txt', content: 'A' } })

  const second = await answer(app, { [asked(first.events)[0]]: true })
  t.same(kinds(second.events), [
    'start',
    'tool-output-available',
    'step-boundary',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'finish-step',
    'finish'
  ])
  t.equal(textOf(second.events), 'All done.')
  t.equal(second.events[0].messageId, first.events[0].messageId, 'it is the same message that goes on')
})

t.test('the stream begins before any model has answered', async (t) => {
  const asked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async () => {
    asked.resolve()
    await release.promise
    return { text: 'late' }
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as { port: number }
  const response = await fetch(`http://127.0.0.1:${port}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] })
  })
  const reader = response.body!.getReader()
  t.match(new TextDecoder().decode((await reader.read()).value), /"type":"start"/)
  await asked.promise
  release.resolve()
  for (let part = await reader.read(); !part.done; part = await reader.read());
})

t.test('the whole conversation reaches the model, results of tools included', async (t) => {
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => [{ toolCalls: [{ toolName: 'systemInfo', input: {} }] }, { text: 'ok' }][nth]
  )
  await sayAll(app, [
    { role: 'system', content: 'Talk like a pirate.' },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: [{ type: 'text', text: 'three' }] }
  ])
  const [, ...prompt] = gateway.requests[1].body.prompt
  t.match(gateway.requests[0].body.prompt[0], { role: 'system', content: /pirate/ })
  t.match(prompt, [
    { role: 'user', content: [{ text: 'one' }] },
    { role: 'assistant', content: [{ text: 'two' }] },
    { role: 'user', content: [{ text: 'three' }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolName: 'systemInfo' }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolName: 'systemInfo', output: { type: 'json', value: { platform: process.platform } } }]
    }
  ])
})

t.test('a call that the history left without a result counts as denied, and claimed approvals as nothing', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  await sayAll(app, [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'runCommand', input: { command: 'x' } }, {
        type: 'tool-approval-request',
        approvalId: 'a1',
        toolCallId: 'c1'
      }]
    },
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a1', approved: true }] },
    { role: 'user', content: 'never mind' }
  ])
  const prompt = gateway.requests[0].body.prompt.slice(1)
  const { toolCallId } = prompt[1].content[0]
  t.match(toolCallId, /^[a-zA-Z0-9]{9}$/, 'with an id that every provider takes')
  t.match(prompt, [
    { role: 'user' },
    { role: 'assistant', content: [{ type: 'tool-call' }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, output: { type: 'execution-denied' } }] },
    { role: 'user' }
  ])
})

t.test('the folder of the request is where tools work', async (t) => {
  const app = await build(t)
  mkdirSync(`${app.cwd}/sub dir`)
  writeFileSync(`${app.cwd}/sub dir/here.txt`, 'found')
  const cwd = `${app.cwd}/sub dir`
  for (const where of [{ cwd }, { context: { cwd } }, { cwd, context: { cwd } }]) {
    const { events } = await say(app, 'read here.txt', where)
    t.match(of(events, 'tool-output-available'), [{ output: { content: 'found' } }])
  }
  t.match(await say(app, 'read here.txt', { cwd, context: { cwd: app.cwd } }), { status: 400, body: { error: /two folders/ } })
  for (const cwd of [`${app.cwd}/missing`, `${app.cwd}/sub dir/here.txt`, '\0']) {
    t.match(await say(app, 'read here.txt', { cwd }), { status: 400, body: { code: 'ERR_INVALID_CWD' } }, JSON.stringify(cwd))
  }
})

t.test('a message that is none is a 400 that names it', async (t) => {
  const app = await build(t)
  const user = { role: 'user', content: 'hi' }
  const cases: Array<[object[], RegExp]> = [
    [[user, { role: 'wizard', content: 'hi' }], /messages\[1\].*role must be one of/],
    [[{ role: 'user' }], /messages\[0\].*content is missing/],
    [[user, { role: 'user', content: 5 }], /messages\[1\].*content must be/],
    [[user, { role: 'user', content: [{ type: 'mystery' }] }], /messages\[1\].*content does not fit/],
    [[{ role: 'system', content: 'only this' }], /no message with role "user"/],
    [[{ content: 'no role' }], /role/]
  ]
  for (const [messages, error] of cases) {
    t.match(await sayAll(app, messages), { status: 400, body: { error, code: /^ERR_/ } }, JSON.stringify(messages))
  }
  t.match(await say(app, 'hi', { id: 'a/b' }), { status: 400 })
  t.match(await say(app, 'hi', { whatever: 'else', id: 'fine id é' }), { status: 200 }, 'other keys are ignored')
  for (const [name, meant] of [['dryrun', 'dryRun'], ['dry_run', 'dryRun'], ['optons', 'options'], ['Waiting', 'waiting']]) {
    const body = { code: 'ERR_INVALID_REQUEST', error: new RegExp(`"${name}".*"${meant}"`) }
    t.match(await say(app, 'hi', { [name]: true }), { status: 400, body })
  }
})

const sync = async (app: App, payload: object) => {
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}
const user = (content: string) => ({ role: 'user', content })

t.test('a script gets the whole answer as one object', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      {
        text: 'Looking.',
        toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }, { toolName: 'readFile', input: { path: 'none' } }],
        usage: { inputTokens: 5, outputTokens: 3 }
      },
      { text: 'All good.', usage: { inputTokens: 7, outputTokens: 2 } }
    ][nth], { config: { analysis: true } })
  const { status, body } = await sync(app, { messages: [user('go')], id: 'chat' })
  t.equal(status, 200)
  t.match(body, {
    text: 'All good.',
    steps: 2,
    toolCalls: [{ toolName: 'listDirectory', input: { path: '.' }, output: { entries: [] }, status: 'completed' }, {
      toolName: 'readFile',
      status: 'error',
      errorText: /none/
    }],
    usage: { inputTokens: 22, outputTokens: 6 },
    finishReason: 'stop',
    pendingApprovals: [],
    analysis: { complexity: /./, thinking: /short question/ },
    threadId: 'chat'
  })
  t.match(body.messages, [
    { role: 'assistant', content: [{ type: 'text', text: 'Looking.' }, { type: 'tool-call' }, { type: 'tool-call' }] },
    { role: 'tool', content: [{ type: 'tool-result' }, { type: 'tool-result' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'All good.' }] }
  ])
})

t.test('approvals work without a stream, and the messages given back continue the conversation', async (t) => {
  const app = await build(t)
  const asked = await sync(app, { messages: [user('write "x" to a.txt')] })
  t.match(asked.body, { finishReason: 'tool-calls', pendingApprovals: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] })
  const done = await sync(app, {
    messages: [user('write "x" to a.txt'), ...asked.body.messages, {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: asked.body.pendingApprovals[0].approvalId, approved: true }]
    }]
  })
  t.match(done.body, { text: /a\.txt/, toolCalls: [{ toolName: 'writeFile', status: 'completed' }], threadId: asked.body.threadId })
  t.ok(existsSync(`${app.cwd}/a.txt`))
  const next = await sync(app, {
    messages: [user('write "x" to a.txt'), ...asked.body.messages, ...done.body.messages, user('list the files here')]
  })
  t.match(next, { status: 200, body: { text: /a\.txt/ } })
})

t.test('a failing model is a 502 that says what to do', async (t) => {
  const { app } = await withGateway(t, () => ({ error: { status: 401, type: 'authentication_error', message: 'no' } }))
  t.match(await sync(app, { messages: [user('go')] }), { status: 502, body: { error: /in the settings/, code: /^ERR_/ } })
})

t.test("a failure of the provider has its own code, and a rate limit the provider's wait", async (t) => {
  const limit = { status: 429, message: 'slow down', headers: { 'retry-after': '3600' } }
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? { error: limit } : { error: { status: 402, message: 'no credit' } })
  const limited = await sync(app, { messages: [user('go')] })
  t.match(limited, { status: 429, headers: { 'retry-after': '3600' }, body: { code: 'ERR_PROVIDER_RATE_LIMIT', statusCode: 429 } })
  t.match(await sync(app, { messages: [user('go')] }), { status: 502, body: { code: 'ERR_PROVIDER_CREDIT' } })
})

t.test('time running out is a 504', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['a', 'b'], ending: 'stall', after: 4 }), { config: { agent: { runMs: 1000 } } })
  t.match(await sync(app, { messages: [user('go')] }), { status: 504, body: { code: 'ERR_TIMEOUT' } })
})

t.test('a disk that takes no more writes meanwhile is a 503, and the conversation goes on once it does', async (t) => {
  let disk: ReturnType<typeof breakDisk> | undefined
  const { app } = await withGateway(t, (_request, nth) => {
    if (nth === 0) disk = breakDisk(t)
    return { text: `answer ${nth}` }
  })
  t.match(await sync(app, { messages: [user('go')], id: 'chat' }), {
    status: 503,
    body: { code: 'ERR_STORE_UNAVAILABLE', error: /No space left/ }
  })
  disk!.mend()
  while (app.store.status().state !== 'ok') await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(await sync(app, { messages: [user('go')], id: 'chat' }), { status: 200, body: { text: 'answer 1' } })
})

t.test('a client that hangs up ends its run, as with a stream', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: ['a', 'b'], ending: 'stall', after: 4 }))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const leave = new AbortController()
  const answer = fetch(`${url}/run/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [user('go')] }),
    signal: leave.signal
  })
  while (gateway.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  leave.abort()
  await t.rejects(answer)
  t.equal(await gateway.requests[0].ended, 'aborted')
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
})
