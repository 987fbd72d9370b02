import { writeFileSync } from 'node:fs'
import t from 'tap'
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

t.test('a tool of a server asks unless its server says that it only reads, or its entry says otherwise', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { toolCalls: [{ toolName: 'echo', input: { message: 'read' } }, { toolName: 'pid', input: {} }] },
      { text: 'done' }
    ][nth])
  const reads = ['--reads=echo']
  await connect(app, misbehaving('odd', reads))
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
