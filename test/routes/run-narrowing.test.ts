import t from 'tap'
import type { App } from '../../app.ts'
import type { GatewayRequest } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const write = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
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
  t.match(systemOf(gateway.requests[0]), /Some tools need/)
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
    'Some tools need', 'Working folder', 'approves no call', 'Instructions of the application:\nAnswer in French.', 'Likes tea'
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
