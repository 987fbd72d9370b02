import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { isLastWord } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

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

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false }
const looking = { phases: [{ description: 'look' }] }
const give = (input: unknown, more: Plan = {}): Plan => ({ ...more, toolCalls: [...more.toolCalls ?? [], { toolName: 'answer', input }] })
const writing = { toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }
const answersWithObject = { object: { schema } }

t.test('the run of a task gives its object, which runs, events and the judge have', async (t) => {
  const { app, gateway } = await withGateway(t, () => give({ n: 1 }, { text: 'Counted one.' }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('count', {
    plan: looking,
    options: { ...answersWithObject, instructions: 'Count twice.', denyTools: ['writeFile'] }
  })
  t.match((await tasks.get(`/${id}`)).options, { object: { schema }, instructions: 'Count twice.' })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { output: 'Counted one.', object: { n: 1 } })
  const [run] = await tasks.runs(id)
  t.match(await tasks.get(`/${id}/runs/${run.runId}`), {
    status: 'completed',
    object: { n: 1 },
    output: 'Counted one.',
    options: { object: { schema } },
    toolCalls: [{ toolName: 'answer', status: 'completed' }]
  })
  const { body } = gateway.requests[0]
  const system = JSON.stringify(body.prompt)
  t.match(system, /Instructions of the application:\\nCount twice\./)
  t.match(system, /end the work with a call of the tool answer/)
  t.notOk(body.tools.some(({ name }: { name: string }) => name === 'writeFile'))
  const judge = gateway.requests.find(({ structured }) => structured === 'evaluation')!
  t.match(JSON.stringify(judge.body.prompt), /answer as data:.*n/)
})

t.test('a run that gives its object without a report has the object as its output, and is not failed for it', async (t) => {
  const { app } = await withGateway(t, () => give({ n: 1 }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('count', { plan: looking, options: answersWithObject })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { output: '{"n":1}', object: { n: 1 } })
})

t.test('a run corrects its object; one that never fits fails and says why', async (t) => {
  const answers = [{ text: 'One.' }, give({ n: 'one' })]
  const { app, gateway } = await withGateway(t, (_request, nth) => answers[nth] ?? give({ n: 1 }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('count', { plan: looking, options: answersWithObject })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { object: { n: 1 } })
  t.equal(gateway.requests.filter(({ structured }) => structured === undefined).length, 3)

  const strict = await tasks.create('count', {
    plan: looking,
    options: { object: { schema: { ...schema, required: ['n', 'm'] }, retries: 1 } }
  })
  await tasks.post(`/${strict.id}/start`)
  t.match(await events.until('task:error'), { status: 'failed', error: /no object that fits options\.object\.schema, in 2 attempts.*"m"/ })
  const [run] = await tasks.runs(strict.id)
  t.match(run, { status: 'failed' })
  t.notOk(run.object)
})

t.test('an answer waits for the approval of a call of its step, and is the same after a restart', async (t) => {
  const { app, gateway } = await withGateway(t, () => give({ n: 1 }, { toolCalls: [writing], text: 'Wrote it.' }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('write', { plan: looking, options: answersWithObject, approval: { mode: 'always' } })
  await tasks.post(`/${id}/start`)
  await events.until('task:approval', { kind: 'tool' })
  t.notOk((await tasks.runs(id))[0].object)
  events.leave()
  await app.close()

  const again = await build(t, { gatewayKey: 'the-key', gatewayBaseURL: gateway.url, home: app.home, cwd: app.cwd })
  const later = await tasksOf(t, again)
  const laterEvents = await later.watch()
  await later.post(`/${id}/approve`, { approved: true })
  await laterEvents.until('task:approval', { kind: 'result' })
  t.match((await later.runs(id))[0], { object: { n: 1 }, status: 'pending_approval' })
  await later.post(`/${id}/approve`, { approved: true })
  t.match(await laterEvents.until('task:complete'), { object: { n: 1 } })
  t.equal(gateway.requests.filter(({ structured }) => structured === undefined).length, 1)
})

t.test('maxSteps caps the steps of a run; in the last one the answer can be given and corrected', async (t) => {
  const look = { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
  const { app, gateway } = await withGateway(t, (request, nth) =>
    nth === 3 ? give({ n: 1 }) : nth > 3 && isLastWord(request) ? { text: 'Looked.' } : look)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('count', { plan: looking, options: { ...answersWithObject, maxSteps: 2 } })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { object: { n: 1 } })
  const own = gateway.requests.filter(({ structured }) => structured === undefined)
  t.equal(own.length, 4, 'two steps, the last one, and one that corrects it')
  const plain = await tasks.create('count', { plan: looking, options: { maxSteps: 1 } })
  await tasks.post(`/${plain.id}/start`)
  t.match(await events.until('task:complete'), { output: 'Looked.' })
  t.equal(gateway.requests.filter(({ structured }) => structured === undefined).length, 6)
})

t.test('a schema that cannot be used is refused when the task is made and when it is changed', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const wrong = { object: { schema: { type: 'object', properties: { n: { type: 'nmber' } } } } }
  t.match(await tasks.call('POST', '', { goal: 'count', options: wrong }), {
    status: 400,
    body: { details: [{ path: '/options/object/schema/properties/n/type' }] }
  })
  const { id } = await tasks.create('count', { plan: looking })
  t.match(await tasks.call('PUT', `/${id}`, { options: wrong }), { status: 400 })
})
