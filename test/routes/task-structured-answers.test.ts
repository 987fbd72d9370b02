import t from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { isLastWord } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false }
const plan = { phases: [{ description: 'look' }] }
const give = (input: unknown, more: Plan = {}): Plan => ({ ...more, toolCalls: [...more.toolCalls ?? [], { toolName: 'answer', input }] })
const write = { toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }
const options = { object: { schema } }

t.test('the run of a task gives its object, which runs, events and the judge have', async (t) => {
  const { app, gateway } = await withGateway(t, () => give({ n: 1 }, { text: 'Counted one.' }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('count', { plan, options: { ...options, instructions: 'Count twice.', denyTools: ['writeFile'] } })
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
  const { id } = await tasks.create('count', { plan, options })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { output: '{"n":1}', object: { n: 1 } })
})

t.test('a run corrects its object; one that never fits fails and says why', async (t) => {
  const answers = [{ text: 'One.' }, give({ n: 'one' })]
  const { app, gateway } = await withGateway(t, (_request, nth) => answers[nth] ?? give({ n: 1 }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('count', { plan, options })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { object: { n: 1 } })
  t.equal(gateway.requests.filter(({ structured }) => structured === undefined).length, 3)

  const strict = await tasks.create('count', { plan, options: { object: { schema: { ...schema, required: ['n', 'm'] }, retries: 1 } } })
  await tasks.post(`/${strict.id}/start`)
  t.match(await events.until('task:error'), { status: 'failed', error: /no object that fits options\.object\.schema, in 2 attempts.*"m"/ })
  const [run] = await tasks.runs(strict.id)
  t.match(run, { status: 'failed' })
  t.notOk(run.object)
})

t.test('an answer waits for the approval of a call of its step, and is the same after a restart', async (t) => {
  const { app, gateway } = await withGateway(t, () => give({ n: 1 }, { toolCalls: [write], text: 'Wrote it.' }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('write', { plan, options, approval: { mode: 'always' } })
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
  const { id } = await tasks.create('count', { plan, options: { ...options, maxSteps: 2 } })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { object: { n: 1 } })
  const own = gateway.requests.filter(({ structured }) => structured === undefined)
  t.equal(own.length, 4, 'two steps, the last one, and one that corrects it')
  const plain = await tasks.create('count', { plan, options: { maxSteps: 1 } })
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
  const { id } = await tasks.create('count', { plan })
  t.match(await tasks.call('PUT', `/${id}`, { options: wrong }), { status: 400 })
})
