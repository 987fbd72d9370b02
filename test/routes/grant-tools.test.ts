import t from 'tap'
import { asked, of } from '../harness/agent.ts'
import { connect, everything } from '../harness/mcp.ts'
import { parseEvents } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

t.test('a tool of a server is granted whole, for its conversation, over a reconnect, and never against a rule', async (t) => {
  let n = 0
  const { app } = await withGateway(t, ({ body: { prompt } }) =>
    prompt.at(-1).role === 'user' ? { toolCalls: [{ toolName: 'echo', input: { message: `message ${n++}` } }] } : { text: 'done' })
  const send = async (url: string, payload: object) => parseEvents((await app.inject({ method: 'POST', url, payload })).body)
  const go = (id = 'a') => send('/run', { messages: [{ role: 'user', content: 'go' }], id })
  const server = { ...everything(), approval: 'always' }
  t.equal((await connect(app, server)).statusCode, 200)
  const first = await go()
  const [approvalId] = asked(first)
  t.same(of(first, 'tool-approval-request')[0].scopes.map(({ scope }: { scope: string }) => scope), ['once', 'exact', 'tool'])
  const content = [{ type: 'tool-approval-response', approvalId, approved: true, scope: 'tool' }]
  await send('/run/approve', { messages: [{ role: 'tool', content }] })

  t.same(asked(await go()), [], 'with another input')
  t.equal(asked(await go('b')).length, 1, 'of another conversation')
  await app.inject({ method: 'POST', url: '/mcp/disconnect', payload: { name: server.name } })
  t.equal((await connect(app, server)).statusCode, 200)
  t.same(asked(await go()), [], 'the same tool again')
  app.config.current.permissions = { echo: 'deny' }
  t.match(of(await go(), 'tool-input-error'), [{ errorText: /no tool named "echo"/ }])
})
