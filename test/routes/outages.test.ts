import { readdirSync } from 'node:fs'
import t from 'tap'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { tasksSpent } from '../../services/usage/budgets.ts'
import { noUsage, tallyOf } from '../../services/usage/usage-sums.ts'
import { fate, HOUR, MINUTE, scheduling } from '../harness/schedules.ts'

const plan = { phases: [{ description: 'do it' }] }
/** An error that nobody waits for within the call: what it asks for is longer than a call waits. */
const down = (status: number, type?: string): Plan => ({ error: { status, type, headers: { 'retry-after': '600' } } })
const OUTAGES = [down(503), down(429, 'rate_limit_exceeded'), down(500), down(504)]

type Test = Parameters<typeof scheduling>[0]

/** A service whose model writes a file in its first step and reports in its second, and a provider that can be down. */
async function withProvider (t: Test, { budget, usage }: { budget?: object, usage?: Plan['usage'] } = {}) {
  const state: { down?: Plan, downAfterStep?: Plan } = {}
  const prompts: Array<Array<{ role: string }>> = []
  const gateway = await startFakeGateway({
    reply: ({ structured, body: { prompt } }) => {
      if (structured !== undefined) return state.down
      prompts.push(prompt)
      const isFirst = !prompt.some(({ role }: { role: string }) => role === 'tool')
      const failure = state.down ?? (isFirst ? undefined : state.downAfterStep)
      if (failure !== undefined) return failure
      return isFirst
        ? { toolCalls: [{ toolName: 'writeFile', input: { path: `${prompts.length}.txt`, content: 'x' } }] }
        : { text: 'It is done.', usage }
    }
  })
  t.teardown(() => gateway.close())
  const service = await scheduling(t, {
    gatewayKey: 'the-key',
    gatewayBaseURL: gateway.url,
    config: { model: 'test/model', analysis: false, tasks: { concurrency: 1 }, budget }
  })
  const effects = () => readdirSync(service.cwd).length
  return { ...service, state, prompts, effects }
}

t.test('an outage of an hour: the run gives its place back, and goes on from its last step, also after a restart', async (t) => {
  const { clock, state, effects, prompts, restart, ...first } = await withProvider(t)
  let { tasks, events } = first
  const { id } = await first.start('try', { interval: '1d' }, { plan })
  const from = clock.now() + 24 * HOUR
  state.downAfterStep = OUTAGES[0]
  await first.leapTo(from)
  const told = await events.until('task:retry')
  t.match(told, { taskId: id, reason: 'provider', tries: 1, retryAt: from + MINUTE, error: /failed at its provider/ })
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', retryAt: from + MINUTE, nextRunAt: from + 24 * HOUR })
  t.match(await tasks.runs(id), [{
    status: 'queued',
    retryAt: from + MINUTE,
    failure: { reason: 'provider', code: 'ERR_PROVIDER_UNAVAILABLE' },
    completedAt: undefined
  }])
  t.match((await tasks.get('/digest?since=0')).working.items, [{ text: /waits for its model provider, and goes on at/ }])

  const other = await tasks.create('say', { plan })
  state.downAfterStep = undefined
  await tasks.post(`/${other.id}/start`)
  await events.until('task:complete', { taskId: other.id })
  t.equal(effects(), 2, 'the one place is free meanwhile')

  for (const [n, minutes] of [5, 15, 60].entries()) {
    state.downAfterStep = OUTAGES[n + 1]
    await first.leapTo(clock.now() + [1, 5, 15][n] * MINUTE)
    t.match(await events.until('task:retry'), { tries: n + 2, retryAt: clock.now() + minutes * MINUTE })
  }
  await clock.leap(10 * MINUTE)
  ;({ tasks, events } = await restart())
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', retryAt: clock.now() + 50 * MINUTE })
  state.downAfterStep = undefined
  const before = prompts.length
  await clock.leap(50 * MINUTE)
  await events.until('task:complete')
  const whole = { status: 'completed', attempts: 5, toolCount: 1, error: undefined, failure: undefined, retryAt: undefined }
  t.match(await tasks.runs(id), [whole])
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', retryAt: undefined, health: { failures: 0 }, totalRuns: 1, successfulRuns: 1 })
  const roles = prompts[before].map(({ role }) => role)
  t.same(roles.slice(-3), ['assistant', 'tool', 'user'], 'the model is asked for the step that was missing')
  t.equal(effects(), 2, 'no step is done twice')
})

t.test('an outage of a day ends each run at the next planned time, or after twelve hours, and counts for nothing', async (t) => {
  const { clock, tasks, events, start, state, slots, effects } = await withProvider(t)
  const from = clock.now()
  const often = await start('often', { interval: '8h' }, { plan })
  state.downAfterStep = OUTAGES[0]
  /** The run that waits is tried no more when the next one is due. */
  const sleepUntil = async (hour: number) => {
    await clock.leap(from + hour * HOUR - clock.now())
    await clock.advance(2_000)
  }
  for (const hour of [8, 16, 24, 32, 40]) {
    await sleepUntil(hour)
    if (hour > 8) t.match(await events.until('task:error'), { status: 'failed', failure: { reason: 'provider' } })
    await events.until('task:retry')
  }
  t.same((await slots(often.id, 5)).map(fate), [8, 16, 24, 32, 40].map((hour) => [from + hour * HOUR, 'run']))
  t.match(await tasks.get(`/${often.id}`), { status: 'scheduled', health: { state: 'ok', failures: 0 }, nextRunAt: from + 48 * HOUR })
  state.downAfterStep = undefined
  await sleepUntil(48)
  await events.until('task:error')
  await events.until('task:complete')
  t.match((await tasks.runs(often.id)).map(({ status }: { status: string }) => status), ['completed', ...Array(5).fill('failed')])
  await tasks.post(`/${often.id}/cancel`)

  state.downAfterStep = OUTAGES[2]
  const once = await tasks.create('once', { plan })
  await tasks.post(`/${once.id}/start`)
  let retries = 0
  for (; retries < 15; retries++) {
    const { retryAt } = await events.until('task:retry', { taskId: once.id })
    await clock.leap(retryAt - clock.now())
    await clock.advance(2_000)
  }
  t.match(await events.until('task:error', { taskId: once.id }), { status: 'failed', failure: { reason: 'provider' } })
  const [ended] = await tasks.runs(once.id)
  t.match(ended, { status: 'failed', failure: { reason: 'provider' }, attempts: 16 }, 'after 1, 5, 15 and 60 minutes, then every hour')
  t.ok(Math.abs(ended.completedAt - ended.startedAt - 12 * HOUR) <= MINUTE)
  t.match(await tasks.get(`/${once.id}`), { status: 'failed', retryAt: undefined })
  const done = effects()
  state.downAfterStep = undefined
  const again = await tasks.post(`/${once.id}/run`)
  await events.until('task:complete', { taskId: once.id })
  t.match(await tasks.runs(once.id), [{ runId: again.runId, status: 'completed', phases: [{ status: 'completed' }] }])
  t.equal((await tasks.runs(once.id)).length, 1, 'the same run')
  t.equal(effects(), done, 'it goes on from its last step')
  t.match((await tasks.get('/digest?since=0')).failed.items.filter(({ taskId }: { taskId: string }) => taskId === once.id), [])
})

t.test('who waits for a provider is let go on, steered, paused, cancelled and deleted as who runs', async (t) => {
  const { clock, tasks, events, state, effects, leapTo } = await withProvider(t)
  state.downAfterStep = OUTAGES[0]
  const waiting = async (goal: string) => {
    const { id } = await tasks.create(goal, { plan })
    await tasks.post(`/${id}/start`)
    await events.until('task:retry', { taskId: id })
    return id
  }
  const [run, steer, pause, cancel, cancelRun, gone] = [
    await waiting('run'),
    await waiting('steer'),
    await waiting('pause'),
    await waiting('cancel'),
    await waiting('cancel its run'),
    await waiting('delete')
  ]
  t.equal((await tasks.call('DELETE', `/${gone}`)).status, 200)
  t.match(await tasks.post(`/${cancel}/cancel`), { status: 'cancelled', retryAt: undefined })
  const [{ runId }] = await tasks.runs(cancelRun)
  t.match(await tasks.post(`/${cancelRun}/runs/${runId}/cancel`), { status: 'cancelled', retryAt: undefined })
  t.match(await tasks.get(`/${cancelRun}`), { status: 'planned' })
  t.match(await tasks.post(`/${pause}/pause`), { status: 'paused', retryAt: undefined })
  t.match(await tasks.runs(pause), [{ status: 'interrupted', retryAt: undefined }])
  t.match((await tasks.get('?status=scheduled')).tasks.map(({ id }: { id: string }) => id), [steer, run])

  state.downAfterStep = undefined
  for (let ends = 0; ends < 3; ends++) await events.until('task:error', { status: 'cancelled' })
  const done = effects()
  const [known] = await tasks.runs(run)
  t.match(await tasks.post(`/${run}/run`), { runId: known.runId, runNumber: 1 })
  await events.until('task:complete', { taskId: run })
  t.match(await tasks.post(`/${steer}/steer`, { comment: 'more', runNow: true }), { runTriggered: true })
  await events.until('task:complete', { taskId: steer })
  await events.until('task:complete', { taskId: steer })
  t.match(await tasks.runs(steer), [{ trigger: 'steer', steering: ['more'] }, { trigger: 'start', attempts: 2 }])
  t.match(await tasks.post(`/${pause}/resume`), { status: 'running' })
  await events.until('task:complete', { taskId: pause })
  t.equal(effects(), done + 1, 'only the new run begins at the beginning')
  await leapTo(clock.now() + HOUR)
  t.same(events.of('task:complete').length, 4, 'nothing of the others is left')
})

t.test('a run by hand with new data in place of one that waits for its provider leaves a paused task paused', async (t) => {
  const { state, tasks, events, start } = await withProvider(t)
  const { id } = await start('try', { interval: '1d' }, { plan, approval: { mode: 'never' } })
  await tasks.post(`/${id}/pause`)
  state.down = OUTAGES[0]
  await tasks.post(`/${id}/run`)
  await events.until('task:retry')
  state.down = undefined
  await tasks.call('POST', `/${id}/run`, { input: { month: 'may' } })
  await events.until('task:error', { status: 'cancelled' })
  await events.until('task:complete')
  t.match(await tasks.get(`/${id}`), { status: 'paused', totalRuns: 2 })
})

t.test('a key that is refused, no credit and an unknown model end a run at once, and count for nothing', async (t) => {
  const { app, tasks, events, state } = await withProvider(t)
  const { id } = await tasks.create('try', { plan, taskType: 'triggered' })
  await tasks.post(`/${id}/start`)
  const failures = { 401: 'ERR_PROVIDER_AUTH', 402: 'ERR_PROVIDER_CREDIT', 403: 'ERR_PROVIDER_FORBIDDEN', 404: 'ERR_MODEL_NOT_FOUND' }
  for (const [status, code] of Object.entries(failures)) {
    state.down = { error: { status: Number(status) } }
    await tasks.post(`/${id}/run`)
    t.match(await events.until('task:error'), { status: 'failed', failure: { reason: 'access', code } })
  }
  t.same(events.of('task:retry'), [])
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', health: { failures: 0 } })
  const { notifications } = (await app.inject('/notifications')).json()
  t.match(notifications, [{ kind: 'provider', provider: 'gateway', text: /key of the gateway is not valid/ }])
  t.equal(notifications.length, 1, 'a provider is told of once')
  const count = async () => (await app.inject('/notifications')).json().count
  await app.inject({ method: 'POST', url: '/providers/configure', payload: { gateway_key: 'the-key' } })
  t.equal(await count(), 0, 'it has a new key')
  state.down = { error: { status: 401 } }
  await tasks.post(`/${id}/run`)
  await events.until('task:error')
  t.equal(await count(), 1, 'which is refused as well')
  state.down = undefined
  await tasks.post(`/${id}/run`)
  await events.until('task:complete')
  t.equal(await count(), 0, 'it answers again')
  state.down = { error: { status: 400 } }
  await tasks.post(`/${id}/run`)
  t.match(await events.until('task:error'), { failure: { reason: 'error', code: 'ERR_PROVIDER_REQUEST' } })
  t.match(await tasks.get(`/${id}`), { health: { failures: 1 } }, 'a request that is refused is a failure of the task')
})

const BUDGETS = {
  'five dollars': { usage: { inputTokens: 1, outputTokens: 1, cost: '5.5' }, why: /cost \$5\.5; their budget of a day is \$5\./ },
  'what config.json says': {
    usage: { inputTokens: 90, outputTokens: 9 },
    budget: { tasksPerDay: { tokens: 100 } },
    why: /their budget of a day is 100\./
  }
}
for (const [limit, { why, ...parts }] of Object.entries(BUDGETS)) {
  t.test(`tasks that nobody begins stop at ${limit} a day, which is said once, and go on the next day`, async (t) => {
    const { clock, app, tasks, events, start, leapTo, slots } = await withProvider(t, parts)
    const from = clock.now()
    const { id } = await start('try', { interval: '20m' }, { plan })
    await leapTo(from + 20 * MINUTE)
    t.match(await events.until('task:error'), { failure: { reason: 'day_budget' } }, 'the run under way ends at its next call')
    for (const goal of ['a second', 'a third']) await start(goal, { interval: '20m' }, { plan })
    for (const minutes of [40, 60]) await leapTo(from + minutes * MINUTE)
    t.same((await slots(id, 3)).map(fate).slice(1), [40, 60].map((minutes) => [from + minutes * MINUTE, 'skipped', 'budget']))
    const told = (await app.inject('/notifications')).json().notifications.filter(({ kind }: { kind: string }) => kind === 'budget')
    t.match(told, [{ text: why }])
    t.equal(told.length, 1)
    await tasks.post(`/${id}/run`)
    await events.until('task:complete')
    t.match(await tasks.get(`/${id}`), { successfulRuns: 1, health: { failures: 0 } }, 'who runs it by hand is not held up')
    await leapTo(from + 36 * HOUR)
    t.match(await events.until('task:start'), { taskId: id }, 'midnight has passed')
  })
}

t.test('by default, tokens count of models without a price, and nothing of models on this machine', async (t) => {
  const row = (model: string, inputTokens: number, costUsd?: number, of: 'task' | 'thread' = 'task') =>
    ({ model, role: 'capable' as const, of, ...tallyOf({ ...noUsage(), inputTokens, costUsd }) })
  const spent = (...rows: Array<ReturnType<typeof row>>) => tasksSpent(rows, undefined, (model) => model.startsWith('local/'))
  t.match(spent(row('far/a', 3_000_000), row('far/b', 2_000_000)), /used 5,000,000 tokens; their budget of a day is 5,000,000/)
  const little = [row('far/a', 4_999_999), row('local/b', 9_000_000), row('far/c', 9_000_000, 4.9), row('far/a', 9_000_000, 9, 'thread')]
  t.equal(spent(...little), undefined)
  t.equal(tasksSpent([row('far/a', 9_000_000, 90)], {}, () => false), undefined, 'a budget that names nothing limits nothing')
})
