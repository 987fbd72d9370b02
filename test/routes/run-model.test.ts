import t from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { fakeClock, hastyClock, until } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { connect, misbehaving } from '../harness/mcp.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const tooMany = (seconds?: string): Plan => ({
  error: { status: 429, type: 'rate_limit_exceeded', message: 'slow down', ...(seconds && { headers: { 'retry-after': seconds } }) }
})

t.test('a call that fails before it has said anything is made again, after the time the provider asks for', async (t) => {
  const clock = fakeClock()
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? tooMany('7') : { text: 'now it works' }, { clock })
  const running = say(app, 'go')
  await clock.sleeper(7_000)
  await clock.advance(6_900)
  t.equal(gateway.requests.length, 1, 'not before the seven seconds are over')
  await clock.advance(200)
  t.equal(textOf((await running).events), 'now it works')
})

t.test('after three more tries the stream says which model failed, and how, and ends', async (t) => {
  const clock = fakeClock()
  const { app, gateway } = await withGateway(t, () => ({ error: { status: 500, message: 'boom' } }), { clock })
  const running = say(app, 'go')
  for (const wait of [1_000, 2_000, 4_000]) {
    await clock.sleeper(wait)
    await clock.advance(wait)
  }
  const { events } = await running
  t.equal(gateway.requests.length, 4)
  t.match(events.at(-2), { type: 'error', errorText: /test\/model/ })
  t.match(events.at(-1), { type: 'finish', finishReason: 'error' })
})

t.test('the fallback model takes over when the model cannot be had', async (t) => {
  const { app, gateway } = await withGateway(t, ({ modelId }) =>
    modelId === 'test/model'
      ? { error: { status: 404, type: 'model_not_found', message: 'no such model' } }
      : { text: 'from the other one' }, { config: { models: { fallback: 'test/other' } } })
  t.equal(textOf((await say(app, 'go')).events), 'from the other one')
  t.same(gateway.requests.map(({ modelId }) => modelId), ['test/model', 'test/other'])
})

t.test('a refused key is said at once, without the key', async (t) => {
  const { app, gateway } = await withGateway(
    t,
    () => ({ error: { status: 401, type: 'authentication_error', message: 'bad key the-key' } })
  )
  const { events } = await say(app, 'go')
  t.equal(gateway.requests.length, 1, 'no retry can help')
  t.match(of(events, 'error'), [{ errorText: /in the settings/ }])
  t.notMatch(JSON.stringify(events), 'the-key')
})

t.test('a model without a key fails with what to do', async (t) => {
  const app = await build(t, { config: { model: 'anthropic/claude-sonnet-5.5' } })
  const { status, events } = await say(app, 'go')
  t.equal(status, 200)
  t.match(of(events, 'error'), [{ errorText: /in the settings/, code: 'ERR_PROVIDER_NOT_CONFIGURED' }])
  t.match(events.at(-1), { type: 'finish', finishReason: 'error' })
})

for (const [ending, calls] of [['cut', 4], ['no-finish', 4], ['invalid-json', 1]] as const) {
  t.test(`an answer that always breaks off (${ending}) ends the stream with an error, keeping what came last`, async (t) => {
    const half = { text: ['half ', 'of an ', 'answer'], ending, after: 4 }
    const { app, gateway } = await withGateway(t, () => half, { clock: hastyClock() })
    const { events } = await say(app, 'go')
    t.match(textOf(events), /^half /)
    t.match(events.slice(-2), [{ type: 'error', errorText: /test\/model/ }, { type: 'finish', finishReason: 'error' }])
    t.equal(gateway.requests.length, calls)
    t.equal(of(events, 'data-retry').length, calls - 1)
  })
}

for (
  const part of [
    { type: 'text-delta', id: 't' },
    { type: 'text-delta', id: 't', delta: {} },
    { type: 'tool-call', toolCallId: 'c', toolName: 'systemInfo' },
    { type: 'tool-call', toolName: 'systemInfo', input: '{}' },
    { type: 'tool-input-start', id: 'c' }
  ]
) {
  t.test(`a part that makes no sense (${JSON.stringify(part)}) ends the answer, and is told as the provider's failure`, async (t) => {
    const { app } = await withGateway(
      t,
      () => ({ parts: [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'so far' }, part] })
    )
    const { events } = await say(app, 'go')
    t.equal(textOf(events), 'so far')
    t.match(events.slice(-2), [{ type: 'error', errorText: /test\/model sent an answer that cannot be read/ }, {
      type: 'finish',
      finishReason: 'error'
    }])
    t.equal(of(events, 'tool-input-start').length, 0)
  })
}

t.test('what a model says without having announced it is announced for it, and what it ends without having begun is nothing', async (t) => {
  const parts = [
    { type: 'reasoning-delta', id: 'r', delta: 'hm' },
    { type: 'text-end', id: 'never' },
    { type: 'text-delta', id: 't', delta: 'Yes' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: ', no' },
    { type: 'text-end', id: 't' }
  ]
  const { app } = await withGateway(t, () => ({ parts: [...parts, { type: 'finish' }] }))
  const { events } = await say(app, 'go')
  t.same(events.map(({ type }) => type), [
    'start',
    'start-step',
    'reasoning-start',
    'reasoning-delta',
    'text-start',
    'text-delta',
    'text-delta',
    'text-end',
    'finish-step',
    'finish'
  ])
  t.equal(textOf(events), 'Yes, no')
})

t.test('an answer whose end says nothing of tokens or reason is an answer', async (t) => {
  const { app } = await withGateway(t, () => ({ parts: [{ type: 'text-delta', id: 't', delta: 'all' }, { type: 'finish' }] }))
  const { events } = await say(app, 'go')
  t.equal(textOf(events), 'all')
  t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
})

t.test('a model that falls silent is asked again, and given up in the end', async (t) => {
  const clock = fakeClock()
  const { app, gateway } = await withGateway(t, () => ({ text: ['and then '], ending: 'stall', after: 4 }), {
    clock,
    config: { gateway: { timeouts: { idleMs: 60_000 } } }
  })
  const run = await openRun(app, userSays('go'))
  await run.says('and then')
  await clock.advance(59_999)
  t.match(run.text, /"type":"data-waiting","data":\{"for":"model","sinceMs":50000\}/)
  t.notMatch(run.text, 'data-retry')
  await clock.advance(1)
  await run.says('data-retry')
  await until(run.ended, () => clock.advance(1_000))
  const { events } = run
  t.match(of(events, 'error'), [{ errorText: /60 s|time/i }])
  t.equal(await gateway.requests[0].ended, 'aborted', 'and the call is ended')
})

t.test('a run ends when its time is up', async (t) => {
  const clock = fakeClock()
  const { app } = await withGateway(t, () => ({ toolCalls: [{ toolName: 'runCommand', input: { command: 'sleep 60' } }] }), {
    clock,
    config: { permissions: { runCommand: 'allow' }, agent: { runMs: 5_000 } }
  })
  const running = say(app, 'go')
  await clock.sleeper(30_000)
  const over = new AbortController()
  void running.finally(() => over.abort())
  while (!over.signal.aborted) await clock.advance(100)
  const { events } = await running
  t.match(events.slice(-2), [{ type: 'error', errorText: /5 s/, code: 'ERR_TIMEOUT' }, { type: 'finish', finishReason: 'error' }])
})

t.test('an answer without end is stopped', async (t) => {
  const counting = Array.from({ length: 160_000 }, (_, n) => n).join(' ')
  const { app } = await withGateway(t, () => ({ text: Array.from({ length: 40 }, () => counting) }))
  const { events } = await say(app, 'go')
  t.match(events.slice(-2), [{ type: 'error', code: 'ERR_RUN_TOO_LONG' }, { type: 'finish', finishReason: 'error' }])
})

t.test('a model that asks for more than a run can hold gets so much of it, and the run is stopped', async (t) => {
  const { app } = await withGateway(
    t,
    () => ({ toolCalls: Array.from({ length: 100 }, () => ({ toolName: 'image', input: { characters: 600 * 1024 } })) })
  )
  await connect(app, misbehaving('odd', [], { approval: 'never' }))
  const { events } = await say(app, 'go')
  t.ok(of(events, 'tool-output-available').length < 80)
  t.match(events.slice(-2), [{ type: 'error', code: 'ERR_RUN_TOO_LONG' }, { type: 'finish', finishReason: 'error' }])
})

t.test('an analysis that makes no sense, or takes more than two seconds, makes the request a standard one', async (t) => {
  const clock = fakeClock()
  const answers = [() => ({ object: { complexity: 'baffling' } }), () => new Promise<never>(() => {})]
  const { app } = await withGateway(t, () => ({ text: 'ok' }), { config: { analysis: true }, clock, structured: () => answers.shift()!() })
  const senseless = await say(app, 'go')
  const running = say(app, 'go')
  await clock.sleeper(2_000)
  await clock.advance(2_000)
  for (const { events } of [senseless, await running]) {
    t.same(of(events, 'reasoning-delta'), [])
    t.equal(textOf(events), 'ok')
  }
})

t.test("a mistake of ours ends a run, and a task's, without a word of it", async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'ok' }))
  const tasks = await tasksOf(t, app)
  const told = await tasks.watch()
  app.tools.ready = async () => {
    throw Object.assign(new TypeError('secret detail'), { code: 'ERR_INVALID_ARG_TYPE' })
  }
  app.tools.forRun = () => app.tools
  const { events } = await say(app, 'go')
  const errorText = 'Something went wrong inside the service; its log says more.'
  t.match(events.slice(-2), [{ type: 'error', code: 'ERR_INTERNAL', errorText }, { type: 'finish', finishReason: 'error' }])
  const task = await tasks.create('look round', { plan: { phases: [{ description: 'do it' }] } })
  await tasks.post(`/${task.id}/start`)
  t.match(await told.until('task:error'), { status: 'failed', error: errorText })
})
