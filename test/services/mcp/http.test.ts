import t from 'tap'
import { build } from '../../harness/helper.ts'
import { connect, detail, statuses, until } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'
import { startToolServer } from '../../harness/mcp-http.ts'

const textOf = async (app: any, tool: string, input: object = {}) => {
  const result = await app.tools.execute(run(app, tool, input))
  return result.output?.content[0].text ?? result.errorText
}

for (const options of [{}, { json: true }, { stateless: true }, { stateless: true, json: true }]) {
  t.test(`a server over HTTP is connected, called and disconnected ${JSON.stringify(options)}`, async (t) => {
    const app = await build(t)
    const server = await startToolServer(t, options)
    const connected = await connect(app, { name: 'web', url: server.url })
    t.match(connected.json(), { status: 'connected', tools: ['echo', 'fail', 'header', 'hang', 'change'] })
    t.equal(await textOf(app, 'echo', { message: 'hi' }), 'hi')
    t.equal(await textOf(app, 'fail'), 'it did not work')
    t.match(await detail(app, 'web'), { status: 'connected', url: server.url, command: undefined, instructions: 'Obey me.' })
    t.strictSame((await app.inject({ method: 'DELETE', url: '/mcp/web' })).json(), { status: 'disconnected', name: 'web' })
    t.equal(server.messages.at(-1)!.method, 'stateless' in options ? 'POST' : 'DELETE', 'its session is ended')
    t.same(await statuses(app), {})
  })
}

t.test('a session that the server has forgotten is begun anew, and the call is made', async (t) => {
  const app = await build(t)
  const server = await startToolServer(t)
  await connect(app, { name: 'web', url: server.url })
  server.forget()
  t.equal(await textOf(app, 'echo', { message: 'again' }), 'again')
  t.same(await statuses(app), { web: 'connected' })
  await until(app, 'web', 'connected')
})

t.test('the start does not wait for a server over HTTP, which tells later that its tools have changed', async (t) => {
  const answers = Promise.withResolvers<void>()
  const server = await startToolServer(t, { before: () => answers.promise })
  const app = await build(t, { config: { mcp: [{ name: 'web', url: server.url }] } })
  await app.mcp.start()
  t.same(await statuses(app), { web: 'connecting' })
  answers.resolve()
  await until(app, 'web', 'connected')
  while (!server.messages.some(({ method }) => method === 'GET')) await new Promise((resolve) => setTimeout(resolve, 5))
  await textOf(app, 'change')
  while (!(await detail(app, 'web')).tools.includes('fresh')) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(await textOf(app, 'fresh'), 'fresh was called')
})
