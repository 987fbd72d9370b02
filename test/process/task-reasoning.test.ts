import t from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'
import { assistants, returned, thinking } from '../harness/reasoning.ts'

const run = (command: string) => ({ toolName: 'runCommand', input: { command } })
const A = { calls: [run('echo hi')] }
const B = { text: 'Now wait.', calls: [run('sleep 300')] }
const C = { text: 'It was done.' }

t.test('a task run goes on with its thinking, step by step and after a kill, and is told the same beside it', {
  skip: process.platform !== 'linux'
}, async (t) => {
  const steps = [thinking('a', A), thinking('b', B), thinking('c', C)]
  const gateway = await startFakeGateway({ reply: ({ structured }) => structured === undefined ? steps.shift() : undefined })
  t.teardown(() => gateway.close())
  const dir = t.testdir({ home: { 'config.json': '{"model": "anthropic/claude-sonnet-5.5"}' }, work: {} })
  const start = () =>
    startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url } })
  const service = await start()
  const tasks = await tasksOf(t, service)
  const events = await tasks.watch()
  const { id } = await tasks.create('go', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  while (events.of('task:tool-start').length < 2) await events.beyond(events.events.length)
  await tasks.post(`/${id}/steer`, { comment: 'Be brief.' })
  await fetch(`${service.url}/memory/brain/fact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"fact": "Likes tea"}'
  })
  await service.stop('SIGKILL')

  const again = await tasksOf(t, await start())
  const rest = await again.watch()
  for (let seen = 0; (await again.get(`/${id}`)).status === 'running'; seen = rest.events.length) await rest.beyond(seen)
  const calls = gateway.requests.filter(({ structured }) => structured === undefined)
  t.strictSame(assistants(calls[1]), [returned('a', A)])
  t.strictSame(assistants(calls[2]), [returned('a', A), returned('b', B)])
  for (const { body } of calls) {
    t.equal(body.prompt[0].content, calls[0].body.prompt[0].content)
    t.strictSame(body.tools, calls[0].body.tools)
    t.match(body.providerOptions, { anthropic: { thinking: { blockBinding: { prefixMismatchBehavior: 'drop_block' } } } })
  }
  t.strictSame(
    calls[2].body.prompt.slice(0, calls[1].body.prompt.length),
    calls[1].body.prompt,
    'each call goes on where the one before ended'
  )
  t.match(
    calls[2].body.prompt.slice(-2),
    [/interrupted and goes on now/, /^The user adds: Be brief\.$/].map((text) => ({ role: 'user', content: [{ text }] }))
  )
  t.match(await again.runs(id), [{ attempts: 2 }])
})
