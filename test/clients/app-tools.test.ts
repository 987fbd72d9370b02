import { once } from 'node:events'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { createAgent, type Execute, type ServeOptions } from '../../client/index.ts'
import { calls, OPTIONS, toldResults, withTurns } from '../harness/app-tools.ts'
import { fakeService, json, type Received, stream } from '../harness/fake-service.ts'
import { listen } from '../harness/raw.ts'
import { tasksOf } from '../harness/tasks.ts'

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const START = event({ type: 'start', messageId: 'm', messageMetadata: { threadId: 'thread', runId: 'run' } })
const FINISH = (finishReason: string) => event({ type: 'finish', finishReason, usage: {} })
const CALL = event({ type: 'tool-call-request', toolCallId: 'c1', toolName: 'add', input: { a: 1 }, expiresAt: Date.now() + 60_000 })
const TOOL = { description: 'Adds', inputSchema: { type: 'object' }, effect: 'read' as const }

/** A service whose run asks for one call; `answer` says how it takes what is posted for the call. */
async function service (t: Test, answer: (body: any) => [object, number?] = () => [{}]) {
  const { url, received } = await fakeService(t, ({ line, body }, response) => {
    if (line.startsWith('POST /tool-calls/c1')) return json(response, ...answer(body))
    if (line.startsWith('GET /run/run/stream')) return stream(response, START + FINISH('stop')).end()
    return stream(response, START + CALL + FINISH('tool-calls')).end()
  })
  const posted = () => received.filter(({ line }) => line.startsWith('POST /tool-calls')).map(({ body }: Received) => body)
  const run = (execute: Execute, { signal, timeoutMs }: { signal?: AbortSignal, timeoutMs?: number } = {}) =>
    createAgent({ url, app: 'desk' }).run({ prompt: 'go', signal, tools: { add: { ...TOOL, ...timeoutMs && { timeoutMs }, execute } } })
  return { run, posted, received }
}

t.test('a call is claimed, executed and answered, and the run is read on', async (t) => {
  const { run, posted, received } = await service(t)
  const { finishReason, pending } = await run(({ a }, { toolName }) => ({ sum: a + 1, toolName })).result()
  t.match({ finishReason, pending }, { finishReason: 'stop', pending: [] })
  t.match(posted(), [{ claim: /^desk-[0-9a-f]{16}$/ }, { output: { sum: 2, toolName: 'add' } }])
  t.match(received[0].body.options, { app: 'desk', appTools: [{ name: 'add', description: 'Adds', effect: 'read' }] })
  t.notOk('execute' in received[0].body.options.appTools[0])
})

t.test('what a tool throws, and a call that takes too long, is told to the model', async (t) => {
  const thrown = await service(t)
  await thrown.run(() => {
    throw new Error('no such order')
  }).result()
  t.match(thrown.posted(), [{}, { error: 'no such order' }])

  const late = await service(t)
  let reason: unknown
  await late.run(async (_input, { signal }) => {
    await once(signal, 'abort')
    reason = signal.reason
  }, { timeoutMs: 1 }).result()
  t.match(late.posted(), [{}, { error: /add took longer than 1 ms/ }])
  t.match(reason, { message: /took longer/ }, 'its signal is aborted')
})

t.test('a call that another instance has is left to it', async (t) => {
  const refusal = { error: 'Another instance holds this call.', code: 'ERR_CALL_CLAIMED', statusCode: 409 }
  const { run, posted } = await service(t, () => [refusal, 409])
  const { finishReason, pending } = await run(() => t.fail('it must not be executed')).result()
  t.match({ finishReason, pending }, { finishReason: 'tool-calls', pending: [{ kind: 'app', toolCallId: 'c1', toolName: 'add' }] })
  t.equal(posted().length, 1)
})

t.test('the claim is renewed while the tool works, and its loss aborts the tool', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let claims = 0
  const renewed = Promise.withResolvers<void>()
  const { run, posted } = await service(t, (body) => {
    if ('claim' in body && ++claims === 2) renewed.resolve()
    return claims === 3 ? [{ error: 'Lost.', code: 'ERR_CALL_CLAIMED', statusCode: 409 }, 409] : [{}]
  })
  let isAborted = false
  await run(async (_input, { signal }) => {
    mock.timers.tick(20_000)
    await renewed.promise
    mock.timers.tick(20_000)
    await once(signal, 'abort')
    isAborted = true
  }).result()
  t.ok(isAborted)
  t.match(posted(), [{ claim: /./ }, { claim: /./ }, { claim: /./ }])
  t.equal(new Set(posted().map(({ claim }) => claim)).size, 1)
})

t.test('an abort of the run aborts its tool, which sends nothing', async (t) => {
  const { run, posted } = await service(t)
  const controller = new AbortController()
  const reason = new Error('closed')
  await t.rejects(run(() => controller.abort(reason), { signal: controller.signal }).result(), reason)
  t.match(posted(), [{ claim: /./ }])
})

t.test('a result that does not arrive is sent again', async (t) => {
  let times = 0
  const draining = { error: 'The service is shutting down.', code: 'ERR_DRAINING', statusCode: 503 }
  const { run, posted } = await service(t, (body) => 'output' in body && ++times === 1 ? [draining, 503] : [{}])
  t.match(await run(() => ({ sum: 2 })).result(), { finishReason: 'stop' })
  t.match(posted(), [{ claim: /./ }, { output: { sum: 2 } }, { output: { sum: 2 } }])
})

t.test('an output that cannot be sent, or is refused, is an error that the model is told', async (t) => {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  const odd = await service(t)
  await odd.run(() => cycle).result()
  t.match(odd.posted(), [{}, { error: /circular/ }])

  const large = { error: 'The answer has 2000000 bytes.', code: 'ERR_TOOL_OUTPUT_TOO_LARGE', statusCode: 413 }
  const { run, posted } = await service(t, (body) => 'output' in body ? [large, 413] : [{}])
  t.match(await run(() => ({})).result(), { finishReason: 'stop' })
  t.match(posted(), [{}, { output: {} }, { error: large.error }])
})

t.test('an abort before a call is executed leaves the call alone', async (t) => {
  const controller = new AbortController()
  const { run } = await service(t, () => {
    controller.abort()
    return [{}]
  })
  await t.rejects(run(() => t.fail('it must not be executed'), { signal: controller.signal }).result(), { name: 'AbortError' })
})

type TurnsTest = Parameters<typeof withTurns>[0]
const plan = { phases: [{ description: 'do it' }] }
const TURNS = [calls('openDocument')]

/** The service, and the application that serves its tools until the test ends. */
async function withDesk (t: TurnsTest) {
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
