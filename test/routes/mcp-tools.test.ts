import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { heldClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { connect, detail, filesystem, misbehaving, statuses, until } from '../harness/mcp.ts'
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
  t.match(of(events, 'tool-output-error'), [{ errorText: /not the tool that was approved/ }])

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

const call = (toolName: string, input: object = {}) => ({ toolCalls: [{ toolName, input }] })

t.test('a tool that is to be asked about runs once it is approved, as long as it is the same', async (t) => {
  const { app } = await withGateway(
    t,
    (_request, nth) => [call('echo', { message: 'one' }), { text: 'said' }, call('echo', { message: 'two' }), { text: 'not said' }][nth]
  )
  await connect(app, misbehaving('odd', [], { approval: ['echo'] }))
  const first = await say(app, 'go')
  t.match(of(first.events, 'tool-approval-request'), [{ toolName: 'echo', input: { message: 'one' } }])
  t.match(of((await answer(app, { [asked(first.events)[0]]: true })).events, 'tool-output-available'), [{
    output: { content: [{ text: 'one' }] }
  }])

  const second = await say(app, 'go on')
  await app.tools.execute(run(app, 'change'))
  while (!app.tools.find('fresh')) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(app.tools.find('echo')?.model.description, /version 2/, 'what a server announces is followed')
  const { events } = await answer(app, { [asked(second.events)[0]]: true })
  t.match(of(events, 'tool-output-error'), [{ errorText: /not the tool that was approved/ }])
})

const accept = (app: App, server: string, payload: object = {}) =>
  app.inject({ method: 'POST', url: `/mcp/servers/${server}/accept`, payload })
const waiting = async (app: App) => (await app.inject('/approvals?kind=server')).json().approvals

t.test('a tool of an accepted server asks unless its server says that it only reads, or its entry says otherwise', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { toolCalls: [{ toolName: 'echo', input: { message: 'read' } }, { toolName: 'pid', input: {} }] },
      { text: 'done' }
    ][nth])
  const reads = ['--reads=echo']
  await connect(app, misbehaving('odd', reads))
  t.equal((await accept(app, 'odd')).statusCode, 200)
  await connect(app, misbehaving('never', reads, { approval: 'never' }))
  await connect(app, misbehaving('always', reads, { approval: 'always' }))
  await connect(app, misbehaving('some', reads, { approval: ['echo'] }))
  const of2 = (server: string) => ['echo', 'pid'].map((name) => app.tools.permission(server === 'odd' ? name : `${server}_${name}`))
  t.same(of2('odd'), ['allow', 'ask'])
  t.same(of2('never'), ['allow', 'allow'])
  t.same(of2('always'), ['ask', 'ask'])
  t.same(of2('some'), ['ask', 'allow'], 'a list names all that ask')

  const { events } = await say(app, 'go')
  t.match(of(events, 'tool-output-available'), [{ output: { content: [{ text: 'read' }] } }])
  t.match(of(events, 'tool-approval-request'), [{ toolName: 'pid' }])
})

t.test('a tool that loses its readOnlyHint while a run is under way asks from then on', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      {
        toolCalls: [{ toolName: 'change', input: {} }, {
          toolName: 'runCommand',
          input: { command: 'until [ -e go ]; do sleep 0.01; done' }
        }, { toolName: 'echo', input: { message: 'too late' } }]
      },
      { text: 'done' }
    ][nth], { config: { permissions: { runCommand: 'allow', change: 'allow' } } })
  await connect(app, misbehaving('odd', ['--reads=echo']))
  t.equal(app.tools.permission('echo'), 'ask')
  await accept(app, 'odd')
  t.equal(app.tools.permission('echo'), 'allow')
  const running = say(app, 'go')
  while (!app.tools.find('fresh')) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(app.tools.permission('echo'), 'ask')
  writeFileSync(`${app.cwd}/go`, '')
  const { events } = await running
  t.match(of(events, 'tool-output-available').map(({ toolName }) => toolName), ['change', 'runCommand'])
  t.match(of(events, 'tool-approval-request'), [{ toolName: 'echo', input: { message: 'too late' } }])
  t.match(of((await answer(app, { [asked(events)[0]]: true })).events, 'tool-output-available'), [{
    output: { content: [{ text: 'too late' }] }
  }])
  const { notCovered } = (await app.inject(`/runs/${of(events, 'start')[0].messageMetadata.runId}/changes`)).json()
  t.match(notCovered, [{ toolName: 'change', server: 'odd' }, { toolName: 'runCommand' }, { toolName: 'echo', server: 'odd' }])
})

t.test('a question about a tool of a server names the server, and says what it says of the tool', async (t) => {
  const call = (toolName: string, input: object) => ({ toolName, input })
  const { app } = await withGateway(t, (_request, nth) =>
    [
      {
        toolCalls: [
          call('write_file', { path: 'a.txt', content: 'x' }),
          call('create_directory', { path: 'b' }),
          call('writeFile', { path: 'c.txt', content: 'x' })
        ]
      },
      { text: 'done' }
    ][nth])
  await connect(app, filesystem(app.cwd))
  const { events } = await say(app, 'go')
  const servers = [{ name: 'files', title: 'Write File', destructive: true }, { name: 'files', title: 'Create Directory' }, undefined]
  t.strictSame(of(events, 'tool-approval-request').map(({ toolServer }) => toolServer), servers)
  const { approvals } = (await app.inject('/approvals?kind=tool')).json()
  t.same(new Set(approvals.map(({ toolServer }: any) => toolServer?.title)), new Set(['Write File', 'Create Directory', undefined]))
})

t.test('a server waits in the inbox until its user accepts it, and again for what has changed since', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'done' }), { config: { permissions: { change: 'allow' } } })
  await connect(app, misbehaving('odd', ['--reads=echo']))
  const [item] = await waiting(app)
  t.match(item, { kind: 'server', server: 'odd', serverTools: [{ name: 'echo', state: 'new' }], note: /its reading tools run unasked: 1/ })
  t.match((await app.inject('/approvals')).json().approvals, [{ approvalId: item.approvalId }], 'it is part of the whole list')
  const decide = (approvalId: string, approved: boolean) =>
    app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved } })
  t.match((await decide(item.approvalId, true)).json(), { state: 'approved', continued: false })
  t.same(await waiting(app), [])
  t.equal(app.tools.permission('echo'), 'allow')
  t.equal((await decide(item.approvalId, true)).statusCode, 409, 'it waits no longer')

  await app.tools.execute(run(app, 'change'))
  while (!app.tools.find('fresh')) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(app.tools.permission('echo'), 'ask', 'what was accepted was another tool')
  const { toolDetails } = (await app.inject('/mcp/servers/odd')).json()
  t.match(toolDetails.find(({ name }: { name: string }) => name === 'echo'), { acceptance: 'changed' })
  t.match(toolDetails.find(({ name }: { name: string }) => name === 'fresh'), { acceptance: 'new' })
})

t.test('a tool that begins to say that it only reads is asked about, and may be declined', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'done' }))
  await connect(app, misbehaving('odd', ['--claims-later=echo']))
  await accept(app, 'odd')
  t.equal(app.tools.permission('echo'), 'ask')
  await app.tools.execute(run(app, 'change'))
  while (!app.tools.find('fresh')) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(app.tools.permission('echo'), 'ask', 'its word alone changes nothing')
  const [item] = await waiting(app)
  t.match(item, { serverTools: [{ name: 'echo', state: 'changed' }], note: /Since you accepted this server/ })
  await app.inject({ method: 'POST', url: `/approvals/${item.approvalId}`, payload: { approved: false } })
  t.same(await waiting(app), [], 'a declined one does not come back')
  t.equal(app.tools.permission('echo'), 'ask')
})

t.test('what is accepted is what was shown, and can be taken back, also over a restart', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'done' }), { config: { permissions: { change: 'allow' } } })
  await connect(app, misbehaving('odd', ['--reads=echo', '--claims-later=echo,pid']))
  const { digest } = await detail(app, 'odd')
  const before = await detail(app, 'odd')
  t.equal(before.digest, digest, 'it stays while nothing changes')
  await app.tools.execute(run(app, 'change'))
  while (!app.tools.find('fresh')) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match((await accept(app, 'odd', { digest })).json(), { statusCode: 409, code: 'ERR_TOOLS_CHANGED', error: /"odd" have changed/ })
  t.match((await accept(app, 'odd', { digest, tools: ['echo'] })).json(), { statusCode: 409 })
  t.equal(app.tools.permission('echo'), 'ask')
  t.equal((await accept(app, 'odd', { digest: (await detail(app, 'odd')).digest })).statusCode, 200)
  t.same(['echo', 'pid'].map(app.tools.permission), ['allow', 'allow'])

  const takeBack = (name: string) => app.inject({ method: 'DELETE', url: `/mcp/servers/${name}/accept` })
  t.match((await takeBack('odd')).json(), { name: 'odd', status: 'connected' })
  t.same(['echo', 'pid'].map(app.tools.permission), ['ask', 'ask'])
  t.match(await waiting(app), [{ serverTools: [{ name: 'echo', state: 'new' }, { name: 'pid', state: 'new' }] }])
  t.equal((await takeBack('odd')).statusCode, 200, 'again, nothing changes')
  t.match((await takeBack('none')).json(), { statusCode: 404, code: 'ERR_TOOL_SERVER_NOT_FOUND' })
  await app.close()
  const { app: again } = await withGateway(t, () => ({ text: 'done' }), { home: app.home, cwd: app.cwd })
  await again.mcp.start()
  await until(again, 'odd', 'connected')
  t.equal(again.tools.permission('echo'), 'ask')
})

t.test('what was accepted holds over a restart, and tools may be named', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'done' }))
  await connect(app, misbehaving('odd', ['--reads=echo,pid']))
  t.match((await accept(app, 'odd', { tools: ['nothing'] })).json(), { code: 'ERR_INVALID_REQUEST', error: /it has no nothing/ })
  t.equal((await accept(app, 'other')).statusCode, 404)
  await accept(app, 'odd', { tools: ['echo'] })
  await app.close()
  const { app: again } = await withGateway(t, () => ({ text: 'done' }), { home: app.home, cwd: app.cwd })
  await again.mcp.start()
  await until(again, 'odd', 'connected')
  t.equal(again.tools.permission('echo'), 'allow')
  t.match(await waiting(again), [{ serverTools: [{ name: 'pid' }] }])
})

/** A service whose model makes the calls, one a step, and whose server `odd` acts as the file says when it starts. */
async function withActing (t: Test, settings: Parameters<typeof withGateway>[2] = {}) {
  const { clock, pass } = heldClock()
  let plan: object[] = []
  const reply = () => plan.length > 0 ? { toolCalls: [plan.shift() as any] } : { text: 'and on' }
  const made = await withGateway(t, reply, { ...settings, clock })
  const act = (...options: string[]) => writeFileSync(`${made.app.cwd}/acts`, options.join('\n'))
  const turn = (...calls: object[]) => {
    plan = calls
    return say(made.app, 'go', { id: 'thread' })
  }
  const said = ({ events }: { events: any[] }) =>
    events.flatMap(({ errorText, output }) => errorText ?? output?.content?.[0].text ?? [])
  return { ...made, pass, act, turn, said }
}

t.test('models are told of the same tools while a server is down, starts or dies, also after a restart, and calls say why', async (t) => {
  const echo = { toolName: 'echo', input: { message: 'here' } }
  const first = await withActing(t)
  await connect(first.app, misbehaving('odd', [`--as=${first.app.cwd}/acts`], { approval: 'never' }))
  t.same(first.said(await first.turn(echo)), ['here'])
  const [{ body: before }] = first.gateway.requests
  first.act('die')
  const losing = first.turn({ toolName: 'crash', input: {} }, echo)
  await until(first.app, 'odd', 'disconnected')
  await first.pass(1_000)
  t.match(first.said(await losing), [/lost during the call/, /"odd" is not connected: .*code 4/], 'it waited for a restart, which failed')
  await first.app.close()

  first.act('mute', 'says=npm warn exec The following package was not found and will be installed: odd@1.0.0')
  const { app, gateway, pass, act, turn, said } = await withActing(t, { home: first.app.home, cwd: first.app.cwd })
  await app.mcp.start()
  const installing = 'The following package was not found and will be installed: odd@1.0.0'
  const shown = async () => (await app.inject('/mcp/servers')).json().servers[0]
  while ((await shown()).connecting?.said === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  t.match(await shown(), { status: 'connecting', connecting: { since: Number, limitMs: 60_000, said: installing } })
  t.ok((await shown()).tools.includes('echo'))
  const early = turn(echo)
  await pass(30_000)
  const still = /"odd" is still starting, since \d+ s of at most 60 s, and said: The following .*odd@1\.0\.0\. Do something else/
  t.match(said(await early), [still])

  const waiting = turn(echo)
  act('die', 'says=npm error code E404')
  await pass(60_000)
  t.match(said(await waiting), [/echo cannot be called at the moment\. .*"odd" is not connected: it did not answer within 60 s/])
  await pass(1_000)
  while (!/exit code 4/.test((await shown()).error)) await new Promise((resolve) => setTimeout(resolve, 20))
  t.match(said(await turn(echo)), [/is not connected: it ended with exit code 4, and said: cannot log in/])
  act()
  await pass(2_000)
  await until(app, 'odd', 'connected')
  t.strictSame((await shown()).connecting, undefined)
  t.same(said(await turn(echo)), ['here'])

  for (const { body } of [...first.gateway.requests, ...gateway.requests]) {
    t.same(body.tools, before.tools)
    t.same(body.prompt[0], before.prompt[0])
  }
})

t.test('a call waits for its server that starts, and does not run another tool than the one that was agreed to', async (t) => {
  const first = await withActing(t, { config: { permissions: { pid: 'allow' } } })
  await connect(first.app, misbehaving('odd', [`--as=${first.app.cwd}/acts`]))
  await first.app.close()
  first.act('delay=300', 'reads=echo')
  const { app, turn, said } = await withActing(t, { home: first.app.home, cwd: first.app.cwd })
  await app.mcp.start()
  t.match(said(await turn({ toolName: 'pid', input: {} })), [/^\d+$/], 'its tools are known before it has connected')
  await app.close()

  first.act('delay=1000')
  const last = await withActing(t, { home: first.app.home, cwd: first.app.cwd })
  await last.app.mcp.start()
  const { events } = await last.turn({ toolName: 'echo', input: { message: 'x' } })
  t.same(await statuses(last.app), { odd: 'connecting' })
  const { events: answered } = await answer(last.app, { [asked(events)[0]]: true })
  t.match(of(answered, 'tool-output-error'), [{ errorText: /echo is not the tool that was approved/ }])
})

t.test('what is known of a server belongs to its program, and goes with it', async (t) => {
  const app = await build(t)
  await connect(app, misbehaving('odd', ['--tools=more']))
  await app.close()
  const mcp = [misbehaving('odd', ['--mute']), misbehaving('off', [], { enabled: false })]
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ mcp }))
  const next = await build(t, { home: app.home, cwd: app.cwd })
  await next.mcp.start()
  t.notOk(next.tools.offered().some(({ model: { name } }) => name === 'more'), 'another program is another server')
  await next.inject({ method: 'DELETE', url: '/mcp/odd' })
  t.same(await next.store.record('tool-definitions', () => ({})).get(), { servers: [] })
})
