import { existsSync } from 'node:fs'
import t from 'tap'
import { breakDisk } from '../harness/disk.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'
import type { App } from '../../app.ts'

const sync = async (app: App, payload: object) => {
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload })
  return { status: response.statusCode, body: response.json() }
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
    analysis: { complexity: /./, goal: /./ },
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
  while (app.store.status().state !== 'ok') await new Promise(setImmediate)
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
  while (gateway.requests.length === 0) await new Promise(setImmediate)
  leave.abort()
  await t.rejects(answer)
  t.equal(await gateway.requests[0].ended, 'aborted')
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
})
