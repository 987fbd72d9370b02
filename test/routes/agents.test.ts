import { mkdirSync, realpathSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

const call = (app: App, method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object) =>
  app.inject({ method, url, payload }).then((response) => ({ http: response.statusCode, ...response.json() }))
const put = (app: App, name: string, options: object, description?: string) =>
  call(app, 'PUT', `/agents/${name}`, { options, ...(description !== undefined && { description }) })
const appTool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, effect: 'read' })
const write = (path: string): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content: 'x' } }] })
const FAILS = { error: { status: 401, type: 'authentication_error', message: 'no' } } as Plan
const runsOf = async (app: App, id: string) => (await call(app, 'GET', `/runs?threadId=${id}`)).runs
const refusal = ({ status, body }: { status: number, body: object }) => ({ http: status, ...body })
const plan = { plan: { phases: [{ description: 'do it' }] } }

/** The service behind a gateway whose model answers with `reply`; `restart` builds it again on the same folders. */
async function begin (t: Test, reply: (nth: number) => Plan = () => ({ text: 'done' })) {
  let calls = 0
  const gateway = await startFakeGateway({
    reply: ({ structured }) =>
      structured === undefined ? reply(calls++) : { object: { outcome: 'done', claims: [], satisfied: true, score: 1 } }
  })
  t.teardown(() => gateway.close())
  const access = { gatewayKey: 'the-key', gatewayBaseURL: gateway.url }
  const app = await build(t, { ...access, config: { model: 'test/model', analysis: false, threads: { titles: false } } })
  const steps = () => gateway.requests.filter(({ structured }) => structured === undefined)
  return {
    app,
    /** What the model was told in its n-th call, and the tools that it was given. */
    told: (n: number) => {
      const { modelId, body } = steps().at(n)!
      const { reasoning: effort, prompt, tools = [] } = body
      return { modelId, effort, system: JSON.stringify(prompt), tools: tools.map(({ name }: any) => name) }
    },
    restart: () => app.close().then(() => build(t, { ...access, home: app.home, cwd: app.cwd }))
  }
}

t.test('an agent is created, shown, replaced, listed by name and deleted, over restarts and with events', async (t) => {
  const { app, restart } = await begin(t)
  const events: object[] = []
  app.events.onEvent((event) => events.push(event))
  const options = { instructions: 'Be brief.', allowTools: ['readFile'] }
  t.match(await put(app, 'shop', options, 'For orders'), {
    http: 200,
    name: 'shop',
    description: 'For orders',
    options,
    createdAt: Number
  })
  t.match(await put(app, 'art', {}), { http: 200, description: '', options: {} })
  const { createdAt } = await call(app, 'GET', '/agents/shop')
  const replaced = await put(app, 'shop', { maxSteps: 5 })
  t.match(replaced, { http: 200, description: '', options: { maxSteps: 5 }, createdAt }, 'replaced as a whole')
  t.match(events, [{ type: 'agent:changed', name: 'shop', deleted: false }, { name: 'art' }, { name: 'shop' }])

  const again = await restart()
  const { agents } = await call(again, 'GET', '/agents')
  t.match(agents, [{ name: 'art', options: {} }, { name: 'shop', options: { maxSteps: 5 } }])
  t.match(await call(again, 'DELETE', '/agents/art'), { http: 200, ok: true, name: 'art' })
  t.match(await call(again, 'GET', '/agents/art'), { http: 404, code: 'ERR_AGENT_NOT_FOUND' })
  t.match(await call(again, 'DELETE', '/agents/art'), { http: 404 })
  for (
    const [name, options, problem] of [
      ['a%20b', {}, /name/],
      ['x', { allowTools: ['readFlie'] }, /options.allowTools has "readFlie"/],
      ['x', { model: 'nonsense' }, /model/],
      ['x', { agent: 'shop' }, /unknown field "agent"/],
      ['x', { appTools: [appTool('readFile')] }, /has the name of another tool/]
    ] as const
  ) t.match(await put(again, name, options), { http: 400, error: problem }, `${name} ${JSON.stringify(options)}`)
  t.match((await call(again, 'GET', '/agents')).agents, [{ name: 'shop' }], 'what was refused is not stored')
})

t.test('a run is given what agent, conversation and request set, as they are when it starts', async (t) => {
  const { app, told } = await begin(t)
  mkdirSync(`${app.cwd}/inner`)
  await put(app, 'shop', {
    ...{ model: 'test/shop', effort: 'low', instructions: 'SELL BOOKS', denyTools: ['runCommand'] },
    ...{ allowTools: ['readFile', 'writeFile', 'runCommand'], budget: { tokens: 9_000, minutes: 3 }, appTools: [appTool('cart')] }
  })
  const settings = { agent: 'shop', options: { instructions: 'ANSWER ADA', effort: 'high', budget: { tokens: 8_000 } }, cwd: 'inner' }
  const cwd = `${realpathSync(app.cwd)}/inner`
  t.match(await call(app, 'PUT', '/threads/t', { settings }), { http: 200, settings: { ...settings, cwd: /inner$/ } })
  const allowTools = ['writeFile', 'cart', 'listDirectory']
  const given = { instructions: 'IN FRENCH', allowTools, denyTools: ['cart'], budget: { minutes: 5 } }
  await say(app, 'go', { id: 't', options: given })
  const first = told(0)
  t.match(first, { modelId: 'test/shop', effort: 'high', tools: ['writeFile'] })
  t.match(first.system, /SELL BOOKS.*ANSWER ADA.*IN FRENCH/s)
  t.match(first.system, cwd)
  const resolved = {
    ...{ agent: 'shop', model: 'test/shop', effort: 'high', instructions: 'SELL BOOKS\n\nANSWER ADA\n\nIN FRENCH' },
    ...{ allowTools: ['writeFile'], denyTools: ['runCommand', 'cart'], budget: { tokens: 8_000, minutes: 3 }, appTools: [appTool('cart')] }
  }
  t.strictSame((await runsOf(app, 't'))[0].options, resolved, 'the run shows what was resolved')

  // Between two turns agent and conversation change.
  await put(app, 'shop', { instructions: 'LEND BOOKS' })
  await put(app, 'guest', { instructions: 'BE A GUEST', interactive: false })
  await call(app, 'PUT', '/threads/t', { title: 'Books' })
  await say(app, 'go', { id: 't' })
  t.match(told(1), { modelId: 'test/model', effort: 'high', system: /LEND BOOKS.*ANSWER ADA/s })
  await say(app, 'go', { id: 't', options: { agent: 'guest' } })
  t.match(told(2).system, /BE A GUEST.*ANSWER ADA/s, 'the agent of the request is the nearest')
  t.notMatch(told(2).system, /LEND BOOKS/)
  t.match((await call(app, 'GET', '/threads/t')).settings.agent, 'shop', 'and does not become the agent of the conversation')
  const { settings: kept, messages, ...view } = await call(app, 'GET', '/threads/t')
  await call(app, 'PUT', '/threads/t', { ...view, messages, settings: kept })
  t.strictSame((await call(app, 'GET', '/threads/t')).settings, kept, 'read and put back, settings stay')
  t.strictSame((await call(app, 'GET', '/threads')).threads[0].settings?.agent, undefined, 'lists tell the folder alone')
  await call(app, 'PUT', '/threads/t', { settings: {} })
  await say(app, 'go', { id: 't' })
  t.notMatch(told(3).system, /LEND BOOKS|ANSWER ADA/)
  t.notOk((await runsOf(app, 't'))[0].options)
  t.notOk((await call(app, 'GET', '/threads/t')).settings)
})

t.test('what cannot be resolved is a 400 that says why, and nothing is stored', async (t) => {
  const { app } = await begin(t)
  await put(app, 'shop', { appTools: [appTool('cart')], instructions: 'x'.repeat(15_000) })
  const refused: Array<[Promise<any>, RegExp]> = [
    [say(app, 'go', { options: { agent: 'none' } }).then(refusal), /no agent "none". The agents are: shop/],
    [
      say(app, 'go', { options: { agent: 'shop', appTools: [appTool('cart')] } }).then(refusal),
      /"cart" is of two of the agent, the conversation and the request/
    ],
    [
      say(app, 'go', { options: { agent: 'shop', instructions: 'y'.repeat(15_000) } }).then(refusal),
      /30002 characters together; the limit is 20000/
    ],
    [call(app, 'PUT', '/threads/t', { settings: { agent: 'none' } }), /no agent "none"/],
    [call(app, 'PUT', '/threads/t', { settings: { options: { denyTools: ['x'] } } }), /"x", and there is no such tool/],
    [call(app, 'PUT', '/threads/t', { settings: { cwd: 'nowhere' } }), /nowhere/],
    [call(app, 'PUT', '/threads/t', { settings: { color: 'red' } }), /unknown field "color"/],
    [call(app, 'PUT', '/threads/t', { settings: { agent: 'shop', options: { appTools: [appTool('cart')] } } }), /"cart" is of two/],
    [call(app, 'POST', '/tasks', { goal: 'go', ...plan, options: { agent: 'none' } }), /no agent "none"/]
  ]
  for (const [response, problem] of refused) t.match(await response, { http: 400, error: problem })
  t.same((await call(app, 'GET', '/threads')).threads, [])
  t.same((await call(app, 'GET', '/tasks')).tasks, [])
})

t.test('a run that waits, or is continued, keeps what it began with, whatever its agent has become meanwhile', async (t) => {
  const { app, told, restart } = await begin(t, (nth) => nth === 0 ? write('a.txt') : nth === 2 ? FAILS : { text: 'done' })
  await put(app, 'shop', { model: 'test/shop', instructions: 'SELL BOOKS' })
  await call(app, 'PUT', '/threads/t', { settings: { agent: 'shop' } })
  const { events } = await say(app, 'go', { id: 't' })
  await put(app, 'shop', { model: 'test/other', instructions: 'LEND BOOKS', allowTools: [] })
  await call(app, 'PUT', '/threads/t', { settings: {} })
  t.match(await call(app, 'DELETE', '/agents/shop'), { http: 200 }, 'a run that waits does not keep its agent')
  const again = await restart()
  const { events: more } = await answer(again, { [asked(events)[0]]: true })
  t.equal(of(more, 'tool-output-available').length, 1, 'the tool that it began with runs')
  t.equal(textOf(more), 'done')
  t.match(told(1), { modelId: 'test/shop', system: /SELL BOOKS/ })
  t.match((await runsOf(again, 't'))[0].options, { agent: 'shop', model: 'test/shop' })

  await put(again, 'shop', { model: 'test/shop', instructions: 'SELL BOOKS' })
  await say(again, 'fail', { id: 't', options: { agent: 'shop', instructions: 'IN FRENCH' } })
  t.match((await runsOf(again, 't'))[0].status, 'failed')
  await put(again, 'shop', { instructions: 'LEND BOOKS' })
  const continued = await call(again, 'POST', '/run/sync', { id: 't', continue: true })
  t.match(continued, { http: 200, options: { model: 'test/shop', instructions: 'SELL BOOKS\n\nIN FRENCH' } }, 'told once')
  t.match(told(-1).system, /SELL BOOKS/)
})

t.test('a task uses its agent as it is when a run starts, and a run that cannot start says why', async (t) => {
  const { app, told, restart } = await begin(t)
  await put(app, 'shop', { instructions: 'SELL BOOKS', model: 'test/shop', interactive: false })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const options = { agent: 'shop', effort: 'low' }
  const { id, approval } = await call(app, 'POST', '/tasks', { goal: 'look round', ...plan, taskType: 'triggered', options })
  t.equal(approval.mode, 'granted', 'its agent says that nobody is there')
  await tasks.post(`/${id}/run`)
  await events.until('task:complete')
  t.match(told(0), { modelId: 'test/shop', effort: 'low', system: /SELL BOOKS/ })
  t.match((await tasks.runs(id))[0].options, { agent: 'shop', model: 'test/shop', effort: 'low', interactive: false })
  t.strictSame((await tasks.get(`/${id}`)).options, options, 'the task itself names it only')

  const again = await restart()
  const cart = { ...appTool('cart'), effect: 'write' }
  await put(again, 'shop', { instructions: 'LEND BOOKS', appTools: [cart] })
  t.match(await call(again, 'POST', '/grants', { taskId: id, toolName: 'cart', scope: 'tool' }), { http: 201 }, 'its tools are the task\'s')
  const later = await tasksOf(t, again)
  const watched = await later.watch()
  await later.post(`/${id}/run`)
  await watched.until('task:complete')
  t.match(told(1), { modelId: 'test/model', effort: 'low', system: /LEND BOOKS/ })

  await later.call('PUT', `/${id}`, { options: { agent: 'shop', instructions: 'y'.repeat(15_000) } })
  await put(again, 'shop', { instructions: 'x'.repeat(15_000) })
  await later.post(`/${id}/run`)
  t.match(await watched.until('task:error'), { status: 'failed', error: /30002 characters together/ })
  t.match((await call(again, 'GET', '/health')).checks.scheduler, 'ok')
})

t.test('an agent that is used is not deleted, and the refusal names what uses it', async (t) => {
  const { app } = await begin(t)
  await put(app, 'shop', {})
  await call(app, 'PUT', '/threads/a%20b', { title: 'Books', settings: { agent: 'shop' } })
  await call(app, 'PUT', '/threads/other', { settings: { options: {} } })
  const { id } = await call(app, 'POST', '/tasks', { goal: 'look round', ...plan, options: { agent: 'shop' } })
  const waiting = { goal: 'wait', schedule: { interval: 'weekly' }, start: true, ...plan }
  const started = await call(app, 'POST', '/tasks', { ...waiting, options: { agent: 'shop' } })
  t.match(await call(app, 'DELETE', '/agents/shop'), {
    http: 409,
    code: 'ERR_AGENT_IN_USE',
    error: 'The agent "shop" is used by 1 conversation and 2 tasks. Give them another agent, or delete them first.',
    details: [
      { path: '/threads/a%20b', message: 'The conversation “Books” uses it' },
      { path: `/tasks/${started.id}` },
      { path: `/tasks/${id}`, message: /“look round”/ }
    ]
  })
  await call(app, 'DELETE', '/threads/a%20b')
  await call(app, 'DELETE', `/tasks/${started.id}`)
  t.match(await call(app, 'DELETE', '/agents/shop'), { http: 409, error: /by 1 task\./ })
  await call(app, 'PUT', `/tasks/${id}`, { options: {} })
  t.match(await call(app, 'DELETE', '/agents/shop'), { http: 200 })

  // Whatever comes first: an agent is never gone while something has it.
  for (let round = 0; round < 20; round++) {
    await put(app, 'shop', {})
    const both = [
      () => call(app, 'DELETE', '/agents/shop'),
      () => call(app, 'PUT', '/threads/race', { settings: { agent: 'shop' } })
    ]
    const isFirst = round % 2 === 0
    const [one, other] = await Promise.all((isFirst ? both : both.reverse()).map((begin) => begin()))
    const [deleted, set] = isFirst ? [one, other] : [other, one]
    t.ok(deleted.http === 200 ? set.http === 400 : deleted.http === 409 && set.http === 200, `${deleted.http} ${set.http}`)
    await call(app, 'DELETE', '/threads/race')
  }
})

t.test('a request that becomes a task hands its agent over by name, and the rest as it was given', async (t) => {
  const making = { toolCalls: [{ toolName: 'createTask', input: { goal: 'look round', when: { every: 'every 2 hours' } } }] }
  const gateway = await startFakeGateway({
    reply: ({ structured, body }) =>
      structured !== undefined
        ? { object: { phases: [{ description: 'look' }], qualityCriteria: [] } }
        : JSON.stringify(body.prompt).includes('tool-call') ? { text: 'done' } : making
  })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', models: { fast: 'test/fast' } }
  const app = await build(t, { gatewayKey: 'k', gatewayBaseURL: gateway.url, config })
  await put(app, 'shop', { instructions: 'SELL BOOKS' })
  await call(app, 'PUT', '/threads/t', { settings: { agent: 'shop', options: { effort: 'low' } } })
  const messages = [{ role: 'user', content: 'look round every 2 hours' }]
  const { task } = await call(app, 'POST', '/run/sync', { id: 't', messages, options: { maxSteps: 7 } })
  t.strictSame((await call(app, 'GET', `/tasks/${task.taskId}`)).options, { agent: 'shop', effort: 'low', maxSteps: 7 })
})
