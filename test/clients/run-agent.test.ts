import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { AgentError, createAgent, runAgent, type RunStreamEvent } from '../../client/index.ts'
import type { App } from '../../app.ts'
import { build } from '../harness/helper.ts'
import { connect, noting } from '../harness/mcp.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'

const user = (content: string) => [{ role: 'user', content }]
const urlOf = async (app: App) => `http://127.0.0.1:${await listen(app)}`
const noQuestions = () => {
  throw new Error('nothing should be asked')
}
const failure = async (work: Promise<unknown>): Promise<AgentError> =>
  work.then(() => {
    throw new Error('it went well')
  }, (error) => error)

/** Something that listens where the service should, and counts what is sent to it. */
async function impostor (t: { teardown(handler: () => unknown): unknown }, answer: Parameters<typeof createServer>[1]) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    request.resume()
    answer!(request, response as never)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests }
}

t.test('a run has the options that it is given', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] } : { text: 'done' })
  const options = { model: 'other/large', effort: 'low' as const }
  await runAgent({ baseUrl: await urlOf(app), messages: user('go'), options, approve: () => true })
  t.same(gateway.requests.map(({ modelId, body }) => [modelId, body.reasoning]), Array(2).fill(['other/large', 'low']))
})

t.test('an agent takes a skill and a prompt of a tool server beside the words, and goes on where a thread stopped', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] } : { text: nth === 1 ? 'half' : 'done' })
  mkdirSync(`${app.cwd}/.agents/skills/tidy`, { recursive: true })
  writeFileSync(`${app.cwd}/.agents/skills/tidy/SKILL.md`, '---\nname: tidy\ndescription: Tidies.\n---\nTidy up.\n')
  await connect(app, noting(['--prompts']))
  const agent = createAgent({ url: await urlOf(app) })
  const prompt = { server: 'noting', name: 'review', arguments: { file: 'cart.js' } }
  const message = { role: 'user', content: 'Be kind.' }
  const first = agent.run({ id: 'one', cwd: app.cwd, skill: 'tidy', prompt, message, options: { maxSteps: 1 } })
  t.match(await first.result(), { text: 'half', stopped: { reason: 'steps' } })
  const said = JSON.stringify(gateway.requests[0].body.prompt.at(-1))
  for (const words of ['chosen the skill', 'Review cart.js.', 'Be kind.']) t.match(said, words)
  t.match(await agent.run({ id: 'one', continue: true }).result(), { text: 'done', finishReason: 'stop' })
})

t.test('a run goes through its approvals to the end', async (t) => {
  const app = await build(t, { token: 'the-token' })
  const asked: unknown[] = []
  const events: RunStreamEvent[] = []
  const result = await runAgent({
    baseUrl: await urlOf(app),
    token: 'the-token',
    messages: user('write "one" to a.txt, then write "two" to b.txt'),
    cwd: app.cwd,
    onEvent: (event) => events.push(event),
    approve: async ({ toolName, input }) => {
      asked.push([toolName, input])
      return true
    }
  })
  t.same(asked, [['writeFile', { path: 'a.txt', content: 'one' }], ['writeFile', { path: 'b.txt', content: 'two' }]])
  t.same(['a', 'b'].map((name) => readFileSync(`${app.cwd}/${name}.txt`, 'utf8')), ['one', 'two'])
  t.match(result, { text: /a\.txt[\s\S]*b\.txt/, finishReason: 'stop', threadId: /^[0-9a-f-]{36}$/ })
  t.match(result.messages.map(({ role }) => role), ['assistant', 'tool', 'assistant', 'tool', 'assistant'])
  t.equal(events.filter(({ type }) => type === 'finish').length, 3, 'three streams were one run')

  const stored =
    (await app.inject({
      method: 'POST',
      url: '/run/sync',
      headers: { authorization: 'Bearer the-token' },
      payload: { message: { role: 'user', content: 'system info' }, id: result.threadId }
    })).json()
  t.equal(stored.threadId, result.threadId, 'the thread goes on')
})

t.test("the answer's messages are the ones the service itself would give", async (t) => {
  // Ids that every provider takes: others have a mark of their model, which the documented stream does not carry.
  const reply = (_request: unknown, nth: number) =>
    [
      {
        text: 'Let me look.',
        toolCalls: [{ toolName: 'readFile', input: { path: 'missing' }, toolCallId: 'lookup001' }, {
          toolName: 'readFile',
          input: { wrong: 1 },
          toolCallId: 'lookup002'
        }]
      },
      { text: 'Nothing there.' }
    ][nth % 2]
  const { app } = await withGateway(t, reply)
  const { messages, text, finishReason } = await runAgent({ baseUrl: await urlOf(app), messages: user('go'), approve: noQuestions })
  const sync = (await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: user('go') } })).json()
  t.same({ messages, text, finishReason }, { messages: sync.messages, text: sync.text, finishReason: sync.finishReason })
})

t.test('of one step, all are asked, and one may be denied with a reason', async (t) => {
  const append = (text: string) => ({ toolName: 'runCommand', input: { command: `printf ${text} >> effects.log` } })
  const { app, gateway } = await withGateway(t, (_request, nth) => [{ toolCalls: [append('a'), append('b')] }, { text: 'done' }][nth])
  const { messages } = await runAgent({
    baseUrl: await urlOf(app),
    messages: user('go'),
    approve: ({ input }) => JSON.stringify(input).includes('printf a') ? { approved: false, reason: 'not that one' } : true
  })
  t.equal(readFileSync(`${app.cwd}/effects.log`, 'utf8'), 'b')
  t.match(JSON.stringify(messages), /execution-denied","reason":"not that one/)
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /not that one/, 'the model is told')
})

t.test("a failing model is an error in the service's words", async (t) => {
  const { app } = await withGateway(t, () => ({ error: { status: 401, type: 'authentication_error', message: 'no' } }))
  t.match(await failure(runAgent({ baseUrl: await urlOf(app), messages: user('go'), approve: noQuestions })), {
    name: 'AgentError',
    message: /test\/model.*in the settings/,
    code: 'ERR_PROVIDER_AUTH',
    statusCode: undefined
  })
})

t.test("a refusal is an error in the service's words", async (t) => {
  const baseUrl = await urlOf(await build(t, { token: 'the-token' }))
  const run = (token: string | undefined, messages: object[]) =>
    failure(runAgent({ baseUrl, token, messages: messages as never, approve: noQuestions }))
  t.match(await run(undefined, user('go')), { code: 'ERR_UNAUTHORIZED', statusCode: 401, message: /LOCAL_AGENT_TOKEN/ })
  t.match(await run('the-token', []), {
    code: 'ERR_INVALID_REQUEST',
    statusCode: 400,
    details: [{ path: '/messages', message: 'needs at least 1 entry' }]
  })
})

t.test('aborting ends the run, in the service too', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const stop = new AbortController()
  const reason = new Error('the window was closed')
  const ended = failure(runAgent({
    baseUrl: await urlOf(app),
    messages: user('go'),
    approve: noQuestions,
    signal: stop.signal,
    onEvent: ({ type }) => {
      if (type === 'text-delta') stop.abort(reason)
    }
  }))
  t.equal(await ended, reason)
  t.equal(await gateway.requests[0].ended, 'aborted')
  t.equal(
    await failure(runAgent({ baseUrl: 'http://127.0.0.1:1', messages: user('go'), approve: noQuestions, signal: stop.signal })),
    reason,
    'an aborted signal starts nothing'
  )
})

t.test('a run that is stopped from elsewhere is an error', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const onEvent = ({ type }: RunStreamEvent) => {
    if (type === 'text-delta') app.inject({ method: 'POST', url: '/run/chat/stop' }).catch(() => {})
  }
  t.match(await failure(runAgent({ baseUrl: await urlOf(app), id: 'chat', messages: user('go'), approve: noQuestions, onEvent })), {
    code: 'ERR_RUN_ENDED',
    message: /stop/
  })
})

const START = 'data: {"type":"start","messageId":"m","messageMetadata":{"threadId":"t","runId":"r"}}\n\n'
const cuts: Array<[string, string, boolean]> = [['the connection is lost', `${START}data: {"type":"text-del`, true], [
  'the stream ends early',
  START,
  false
]]
for (const [what, sent, isReset] of cuts) {
  t.test(`${what}: a clear error, and nothing is sent again`, async (t) => {
    const { baseUrl, requests } = await impostor(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sent, () => isReset ? response.destroy() : response.end())
    })
    const events: string[] = []
    const error = await failure(runAgent({ baseUrl, messages: user('go'), approve: noQuestions, onEvent: ({ type }) => events.push(type) }))
    t.match(error, { code: 'ERR_STREAM_CUT', message: /broke off/ })
    t.same(events, ['start'])
    t.equal(requests(), 1)
  })
}

t.test('no service, or another one, is said to be that', async (t) => {
  const nobody = await impostor(t, (_request, response) => response.destroy())
  t.match(await failure(runAgent({ baseUrl: nobody.baseUrl, messages: user('go'), approve: noQuestions })), {
    code: 'ERR_UNREACHABLE',
    message: /127\.0\.0\.1/
  })
  t.equal(nobody.requests(), 1, 'a POST without an answer is not repeated')
  for (const status of [200, 404]) {
    const { baseUrl } = await impostor(
      t,
      (_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end('<p>hello')
    )
    t.match(await failure(runAgent({ baseUrl, messages: user('go'), approve: noQuestions })), {
      code: 'ERR_NO_SERVICE',
      statusCode: status,
      message: new RegExp(String(status))
    })
  }
})

t.test('what approve throws ends it, with the question left open', async (t) => {
  const app = await build(t)
  t.match(
    await failure(runAgent({
      baseUrl: await urlOf(app),
      messages: user('write "x" to a.txt'),
      approve: () => {
        throw new Error('no window')
      }
    })),
    { message: 'no window' }
  )
  t.equal((await app.inject('/approvals')).json().approvals.length, 1)
  t.notOk(existsSync(`${app.cwd}/a.txt`))
})
