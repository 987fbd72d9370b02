import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { of, say, sayAll } from '../harness/agent.ts'
import { chatWire } from '../fakes/openai-wire.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { hastyClock, fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { parseEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'
import { createDescribeImage } from '../../services/models/describe-image.ts'
import { small, turns, user } from '../harness/small-window.ts'

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

const used = { inputTokens: 60, outputTokens: 20 }
const answers = { text: 'Done.', usage: used }
const signal = new AbortController().signal
const groupsBy = async (app: App, by: string) => (await app.inject(`/usage?by=${by}`)).json().groups

t.test('a summary of the conversation is part of the run', async (t) => {
  const { app, summaries } = await small(t, {
    reply: () => answers,
    summary: () => ({ object: { summary: 'They talked of fado.' }, usage: { inputTokens: 7, outputTokens: 1 } })
  })
  const { events } = await sayAll(app, [...turns(24, 1_000), user('and now?')])
  t.equal(summaries().length, 1)
  t.match(of(events, 'finish'), [{ usage: { inputTokens: 67, outputTokens: 21 } }])
})

t.test('a description of a picture is part of the run that looked at it', async (t) => {
  const { app } = await withGateway(t, () => answers, {
    config: { models: { vision: 'test/eye' } },
    structured: () => ({ text: 'A window.', usage: used })
  })
  const describe = createDescribeImage({ registryOf: () => app.providers, clock: app.clock, usage: app.usage })
  const total = { inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 }
  app.usage.open('run', { owner: { kind: 'task', id: 'a-task' }, total, budget: { tokens: 80 } })
  t.match(await describe('', undefined, { runId: 'run', signal }), { description: /./ })
  t.match(total, { inputTokens: 61, outputTokens: 20 })
  t.match(await groupsBy(app, 'task'), [{ key: 'a-task', calls: 1 }])
  t.match(await groupsBy(app, 'role'), [{ key: 'vision', calls: 1 }])
  t.match(await describe('', undefined, { runId: 'run', signal }), { note: /The run used 81 tokens; its budget is 80\./ })
})

t.test('a test of a model is counted, and says when the budget of the day forbids it', async (t) => {
  const { app } = await withGateway(t, () => answers, { config: { budget: { day: { tokens: 80 } } } })
  const probe = async () => (await app.inject({ method: 'POST', url: '/providers/test' })).json()
  t.match(await probe(), { ok: true })
  t.match(await groupsBy(app, 'model'), [{ key: 'test/model', calls: 1, ...used }])
  t.same(await groupsBy(app, 'thread'), [])
  t.match(await probe(), { ok: false, error: /the budget of a day is 80/ })
})

t.test('threads that rest on a day without budget are looked through when there is one again', async (t) => {
  const clock = fakeClock(new Date(2026, 0, 5, 23).getTime())
  const warnings: string[] = []
  const { app, gateway } = await withGateway(t, () => answers, {
    clock,
    config: { budget: { day: { tokens: 80 } }, brain: { extractAfter: 1_000 } },
    structured: () => ({ object: { pointers: [], habits: [] }, usage: used })
  })
  await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [user('I live in Rome.')], id: 'chat' } })
  app.log.warn = (_details: unknown, message?: string) => void warnings.push(String(message))
  for (let attempt = 0; attempt < 5; attempt++) {
    await clock.advance(10 * 60 * 1000)
    await app.idleThreads.round(signal)
  }
  t.same([gateway.requests.length, warnings], [1, []], 'it waits, however often it is its turn')
  await clock.advance(60 * 60 * 1000)
  await app.idleThreads.round(signal)
  t.equal(gateway.requests.length, 2)
  t.match((await app.inject('/usage?from=2026-01-01&to=2026-01-31')).json().groups, [
    { key: '2026-01-05', calls: 1 },
    { key: '2026-01-06', calls: 1 }
  ])
})
