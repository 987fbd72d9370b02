import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { chatWire } from '../fakes/openai-wire.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { hastyClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { parseEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'

const step = { inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 20, outputTokens: 30, reasoningTokens: 10 }
/** Prices in US dollars for a million tokens, and what `step` costs at them. */
const price = { input: 10, output: 50, cachedInput: 1, cacheWrite: 12.5 }
const STEP_COSTS = (20 * 10 + 60 * 1 + 20 * 12.5 + 30 * 50) / 1e6
const prices = { test: price, anthropic: price }
const complex = { complexity: 'complex', goal: 'compare', thinking: 'hm', qualityCriteria: [] }
const done = { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }

const sync = async (app: App, content: string, extra: object = {}) =>
  (await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content }], ...extra } })).json()
const usage = async (app: App, query = '') => (await app.inject(`/usage${query}`)).json()
const groups = async (app: App, by: string) => (await usage(app, `?by=${by}`)).groups

const compatible = { kind: 'openai-compatible' as const, wire: chatWire, model: 'llama3', said: () => '' }
for (const native of [...NATIVE_WIRES, compatible]) {
  t.test(`${native.kind} reports cached, written and reasoning tokens, in streams of every dialect`, async (t) => {
    const { app } = await withNative(t, native, () => ({ text: 'Hi.', usage: step }), { config: { prices: { [native.kind]: price } } })
    const counts = native.kind === 'anthropic' ? step : { ...step, cacheWriteTokens: 0 }
    const costUsd = native.kind === 'anthropic' ? STEP_COSTS : (40 * 10 + 60 * 1 + 30 * 50) / 1e6
    const { events } = await say(app, 'hello')
    t.match(of(events, 'finish'), [{ usage: { ...counts, costUsd } }])

    const payload = { messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }] }
    const { body } = await app.inject({ method: 'POST', url: '/run', payload })
    const finish = parseEvents(body.replace(/data: \[DONE\]\n\n$/, '')).find(({ type }) => type === 'finish')
    t.same(Object.keys(finish!).sort(), ['messageMetadata', 'type'], 'no key that chat clients refuse')
    t.match(finish, { messageMetadata: { usage: { ...counts, costUsd } } })
  })
}

t.test("a gateway's own figure is the cost, also where prices are configured", async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'Hi.', usage: { ...step, cost: '0.25' } }), { config: { prices } })
  t.match(await sync(app, 'hello'), { usage: { ...step, costUsd: 0.25 } })
})

for (const cost of ['1e300', 'Infinity', '-1', 'free']) {
  t.test(`a figure that is no amount of money is none: ${cost}`, async (t) => {
    const { app } = await withGateway(t, () => ({ text: 'Hi.', usage: { ...step, cost } }))
    t.same((await sync(app, 'hello')).usage, step)
    t.match(await groups(app, 'model'), [{ unpricedCalls: 1, costUsd: undefined }])
  })
}

t.test('without a figure of the gateway the prices of its list count', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'Hi.', usage: step }), { config: { model: 'openai/gpt-6-sol' } })
  t.match(await sync(app, 'hello'), { usage: { costUsd: 100 * 0.000003 + 30 * 0.000015 } })
})

t.test('a call without a price leaves the cost of its run open, and is counted as such', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'Hi.', usage: step }))
  const { usage: used } = await sync(app, 'hello')
  t.same(used, step)
  t.match(await groups(app, 'model'), [{ key: 'test/model', calls: 1, unpricedCalls: 1, costUsd: undefined, ...step }])
})

t.test('models of the service itself cost nothing', async (t) => {
  const app = await build(t)
  const { usage: used } = await sync(app, 'system info')
  t.equal(used.costUsd, 0)
  t.ok(used.inputTokens > 0 && used.outputTokens > 0)
})

t.test('a run counts its analysis, its steps and its review; the thread also its title, and all of it is in GET /usage', async (t) => {
  const structured = (name: string): Plan => ({
    object: name === 'analysis' ? complex : name === 'evaluation' ? done : { title: 'Greetings' },
    usage: { inputTokens: 1, outputTokens: 1 }
  })
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    [{ toolCalls: [{ toolName: 'systemInfo', input: {} }], usage: step }, { text: 'Hi.', usage: step }][nth], {
    config: { analysis: true, threads: {}, prices },
    structured
  })
  const { usage: used } = await sync(app, 'hello', { id: 'chat' })
  await app.titles.idle()
  t.equal(gateway.requests.length, 5, 'analysis, two steps, review and title')

  t.match(used, { inputTokens: 202, cachedInputTokens: 120, outputTokens: 62, reasoningTokens: 20 })
  const thread = (await app.inject('/threads/chat')).json()
  t.match(thread.usage, { inputTokens: 203, outputTokens: 63 })
  t.match(
    await groups(app, 'thread'),
    [{ key: 'chat', calls: 5, inputTokens: 203, outputTokens: 63, unpricedCalls: 0, costUsd: thread.usage.costUsd }]
  )
  t.match(await groups(app, 'role'), [{ key: 'capable', calls: 2 }, { key: 'fast', calls: 3 }])
  t.match(await groups(app, 'model'), [{ key: 'test/model', calls: 2 }, { key: 'anthropic/claude-haiku-5.5', calls: 3 }])
  t.match(await groups(app, 'day'), [{ calls: 5, inputTokens: 203 }])
})

t.test('a run of a task counts its plan apart and all other calls in the run', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'Hi.', usage: step }), {
    config: { prices },
    structured: (name) => ({
      object: name === 'plan'
        ? { phases: [{ description: 'Greet' }], qualityCriteria: [] }
        : name === 'evaluation'
          ? done
          : {
              findings: [],
              decisions: []
            },
      usage: { inputTokens: 1, outputTokens: 1 }
    })
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const task = await tasks.create('greet')
  await tasks.post(`/${task.id}/start`)
  const { runId } = await events.until('task:complete')
  t.match(await tasks.get(`/${task.id}/runs/${runId}`), { usage: { inputTokens: 102, outputTokens: 32, cachedInputTokens: 60 } })
  t.match(await groups(app, 'task'), [{ key: task.id, calls: 4, inputTokens: 103 }])
  t.same(await groups(app, 'thread'), [])
})

t.test('usage survives a restart, and a deletion keeps the totals without the id', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'Hi.', usage: step }), { config: { prices } })
  for (const id of ['secret', 'other']) await sync(app, 'hello', { id })
  await app.close()
  const next = await build(t, { home: app.home, cwd: app.cwd })
  t.match(await groups(next, 'thread'), [{ key: /secret|other/, calls: 1 }, { calls: 1 }])
  t.match((await next.inject('/threads/secret')).json().usage, { ...step, costUsd: STEP_COSTS })

  await next.inject({ method: 'DELETE', url: '/threads/secret' })
  t.match(await groups(next, 'thread'), [{ key: 'other', calls: 1 }, { key: '', calls: 1, ...step, costUsd: STEP_COSTS }])
  t.match(await groups(next, 'day'), [{ calls: 2, inputTokens: 200, costUsd: 2 * STEP_COSTS }])
  for await (const [key, value] of next.store.list<object>('')) t.notMatch(JSON.stringify(value), 'secret', key)
})

t.test('a model that ends before it reports is counted by an estimate', async (t) => {
  const { app } = await withGateway(
    t,
    () => ({ text: ['x'.repeat(396), 'y123', 'never'], ending: 'cut', after: 5 }),
    { config: { prices }, clock: hastyClock() }
  )
  await sync(app, 'hello', { id: 'chat' })
  t.match((await app.inject('/threads/chat')).json().usage, { outputTokens: 400 }, 'two of three parts arrived, four times')
})

t.test('a range that no calendar has is an error', async (t) => {
  const app = await build(t)
  for (const query of [
    'from=2026-02-30',
    'from=yesterday',
    'from=2026-02-02&to=2026-02-01',
    'from=2020-01-01&to=2026-01-01',
    'by=year',
    'day=1'
  ]) {
    const { statusCode } = await app.inject(`/usage?${query}`)
    t.equal(statusCode, 400, query)
  }
  t.same(await usage(app, '?from=2026-01-01&to=2026-01-02'), { from: '2026-01-01', to: '2026-01-02', groups: [] })
})
