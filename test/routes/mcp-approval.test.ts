import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { connect, misbehaving } from '../harness/mcp.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { run } from '../harness/mcp-calls.ts'

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
  t.match(app.tools.find('echo')?.description, /version 2/, 'what a server announces is followed')
  const { events } = await answer(app, { [asked(second.events)[0]]: true })
  t.match(of(events, 'tool-output-error'), [{ errorText: /not, or no more, the tool that was agreed to/ }])
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

t.test('what was accepted holds over a restart, and tools may be named', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'done' }))
  await connect(app, misbehaving('odd', ['--reads=echo,pid']))
  t.match((await accept(app, 'odd', { tools: ['nothing'] })).json(), { code: 'ERR_INVALID_REQUEST', error: /it has no nothing/ })
  t.equal((await accept(app, 'other')).statusCode, 404)
  await accept(app, 'odd', { tools: ['echo'] })
  await app.close()
  const { app: again } = await withGateway(t, () => ({ text: 'done' }), { home: app.home, cwd: app.cwd })
  await again.mcp.start()
  while (!again.tools.find('echo')) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(again.tools.permission('echo'), 'allow')
  t.match(await waiting(again), [{ serverTools: [{ name: 'pid' }] }])
})
