import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'

const plan = { plan: { phases: [{ description: 'do it' }] } }
const options = { model: 'other/large', effort: 'low', maxOutputTokens: 900 }
const write = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }

/** Tasks of a service behind a gateway whose n-th answer `reply` gives; `restart` builds the service again on the same folders. */
async function begin (t: Test, reply: (nth: number) => Plan | Promise<Plan> = () => ({ text: 'done' }), config: object = {}) {
  let calls = 0
  const gateway = await startFakeGateway({
    reply: ({ structured }) =>
      structured === undefined
        ? reply(calls++)
        : { object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [], findings: [], decisions: [] } }
  })
  t.teardown(() => gateway.close())
  const access = { gatewayKey: 'the-key', gatewayBaseURL: gateway.url }
  const app = await build(t, { ...access, config: { model: 'test/model', models: { fast: 'test/fast' }, ...config } })
  const tasks = await tasksOf(t, app)
  return {
    app,
    tasks,
    events: await tasks.watch(),
    /** Model, effort and length of each call of the run itself. */
    calls: () =>
      gateway.requests.filter(({ structured }) => structured === undefined)
        .map(({ modelId, body }) => [modelId, body.reasoning, body.maxOutputTokens]),
    asked: () => gateway.requests.filter(({ structured }) => structured !== undefined).map(({ modelId }) => modelId),
    refused: async (method: string, path: string, body: object) => {
      const { status, body: { error } } = await tasks.call(method, path, body)
      return `${status} ${error}`
    },
    async restart () {
      await app.close()
      const again = await tasksOf(t, await build(t, { ...access, home: app.home, cwd: app.cwd }))
      return { tasks: again, events: await again.watch() }
    }
  }
}

t.test('the runs of a task use its options, and show them as they were when the run began', async (t) => {
  const { tasks, events, calls, asked } = await begin(t, undefined, { prices: { test: { input: 3, output: 15 } } })
  const task = await tasks.create('look round', { ...plan, taskType: 'triggered', options })
  t.strictSame(task.options, options)
  await tasks.post(`/${task.id}/run`)
  await events.until('task:complete')
  await tasks.call('PUT', `/${task.id}`, { options: { effort: 'max', budget: { usd: 2 } } })
  await tasks.post(`/${task.id}/run`)
  const { runId } = await events.until('task:complete')
  t.same(calls(), [['other/large', 'low', 900], ['test/model', 'max', undefined]])
  t.same([...new Set(asked())], ['test/fast'], 'what it did is judged by the fast model')
  t.strictSame((await tasks.get(`/${task.id}/runs/${runId}`)).options, { effort: 'max', budget: { usd: 2 } })
  t.strictSame((await tasks.runs(task.id)).map(({ options }: any) => options.model), [undefined, 'other/large'])
})

t.test('a change of options while a run is under way applies to the next run', async (t) => {
  const begun = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const { tasks, events, calls } = await begin(t, async (nth) => {
    if (nth > 0) return { text: 'done' }
    begun.resolve()
    await held.promise
    return { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
  })
  const task = await tasks.create('look round', { ...plan, taskType: 'triggered', options })
  await tasks.post(`/${task.id}/run`)
  await begun.promise
  t.match(await tasks.call('PUT', `/${task.id}`, { options: {} }), { status: 200, body: { options: {} } })
  held.resolve()
  await events.until('task:complete')
  t.same(calls(), Array(2).fill(['other/large', 'low', 900]))
})

t.test('a run keeps its options over an approval and a restart', async (t) => {
  const { tasks, events, calls, restart } = await begin(t, (nth) => nth === 0 ? write : { text: 'done' })
  const task = await tasks.create('write', { ...plan, taskType: 'triggered', approval: { mode: 'always' }, options })
  await tasks.post(`/${task.id}/run`)
  await events.until('task:approval')
  await tasks.call('PUT', `/${task.id}`, { options: { model: 'test/next' } })
  const later = await restart()
  await later.tasks.post(`/${task.id}/approve`, { approved: true })
  await later.events.until('task:approval', { kind: 'result' })
  t.same(calls(), Array(2).fill(['other/large', 'low', 900]))
  t.match(await later.tasks.get(`/${task.id}`), { options: { model: 'test/next' } })
})

t.test('the earlier form of the budget is another view of the same limits', async (t) => {
  const { tasks, refused } = await begin(t)
  const create = (fields: object) => tasks.create('look round', { ...plan, ...fields })
  const views = ({ options, budget }: any) => [options.budget, budget]
  t.strictSame(views(await create({})), [undefined, {}])
  t.strictSame(views(await create({ budget: { maxTokensPerRun: 9e6, maxMinutesPerRun: 0.5 } })), [
    { tokens: 9e6, minutes: 0.5 },
    { maxTokensPerRun: 9e6, maxMinutesPerRun: 0.5 }
  ])
  const both = { options: { budget: { usd: 1, tokens: 100 } }, budget: { maxTokensPerRun: 100, maxMinutesPerRun: 5 } }
  const task = await create(both)
  t.strictSame(views(task), [{ usd: 1, tokens: 100, minutes: 5 }, { maxTokensPerRun: 100, maxMinutesPerRun: 5 }])

  const change = async (fields: object) => views((await tasks.call('PUT', `/${task.id}`, fields)).body)
  t.strictSame(await change({ budget: { maxMinutesPerRun: 7 } }), [{ usd: 1, minutes: 7 }, { maxMinutesPerRun: 7 }])
  t.strictSame(await change({ goal: 'look again' }), [{ usd: 1, minutes: 7 }, { maxMinutesPerRun: 7 }])
  t.strictSame(await change({ options: { effort: 'low' } }), [undefined, {}])
  t.strictSame(views(await tasks.get(`/${task.id}`)), [undefined, {}])

  const contradiction = { options: { budget: { minutes: 5 } }, budget: { maxMinutesPerRun: 6 } }
  const why = '400 options.budget.minutes is 5, but budget.maxMinutesPerRun is 6; they are two names of one limit. Leave out "budget".'
  t.equal(await refused('POST', '', { goal: 'x', ...contradiction }), why)
  t.equal(await refused('PUT', `/${task.id}`, contradiction), why)
  t.match(
    await refused('PUT', `/${task.id}`, { options: { budget: { tokens: 5 } }, budget: { maxTokensPerRun: 6 } }),
    /^400 options\.budget\.tokens is 5, but budget\.maxTokensPerRun is 6/
  )
})

t.test('wrong options of a task are a 400, and nothing is changed', async (t) => {
  const { app, tasks, refused } = await begin(t)
  const task = await tasks.create('look round', { ...plan, options })
  const rows: Array<[object | null, RegExp]> = [
    [null, /options must be object/],
    [{ temperature: 1 }, /"temperature"; allowed are agent, model, .*effort, maxOutputTokens, maxSteps, budget/],
    [{ model: 'offline/gpt' }, /the models of offline are/],
    [{ model: 'claude' }, /<provider>\/<model>/],
    [{ maxOutputTokens: -1 }, /maxOutputTokens must be >= 1/],
    [{ budget: { minutes: 1441 } }, /minutes must be <= 1440/]
  ]
  for (const [wrong, why] of rows) {
    t.match(await refused('POST', '', { goal: 'x', options: wrong }), new RegExp(`^400 .*${why.source}`))
    t.match(await refused('PUT', `/${task.id}`, { options: wrong }), new RegExp(`^400 .*${why.source}`))
  }
  t.match(await tasks.get(`/${task.id}`), { options })
  t.equal((await tasks.get('')).tasks.length, 1)
  t.equal(app.tasks.live, 0)
})

t.test('a run whose model is no longer configured fails and says what to do', async (t) => {
  const { app, tasks, events, calls } = await begin(t, undefined, { providers: { ollama: { baseURL: 'http://127.0.0.1:9' } } })
  const task = await tasks.create('look round', { ...plan, taskType: 'triggered', options: { model: 'ollama/llama4' } })
  writeFileSync(`${app.home}/config.json`, JSON.stringify({ model: 'test/model', providers: { ollama: { kind: 'openai' } } }))
  t.equal((await app.inject({ method: 'POST', url: '/config/reload' })).statusCode, 200)
  await tasks.post(`/${task.id}/run`)
  t.match(await events.until('task:error'), { status: 'failed', error: /ollama\/llama4.*key.*in the settings/ })
  t.same(calls(), [])
})

t.test('the tokens of the budget end a run', async (t) => {
  const { tasks, events } = await begin(
    t,
    () => ({ toolCalls: [{ toolName: 'systemInfo', input: {} }], usage: { inputTokens: 150, outputTokens: 10 } })
  )
  const task = await tasks.create('look round', { ...plan, options: { budget: { tokens: 100 } } })
  await tasks.post(`/${task.id}/start`)
  t.match(await events.until('task:error'), { status: 'failed', error: /used 160 tokens.*budget/ })
})
