import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const used = { inputTokens: 60, outputTokens: 20 }
const looks: Plan = { toolCalls: [{ toolName: 'systemInfo', input: {} }], usage: used }
const answers: Plan = { text: 'Done.', usage: used }
/** `used` costs a cent at this price. */
const prices = { test: { input: 100, output: 200 } }
const config = { model: 'test/model', analysis: false, threads: { titles: false } }

/** Nobody can be asked. */
const unasked = { options: { interactive: false } }
const sync = async (app: App, extra: object = {}) => {
  const response = await app.inject({
    method: 'POST',
    url: '/run/sync',
    payload: { messages: [{ role: 'user', content: 'go' }], ...unasked, ...extra }
  })
  const { error, code, text } = response.json()
  return { status: response.statusCode, error, code, text }
}
const budget = (budget: object) => ({ options: { ...unasked.options, budget } })
const reload = async (app: App & { home: string }, more: object) => {
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ ...config, ...more }))
  await app.inject({ method: 'POST', url: '/config/reload' })
}

t.test('a run is stopped before the call that follows its budget, and says what it spent', async (t) => {
  const { app, gateway } = await withGateway(t, () => looks)
  const { events } = await say(app, 'go', budget({ tokens: 100 }))
  t.match(of(events, 'error'), [{ code: 'ERR_BUDGET', errorText: 'The run used 160 tokens; its budget is 100.' }])
  t.match(events.at(-1), { type: 'finish', finishReason: 'error', usage: { inputTokens: 120, outputTokens: 40 } })
  t.equal(gateway.requests.length, 2)
  t.match(await sync(app, budget({ tokens: 80 })), { status: 402, code: 'ERR_BUDGET', error: 'The run used 80 tokens; its budget is 80.' })
  t.equal(gateway.requests.length, 3, 'a budget that is met exactly allows no further call')
})

t.test('a run whose answer meets its budget exactly is complete', async (t) => {
  const { app } = await withGateway(t, () => answers)
  t.match(await sync(app, budget({ tokens: 80 })), { status: 200, text: 'Done.' })
})

t.test('a budget in dollars counts costs, and calls no model without a price', async (t) => {
  const { app, gateway } = await withGateway(t, () => looks, { config: { prices } })
  t.match(await sync(app, budget({ usd: 0.015 })), { status: 402, error: 'The run cost $0.02; its budget is $0.015.' })
  t.equal(gateway.requests.length, 2)

  await reload(app, {})
  t.match(await sync(app, budget({ usd: 5 })), {
    status: 422,
    code: 'ERR_BUDGET_UNPRICED',
    error: /no price of the model test\/model is known/
  })
  const { events } = await say(app, 'go', budget({ usd: 5 }))
  t.match(of(events, 'error'), [{ code: 'ERR_BUDGET_UNPRICED', errorText: /"prices": \{"test\/model"/ }])
  t.equal(gateway.requests.length, 2, 'nothing was called')
})

t.test('a list of prices that cannot be read again later is not forgotten', async (t) => {
  const clock = fakeClock()
  let isDown = false
  const gateway = await startFakeGateway({ reply: () => answers, listing: () => isDown ? { error: { status: 503 } } : undefined })
  t.teardown(() => gateway.close())
  const model = 'openai/gpt-6-sol'
  const app = await build(t, { clock, gatewayKey: 'the-key', gatewayBaseURL: gateway.url, config: { ...config, model } })
  t.equal((await sync(app, budget({ usd: 1 }))).status, 200)
  isDown = true
  await clock.advance(6 * 60 * 1000)
  t.equal((await sync(app, budget({ usd: 1 }))).status, 200)
  t.equal((await sync(app, budget({ usd: 1 }))).status, 200)
})

t.test('the analysis is a call, too: with a fast model that has no price it is left out, and the run is answered', async (t) => {
  const { app, gateway } = await withGateway(t, () => answers, { config: { prices, analysis: true, models: { fast: 'other/fast' } } })
  t.match(await sync(app, budget({ usd: 5 })), { status: 200 })
  const { events } = await say(app, 'go', budget({ usd: 5 }))
  t.match(of(events, 'finish'), [{ finishReason: 'stop' }])
  t.same(gateway.requests.map(({ modelId }) => modelId === 'other/fast'), [false, false])
})

t.test('a run of a task that its budget leaves unjudged fails', async (t) => {
  const { app } = await withGateway(t, () => answers)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const task = await tasks.create('greet', { plan: { phases: [{ description: 'do it' }] }, ...budget({ tokens: 80 }) })
  await tasks.post(`/${task.id}/start`)
  t.match(await events.until('task:error'), { status: 'failed', error: 'The run used 80 tokens; its budget is 80.' })
  t.match(await tasks.runs(task.id), [{ usage: used, output: 'Done.' }])
})

t.test('the budget of a run holds over an approval', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'writeFile', input: { path: 'a', content: '' } }], usage: used } : answers)
  const { events } = await say(app, 'go', { options: { budget: { tokens: 70 } } })
  const [approvalId] = asked(events)
  const continued = await answer(app, { [approvalId]: true })
  t.match(of(continued.events, 'question-request'), [{ budget: { of: 'run', unit: 'tokens', spent: 80, limit: 70, more: 70 } }])
  t.equal(gateway.requests.length, 1)
})

t.test('a call that is under way when other runs meet the budget of the day is completed, and none follows it', async (t) => {
  const held = Promise.withResolvers<Plan>()
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? held.promise : answers, {
    config: { budget: { day: { tokens: 100 } } }
  })
  const first = say(app, 'go', unasked)
  while (gateway.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  for (const status of [200, 200, 402]) t.equal((await sync(app)).status, status)
  held.resolve(looks)
  const { events } = await first
  t.ok(of(events, 'tool-output-available').length === 1, 'its answer is used')
  t.match(
    of(events, 'error'),
    [{ code: 'ERR_BUDGET', errorText: /All model calls of today used 240 tokens; the budget of a day is 100\./ }]
  )
  t.equal(gateway.requests.length, 3)
})

t.test('the budget of the day is read back after a restart, begins anew at midnight, and changes with the configuration', async (t) => {
  const clock = fakeClock(new Date(2026, 0, 5, 23, 30).getTime())
  const settings = { clock, config: { prices, budget: { day: { usd: 0.01 } } } }
  const { app } = await withGateway(t, () => answers, settings)
  t.equal((await sync(app)).status, 200)
  t.match(await sync(app), {
    status: 402,
    error: /today cost \$0\.01; the budget of a day is \$0\.01\. It is set by budget\.day in config\.json/
  })
  await app.close()

  const { app: next } = await withGateway(t, () => answers, { clock, home: app.home, cwd: app.cwd })
  t.equal((await sync(next)).status, 402, 'what was spent is read back')
  await clock.advance(31 * 60 * 1000)
  t.equal((await sync(next)).status, 200, 'a new day')
  t.equal((await sync(next)).status, 402)
  await reload(next, { prices, budget: { day: { usd: 0.02 } } })
  t.equal((await sync(next)).status, 200, 'a larger budget')
  t.match((await next.inject('/usage?from=2026-01-05&to=2026-01-06')).json().groups, [
    { key: '2026-01-05', calls: 1, costUsd: 0.01 },
    { key: '2026-01-06', calls: 2, costUsd: 0.02 }
  ])
})

for (
  const [wrong, problem] of [
    ['{"day": {"tokns": 5}}', '"budget.day" has the unknown field "tokns"; allowed are usd, tokens.'],
    ['{"daily": {"usd": 5}}', '"budget" has the unknown field "daily"; allowed are day, tasksPerDay.'],
    ['{"day": {"usd": 1e999}}', '"budget.day.usd" must be <=']
  ]
) {
  t.test(`a budget of the day that would limit nothing is an error: ${wrong}`, async (t) => {
    const { app } = await withGateway(t, () => answers, { config: { prices, budget: { day: { usd: 0.01 } } } })
    t.equal((await sync(app)).status, 200)
    writeFileSync(`${app.home}/config.json`, JSON.stringify(config).replace('{', `{"budget": ${wrong}, `))
    const response = await app.inject({ method: 'POST', url: '/config/reload' })
    t.match(response.json(), { code: 'ERR_CONFIG_INVALID', error: problem })
    t.equal((await sync(app)).status, 402, 'the last good one holds')
  })
}

t.test('on a day without budget, work in the background waits quietly, and a request for it is told', async (t) => {
  const lines: string[] = []
  const { app, gateway } = await withGateway(t, () => answers, {
    config: { threads: {}, budget: { day: { tokens: 80 } } },
    log: { write: (line: string) => lines.push(line) } as never
  })
  t.equal((await sync(app, { id: 'chat' })).status, 200)
  await app.titles.idle()
  t.equal(gateway.requests.length, 1, 'no title')
  const extracted = await app.inject({ method: 'POST', url: '/threads/chat/extract' })
  t.match(extracted.json(), { statusCode: 402, code: 'ERR_BUDGET' })
  app.log.warn('the only fault')
  t.match(lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40), [{ msg: 'the only fault' }])

  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const task = await tasks.create('greet')
  t.match(task, { status: 'planned', plan: { source: 'fallback' } }, 'a task can be made all the same')
  await tasks.post(`/${task.id}/start`)
  t.match(await events.until('task:error'), { status: 'failed', error: /the budget of a day is 80/ })
  t.equal(gateway.requests.length, 1)
})

t.test('a server that reports no tokens, or what cannot be true, gets no further than the budget', async (t) => {
  const odd = [{ inputTokens: 0, outputTokens: 0 }, { inputTokens: 1e15, outputTokens: 1e15 }, { inputTokens: -5, outputTokens: -5 }]
  for (const usage of odd) {
    const { app, gateway } = await withGateway(t, (_request, nth) => ({
      toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit: nth + 1 } }],
      usage
    }))
    const payload = { messages: [{ role: 'user', content: 'go' }], ...budget({ tokens: 8_000 }) }
    const answer = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
    t.match(answer, { code: 'ERR_BUDGET' }, JSON.stringify(usage))
    // The definitions of the tools alone are more than two thousand tokens a call.
    t.ok(gateway.requests.length > 1 && gateway.requests.length < 6, `${gateway.requests.length} calls`)
    await app.close()
  }
})
