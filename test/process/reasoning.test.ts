import t from 'tap'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { NATIVE_ANSWERS, SIGNED } from '../harness/native-answers.ts'
import { assistants, returned, thinking } from '../harness/reasoning.ts'
import { startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

const look = { toolName: 'listDirectory', input: { path: '.' } }
const run = { toolName: 'runCommand', input: { command: 'echo hi' } }

for (const way of NATIVE_ANSWERS) {
  t.test(`${way.name}: goes back when the service was killed before the approval, and in the turn after`, async (t) => {
    const asks = way.plan({ reasoning: 'One\n\nTwo', signature: `asks ${SIGNED}`, text: 'May I?', toolCalls: [look, run] })
    const last = way.plan({ reasoning: 'Now I know', signature: SIGNED, text: 'It is done.' })
    const plans: Plan[] = [asks, last]
    const server = await startModelServer(way.native.wire, {
      reply: ({ streaming }) => streaming ? plans.shift() ?? { text: 'ok' } : undefined
    })
    t.teardown(() => server.close())
    const { kind, model } = way.native
    const config = {
      model: `${kind}/${model}`,
      analysis: false,
      threads: { titles: false },
      providers: { [kind]: { kind, baseURL: server.url, apiKey: 'a-key' } },
      ...way.config
    }
    const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
    const start = () => startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })

    const service = await start()
    const { events } = await postEvents(`${service.url}/run`, { id: 'chat', messages: [{ role: 'user', content: 'go' }] })
    const { approvalId } = events.find(({ type }) => type === 'tool-approval-request')!
    await service.stop('SIGKILL')
    const later = await start()
    const response = { type: 'tool-approval-response', approvalId, approved: true }
    await postEvents(`${later.url}/run/approve`, { messages: [{ role: 'tool', content: [response] }] })
    await postEvents(`${later.url}/run`, { id: 'chat', message: { role: 'user', content: 'and?' } })

    const calls = server.calls.filter(({ streaming }) => streaming)
    t.match(way.sent(calls[1].body), way.returned(asks))
    t.match(way.sent(calls[2].body), [...way.returned(asks), ...way.returned(last)])
    await later.stop()
  })
}

const runningCommand = (command: string) => ({ toolName: 'runCommand', input: { command } })
const A = { calls: [runningCommand('echo hi')] }
const B = { text: 'Now wait.', calls: [runningCommand('sleep 300')] }
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
