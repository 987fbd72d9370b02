import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { connect, detail, misbehaving, until } from '../harness/mcp.ts'
import { run } from '../harness/mcp-calls.ts'
import { withGateway } from '../harness/with-gateway.ts'

const agentNames = async (app: App, server: string) =>
  Object.fromEntries((await detail(app, server)).toolDetails.map(({ name, agentName, notOffered }: any) => [name, agentName ?? notOffered]))
const pidOf = async (app: App, tool: string) => ((await app.tools.execute(run(app, tool))) as any).output.content[0].text
const reload = (app: App & { home: string }, mcp: object[]) => {
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ mcp }))
  return app.inject({ method: 'POST', url: '/config/reload' })
}
const again = async (t: Test, app: App & { home: string, cwd: string }) => {
  await app.close()
  const next = await build(t, { home: app.home, cwd: app.cwd })
  await next.mcp.start()
  return next
}

t.test('a tool keeps its name until its server is removed, whichever other servers come and go, also after a restart', async (t) => {
  const app = await build(t)
  await connect(app, misbehaving('a'))
  await connect(app, misbehaving('b'))
  t.match(await agentNames(app, 'b'), { echo: 'b_echo' })
  await app.inject({ method: 'DELETE', url: '/mcp/a' })
  t.match(await agentNames(app, 'b'), { echo: 'b_echo' }, 'a free name changes nothing')
  await connect(app, misbehaving('c', ['--tools=more']))
  t.match(await agentNames(app, 'c'), { echo: 'echo' }, 'a new server gets it')

  await reload(app, [misbehaving('c', ['--delay=300']), misbehaving('new'), misbehaving('b')])
  const next = await again(t, app)
  for (const name of ['b', 'c', 'new']) await until(next, name, 'connected')
  t.match(await agentNames(next, 'new'), { echo: 'new_echo' })
  t.match(await agentNames(next, 'c'), { echo: 'echo' }, 'although it connected last')
  t.match(await agentNames(next, 'b'), { echo: 'b_echo' })

  await connect(next, misbehaving('c', [], { enabled: false }))
  await connect(next, misbehaving('d'))
  t.match(await agentNames(next, 'd'), { echo: 'd_echo' }, 'a disabled server keeps its names')
})

t.test('of servers that start together the first in the file gets the name that both want, whichever connects first', async (t) => {
  const app = await build(t, { config: { mcp: [misbehaving('slow', ['--delay=300']), misbehaving('quick')] } })
  await app.mcp.start()
  await until(app, 'slow', 'connected')
  await app.tools.ready(new AbortController().signal)
  t.match([await agentNames(app, 'slow'), await agentNames(app, 'quick')], [{ echo: 'echo' }, { echo: 'quick_echo' }])
})

t.test('a filter leaves tools out and says so; a reload applies it while the server goes on', async (t) => {
  const app = await build(t, { config: { permissions: { fail: 'deny' } } })
  const bad = await connect(app, misbehaving('odd', [], { tools: { only: ['echo'] } }))
  t.equal(bad.statusCode, 400)
  await connect(app, misbehaving('odd', [], { tools: { allow: ['e*', 'pid', 'fail'], deny: ['en?'] } }))
  t.match(await agentNames(app, 'odd'), {
    echo: 'echo',
    env: 'Its server\'s entry denies it: "en?" in tools.deny.',
    big: "Its server's entry does not name it in tools.allow.",
    fail: '"permissions" of config.json denies it.'
  })
  t.match(await app.tools.execute(run(app, 'env', { name: 'HOME' })), { status: 'error', errorText: /There is no tool named "env"/ })
  const pid = await pidOf(app, 'pid')
  await reload(app, [misbehaving('odd', [], { tools: { deny: ['echo'] } })])
  t.match(await agentNames(app, 'odd'), { echo: /denies it/, env: 'env', pid: 'pid' })
  t.equal(await pidOf(app, 'pid'), pid)

  const put = (settings: object, name = 'odd') => app.inject({ method: 'PUT', url: `/mcp/servers/${name}`, payload: settings })
  t.match((await put({ tools: {} })).json(), { name: 'odd', status: 'connected' })
  t.match(await agentNames(app, 'odd'), { echo: 'echo' })
  t.equal(await pidOf(app, 'pid'), pid)
  t.equal((await put({})).statusCode, 400)
  t.equal((await put({ command: 'sh' })).statusCode, 400)
  t.match((await put({ enabled: true }, 'none')).json(), { code: 'ERR_TOOL_SERVER_NOT_FOUND' })
})

t.test('a server that is not enabled has no process, and comes back with its variables', async (t) => {
  const app = await build(t)
  await connect(app, misbehaving('odd', [], { env: { TOKEN: 'canary-0123456789' } }))
  const pid = Number(await pidOf(app, 'pid'))
  const put = (enabled: boolean) => app.inject({ method: 'PUT', url: '/mcp/servers/odd', payload: { enabled } })
  t.strictSame((await put(false)).json(), { name: 'odd', status: 'disabled', tools: [] })
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(app.tools.find('echo'), undefined)
  const next = await again(t, app)
  t.match(await detail(next, 'odd'), { status: 'disabled', toolDetails: [] })
  await next.inject({ method: 'PUT', url: '/mcp/servers/odd', payload: { enabled: true } })
  await until(next, 'odd', 'connected')
  await next.tools.ready(new AbortController().signal)
  t.match(await next.tools.execute(run(next, 'env', { name: 'TOKEN' })), { output: { content: [{ text: '[secret]' }] } })

  const later = await connect(next, { name: 'later', command: 'no-such-program', enabled: false })
  t.strictSame(later.json(), { status: 'disabled', tools: [] })
})

t.test('an approval holds for what is started and for the definition, and not for another command under the same name', async (t) => {
  const call = { toolCalls: [{ toolName: 'echo', input: { message: 'hi' } }] }
  const { app } = await withGateway(t, (_request, nth) => [call, { text: 'not run' }, call, { text: 'run' }][nth])
  await connect(app, misbehaving('odd', [], { env: { TOKEN: 'canary-0123456789' } }))
  const first = await say(app, 'go')
  await connect(app, misbehaving('odd', ['--tools=more'], { env: { TOKEN: 'canary-0123456789' } }))
  const { events } = await answer(app, { [asked(first.events)[0]]: true })
  t.match(of(events, 'tool-output-error'), [{ errorText: /not, or no more, the tool that was agreed to/ }])

  const second = await say(app, 'go on')
  await connect(app, misbehaving('odd', ['--tools=more'], { env: { TOKEN: 'another-0123456789' } }))
  const done = await answer(app, { [asked(second.events)[0]]: true })
  t.match(of(done.events, 'tool-output-available'), [{ output: { content: [{ text: 'hi' }] } }], 'a new token changes nothing')
})

function isAlive (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
