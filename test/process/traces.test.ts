import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { requestTrace } from '../../services/lib/request-trace.ts'
import type { RunRecord } from '../../services/runs/run-record.ts'
import { runKey } from '../../services/store/keys.ts'
import { postEvents } from '../harness/sse.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { HOUR, scheduling } from '../harness/schedules.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

const USER = { role: 'user', content: 'write the secret word' }
const SECRET = 'xyzzy-plugh'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'

interface Span {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: Array<{ key: string, value: object }>
  status: { code: number }
}

/** A collector of traces, as OTLP over HTTP has it. */
async function collect (t: Test) {
  const bodies: Buffer[] = []
  const types = new Set<string>()
  const spans: Span[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
      const body = Buffer.concat(chunks)
      const type = `${request.method} ${request.url} ${request.headers['content-type']}`
      bodies.push(body)
      types.add(type)
      if (type.endsWith('/json')) {
        for (const { scopeSpans } of JSON.parse(body.toString()).resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
      }
      response.setHeader('content-type', request.headers['content-type']!).end(type.endsWith('/json') ? '{}' : '')
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '20' }
  return { env, bodies, types, spans, named: (name: string) => spans.filter((span) => span.name === name) }
}

const valueOf = (span: Span, name: string) => JSON.stringify(span.attributes.find(({ key }) => key === name)?.value)

/** A folder with the model: one call that asks, then an answer. */
const folderOf = (t: Test) => {
  const call = { toolCalls: [{ toolName: 'writeFile', input: { path: 'word.txt', content: SECRET } }] }
  const config = { model: 'offline/scripted', offline: { script: [call, { text: `It is ${SECRET}.` }] }, analysis: false }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work` }
}

t.test('a run, its steps, calls and the wait for an approval over a kill are one trace, without what was said', async (t) => {
  const collector = await collect(t)
  const where = { ...folderOf(t), env: { ...collector.env, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' } }
  const dying = await startService(t, where)
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01` }
  const { events } = await postEvents(`${dying.url}/run`, { messages: [USER], id: 'a' }, headers)
  const asked = events.find(({ type }) => type === 'tool-approval-request')!
  while (collector.named('step 1').length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  await dying.stop('SIGKILL')

  const service = await startService(t, where)
  const answer = await fetch(`${service.url}/approvals/${asked.approvalId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approved: true })
  })
  const { runId } = await answer.json() as { runId: string }
  t.match(await (await fetch(`${service.url}/runs/${runId}?waitMs=20000`)).json(), { status: 'completed' })
  await service.stop()

  const [run] = collector.named('invoke_agent local-agent')
  t.match(run, { traceId: TRACE, parentSpanId: CALLER, status: { code: 0 } })
  t.match(valueOf(run, 'gen_ai.conversation.id'), '"a"')
  t.match(valueOf(run, 'local_agent.run.status'), 'completed')
  t.same(new Set(collector.spans.map(({ traceId }) => traceId)), new Set([TRACE]))
  const parentOf = (name: string) => {
    const [span, ...more] = collector.named(name)
    t.same(more, [], `one ${name}`)
    return collector.spans.find(({ spanId }) => spanId === span.parentSpanId)?.name
  }
  t.equal(parentOf('wait writeFile'), run.name)
  t.equal(parentOf('step 1'), run.name)
  t.equal(parentOf('step 2'), run.name)
  t.equal(parentOf('execute_tool writeFile'), 'step 1')
  const chats = collector.named('chat offline/scripted')
  const steps = chats.map(({ parentSpanId }) => collector.spans.find(({ spanId }) => spanId === parentSpanId)?.name)
  t.same(steps, ['step 1', 'step 2'])
  t.notMatch(Buffer.concat(collector.bodies).toString(), SECRET)
})

t.test('a task that a request starts is in its trace, and texts are written only when they are asked for', async (t) => {
  const collector = await collect(t)
  const env = { ...collector.env, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' }
  const service = await startService(t, { ...folderOf(t), env })
  const tasks = await tasksOf(t, service)
  const watched = await tasks.watch()
  const plan = { phases: [{ description: 'do it' }] }
  const body = { goal: USER.content, plan, taskType: 'one_shot', approval: { mode: 'never' }, start: true }
  const made = await fetch(`${service.url}/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${TRACE}-${CALLER}-01` },
    body: JSON.stringify(body)
  })
  t.equal(made.status, 201)
  await watched.until('task:complete')
  await service.stop()
  t.match(collector.named('invoke_agent local-agent'), [{ traceId: TRACE, parentSpanId: CALLER }])
  const [call] = collector.named('execute_tool writeFile')
  t.match(valueOf(call, 'gen_ai.tool.call.arguments'), SECRET)
  t.match(Buffer.concat(collector.bodies).toString(), 'write the secret word')
})

t.test('spans go as protobuf by default, and only where the caller records; a collector that is away stops nobody', async (t) => {
  const collector = await collect(t)
  const where = folderOf(t)
  const service = await startService(t, { ...where, env: collector.env })
  const run = (traceparent: string) => postEvents(`${service.url}/run`, { messages: [USER] }, { traceparent })
  await run(`00-${TRACE.replace('0', '1')}-${CALLER}-00`)
  await run(`00-${TRACE}-${CALLER}-01`)
  await service.stop()
  t.same(collector.types, new Set(['POST /v1/traces application/x-protobuf']))
  const sent = Buffer.concat(collector.bodies)
  t.ok(sent.includes(Buffer.from(TRACE, 'hex')))
  t.notOk(sent.includes(Buffer.from(TRACE.replace('0', '1'), 'hex')))

  const away = await startService(t, { ...where, env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } })
  const { events } = await postEvents(`${away.url}/run`, { messages: [USER] })
  t.ok(events.some(({ type }) => type === 'tool-approval-request'))
  t.same(await away.stop(), { code: 0, signal: null })

  const odd = await startService(t, { ...where, env: { OTEL_TRACES_EXPORTER: 'zipkin' } })
  t.match(odd.log(), /OTEL_TRACES_EXPORTER is .{0,2}"zipkin/)
})

t.test('an attempt that breaks off in its answer is one span, with what it used and why it failed', async (t) => {
  const collector = await collect(t)
  let calls = 0
  const gateway = await startFakeGateway({
    reply: () => calls++ === 0 ? { text: ['one two three', ' four'], ending: 'cut', after: 4 } : { text: 'All of it.' }
  })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const providerEnv = { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url }
  const env = { ...collector.env, ...providerEnv, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })
  await postEvents(`${service.url}/run`, { messages: [USER] })
  await service.stop()
  const [broken, whole, ...more] = collector.named('chat test/model')
  t.same(more, [])
  t.match(broken.status, { code: 2 })
  t.match(valueOf(broken, 'error.type'), 'ERR_')
  t.match(valueOf(broken, 'gen_ai.usage.output_tokens'), /[1-9]/)
  t.notOk(whole.attributes.some(({ key }) => key === 'error.type'))
})

t.test('a run on a schedule is in nobody’s trace, also in that of the request that set the time; one that is asked for is', async (t) => {
  const traceparent = `00-${TRACE}-${CALLER}-01`
  const { app, clock, tasks, events } = await scheduling(t)
  const traceOf = async (runId: string) => (await app.store.get<RunRecord>(runKey(runId)))?.traceparent
  const post = (url: string) => requestTrace.run(traceparent, async () => (await app.inject({ method: 'POST', url })).json())
  const task = await tasks.create('look', { taskType: 'recurring', schedule: { timezone: 'UTC', interval: '1h' } })
  t.equal((await post(`/tasks/${task.id}/start`)).status, 'scheduled')
  await clock.advance(HOUR)
  const { runId } = await events.until('task:complete')
  t.equal(await traceOf(runId), undefined)
  const asked = await post(`/tasks/${task.id}/run`)
  t.equal(await traceOf(asked.runId), traceparent)
})
