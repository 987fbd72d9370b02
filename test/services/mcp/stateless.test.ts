import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { QuestionOutcome } from '../../../services/contracts/tool.ts'
import type { ServerTransport } from '../../../services/mcp/server-transport.ts'
import { openStatelessSession } from '../../../services/mcp/stateless-session.ts'
import { startOddServer } from '../../fakes/mcp-http-server.ts'
import { startStatelessServer } from '../../fakes/stateless-server.ts'
import { fakeClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { connect, detail, statuses } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'

// MCP 2026-07-28, against version 2 of the official SDK for servers.

const VERSION = '2026-07-28'
const call = async (app: any, tool: string, input: object = {}, context: object = {}) => {
  const result = await app.tools.execute({ ...run(app, tool, input), ...context })
  const [content] = result.output?.content ?? []
  return content?.text ?? content?.resource.text ?? result.errorText
}
const answering = (outcome: QuestionOutcome) => ({ ask: async () => outcome })

t.test('a server over HTTP that takes the newest revision alone is connected, called and listened to', async (t) => {
  const app = await build(t)
  const server = await startStatelessServer(t, 'reject')
  const connected = (await connect(app, { name: 'web', url: server.url, approval: 'never' })).json()
  t.match(connected, { status: 'connected', tools: ['echo', 'hang', 'look', 'greet', 'place'] })
  const warnings = [/"broken" was left out/]
  const about = { instructions: 'Obey me.', version: { name: 'stateless' }, warnings, resources: [{ uri: 'note://today' }] }
  t.match(await detail(app, 'web'), about)
  t.equal(await call(app, 'echo', { message: 'hi' }), 'hi')
  const { headers, body } = await server.called('tools/call')
  t.match(headers, { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'echo', 'mcp-session-id': undefined })
  t.match(body.params._meta, {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'local-agent-service' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } }
  })
  t.equal(await call(app, 'place', { region: 'Zürich', size: 1 }), 'in Zürich', 'what a header repeats is what the server expects')

  const reports: object[] = []
  t.equal(await call(app, 'look', {}, { progress: (each: object) => reports.push({ ...each }) }), 'seen')
  t.match(reports, [{ progress: 1, total: 2, message: 'half' }])

  await server.called('subscriptions/listen')
  server.add('fresh')
  while (!(await detail(app, 'web')).tools.includes('fresh')) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(await call(app, 'fresh'), 'fresh')

  const stop = new AbortController()
  const hanging = app.tools.execute({ ...run(app, 'hang'), signal: stop.signal })
  while ((await server.called('tools/call')).body.params.name !== 'hang') await new Promise((resolve) => setTimeout(resolve, 5))
  stop.abort()
  await hanging.catch(() => {})
  await (await server.called('tools/call')).closed
  t.notOk(server.seen.some(({ body }) => body?.method === 'notifications/cancelled'), 'the end of its exchange cancels it')
  t.equal((await app.inject({ method: 'DELETE', url: '/mcp/web' })).statusCode, 200)
  await (await server.called('subscriptions/listen')).closed
})

t.test('what the server asks in the middle of a call is asked, and the call goes on with the answer', async (t) => {
  const app = await build(t)
  const server = await startStatelessServer(t, 'reject')
  await connect(app, { name: 'web', url: server.url, approval: 'never' })
  t.equal(await call(app, 'greet', {}, answering({ is: 'answered', answers: { name: 'Ada' } } as any)), 'Hello, Ada')
  t.equal(await call(app, 'greet', {}, answering({ is: 'declined' } as any)), 'It was a decline')
})

t.test('a program that takes the newest revision alone is connected and called', async (t) => {
  const app = await build(t)
  const args = [fileURLToPath(new URL('../../fakes/stateless-program.ts', import.meta.url))]
  const connected = (await connect(app, { name: 'program', command: process.execPath, args, approval: 'never' })).json()
  t.equal(connected.status, 'connected', connected.error)
  t.equal(await call(app, 'echo', { message: 'hi' }), 'hi')
  t.equal(await call(app, 'greet', {}, answering({ is: 'answered', answers: { name: 'Ada' } } as any)), 'Hello, Ada')
  t.equal(await call(app, 'readResource', { uri: 'note://today' }), 'tea')
})

t.test('changes of a server whose connection has ended are not listened to any more', async (t) => {
  const clock = fakeClock()
  const ended = Promise.withResolvers<string>()
  let isOver = false
  let late = 0
  const transport: Partial<ServerTransport> = {
    ended: ended.promise,
    async send (message) {
      if (isOver) {
        late++
        throw new Error('The tool server is not connected any more.')
      }
      const result = { supportedVersions: [VERSION], capabilities: { tools: { listChanged: true } } }
      const { id, method } = message as { id: number, method: string }
      if (method === 'server/discover') setImmediate(() => transport.onmessage!({ jsonrpc: '2.0', id, result }))
    }
  }
  const { signal } = new AbortController()
  const elicit = async () => ({})
  let changes = 0
  await openStatelessSession({
    ...{ transport: transport as ServerTransport, clock, signal, limit: signal, capabilities: {}, logLevel: 'info', elicit },
    onToolsChanged: () => void changes++
  })
  isOver = true
  ended.resolve('it ended with exit code 1')
  transport.onclose!()
  for (let minute = 0; minute < 6; minute++) await clock.advance(10_000)
  t.strictSame({ late, changes }, { late: 0, changes: 0 }, 'the connection that follows listens by itself')
})

t.test('a server that speaks older revisions, too, is spoken to in a session of one, without a further request', async (t) => {
  const app = await build(t)
  const server = await startStatelessServer(t, 'stateless')
  t.equal((await connect(app, { name: 'web', url: server.url, approval: 'never' })).json().status, 'connected')
  t.equal(await call(app, 'echo', { message: 'hi' }), 'hi')
  t.notOk(server.seen.some(({ body }) => body?.method === 'server/discover'))
})

t.test('a server that refuses every revision of this service says which ones it speaks, and an old one its own reason', async (t) => {
  const app = await build(t)
  const refusing = async (error: object, status = 400) => {
    const { url } = await startOddServer(t, {
      refuse: ({ id, res }) => {
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      }
    })
    return (await connect(app, { name: 'odd', url })).json()
  }
  t.match(await refusing({ code: -32000, message: 'no entry today' }), { statusCode: 502, error: /no entry today/ })
  t.match(await refusing({ code: -32000, message: 'no entry today' }, 200), { statusCode: 502, error: /no entry today/ })
  const newer = { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2030-01-01'], requested: 'x' } }
  t.match(await refusing(newer), { statusCode: 502, error: /it speaks MCP 2030-01-01, and this service 2026-07-28 and before/ })
  t.same(await statuses(app), {})
})
