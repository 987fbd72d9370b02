import t from 'tap'
import { createAgent, type ServeOptions } from '../../client/index.ts'
import { calls, OPTIONS, toldResults, withTurns } from '../harness/app-tools.ts'
import { fakeService, json, stream } from '../harness/fake-service.ts'
import { listen } from '../harness/raw.ts'
import { tasksOf } from '../harness/tasks.ts'

type Test = Parameters<typeof withTurns>[0]
const plan = { phases: [{ description: 'do it' }] }
const TURNS = [calls('openDocument')]

/** The service, and the application that serves its tools until the test ends. */
async function withDesk (t: Test) {
  const service = await withTurns(t, TURNS)
  const url = `http://127.0.0.1:${await listen(service.app)}`
  const tasks = await tasksOf(t, service.app)
  const events = await tasks.watch()
  const begin = async (options: object = OPTIONS) => {
    const task = await tasks.create('open the budget', { plan, options })
    await tasks.post(`/${task.id}/start`)
    return task.id as string
  }
  const serve = (options: Omit<ServeOptions, 'signal'>, app = 'editor') => {
    const controller = new AbortController()
    const over = createAgent({ url, app }).serveTools({ ...options, signal: controller.signal })
    const end = () => {
      controller.abort()
      return over
    }
    t.teardown(end)
    return { end }
  }
  return { ...service, tasks, events, begin, serve }
}

t.test('the calls of tasks are executed: those that are open already and those that come', async (t) => {
  const { gateway, events, begin, serve } = await withDesk(t)
  await begin()
  await events.until('task:tool-call')
  let executed = 0
  const { end } = serve({ tools: { openDocument: ({ name }) => ({ name, pages: ++executed }) } })
  await events.until('task:complete')
  t.match(toldResults(gateway), [{ type: 'json', value: { name: 'Budget', pages: 1 } }])
  const second = await begin()
  await events.until('task:complete', { taskId: second })
  t.match(toldResults(gateway), [{ type: 'json', value: { name: 'Budget', pages: 2 } }])
  t.equal(await end(), undefined, 'an abort is its orderly end')
})

t.test('each call is executed once, by one of several instances, and those of another application by none', async (t) => {
  const { app, events, begin, serve } = await withDesk(t)
  const messages = [{ role: 'user', content: 'open it' }]
  const names: string[] = []
  for (const name of ['one', 'two', 'three']) serve({ tools: { openDocument: () => void names.push(name) } })
  serve({ tools: { openDocument: () => t.fail('it is not asked') } }, 'player')
  serve({ tools: { closeDocument: () => t.fail('it has another tool') } })
  await begin()
  await events.until('task:complete')
  t.equal(names.length, 1)
  await app.inject({ method: 'POST', url: '/run/sync', payload: { messages, options: OPTIONS } })
  const { toolCalls } = (await app.inject('/tool-calls')).json()
  t.match(toolCalls, [{ threadId: String, state: 'open' }], 'a call of a run is left to its client')
})

t.test('calls that came while the service could not be reached are executed afterwards', async (t) => {
  const owner = { runId: 'r', taskId: 't', app: 'desk' }
  const call = { toolCallId: 'c1', toolName: 'add', input: {}, ...owner, createdAt: 1, expiresAt: 2 ** 52, state: 'open' }
  const draining = { error: 'The service is shutting down.', code: 'ERR_DRAINING', statusCode: 503 }
  let lists = 0
  let connections = 0
  const { url, received } = await fakeService(t, ({ line }, response) => {
    if (line.startsWith('POST /tool-calls/c1')) return json(response, {})
    if (line.startsWith('GET /tool-calls')) {
      lists++
      if (lists === 2) return json(response, draining, 503)
      return json(response, { toolCalls: lists === 1 ? [] : [call] })
    }
    const begun = stream(response, ': connected\nid: a-0\n\n')
    if (++connections === 1) begun.end()
  })
  const controller = new AbortController()
  await createAgent({ url, app: 'desk' }).serveTools({ signal: controller.signal, tools: { add: () => controller.abort() } })
  t.match(received.map(({ line }) => line), new Set(['GET /tool-calls?state=open&app=desk']))
  t.equal(lists, 3)
})

t.test('it ends with the error of a service that refuses', async (t) => {
  const refusal = { error: 'This service needs a token.', code: 'ERR_UNAUTHORIZED', statusCode: 401 }
  const all = await fakeService(t, (_request, response) => json(response, refusal, 401))
  await t.rejects(createAgent({ url: all.url }).serveTools({ tools: {} }), { name: 'AgentError', statusCode: 401 })
  const list = await fakeService(t, ({ line }, response) =>
    line.startsWith('GET /events') ? stream(response, ': connected\n\n') : json(response, refusal, 401))
  await t.rejects(createAgent({ url: list.url }).serveTools({ tools: {} }), { name: 'AgentError', statusCode: 401 })
})
