import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { found } from '../harness/canaries.ts'
import { startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'
import { openTerminal } from './terminal.ts'

const CANARIES = {
  message: 'where do WALNUT canaries nest',
  answer: 'in the HAZEL tree, as ever',
  input: 'echo ALMOND-in-a-command',
  file: 'the PECAN is in this file',
  key: 'walnut-KEY/0123+456789-canary',
  token: 'walnut-TOKEN/0123+456789-canary',
  fact: 'is allergic to CASHEWS',
  failure: 'the provider says PISTACHIO'
}

function place (t: Test, config: object) {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: { 'secret.txt': CANARIES.file } })
  return { home: `${dir}/home`, cwd: `${dir}/work` }
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))

t.test('one line for each request, run, step, model call and tool call, and nothing of what was said', async (t) => {
  const plans: Plan[] = [
    {
      toolCalls: [
        { toolName: 'readFile', input: { path: 'secret.txt' } },
        { toolName: 'runCommand', input: { command: CANARIES.input } }
      ]
    },
    { text: CANARIES.answer },
    { error: { status: 400, type: 'invalid_request_error', message: CANARIES.failure } }
  ]
  const gateway = await startFakeGateway({ reply: () => plans.shift() ?? { text: 'ok' } })
  t.teardown(gateway.close)
  const where = place(t, { analysis: false, permissions: { runCommand: 'allow' }, log: { file: true } })
  const env = { LOCAL_AGENT_TOKEN: CANARIES.token, AI_GATEWAY_API_KEY: CANARIES.key, AI_GATEWAY_BASE_URL: gateway.url }
  const service = await startService(t, { ...where, env })
  const headers = { authorization: `Bearer ${CANARIES.token}` }
  await fetch(`${service.url}/memory/brain/fact`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ fact: CANARIES.fact })
  })
  const say = (content: string) =>
    postEvents(`${service.url}/run`, { messages: [{ role: 'user', content }], context: { cwd: where.cwd } }, headers)
  const { events } = await say(CANARIES.message)
  await say('again')
  await fetch(`${service.url}/runs/${events[0].messageMetadata.runId}`, { headers })
  await fetch(`${service.url}/health`)
  await fetch(`${service.url}/tasks?status=${encodeURIComponent(CANARIES.message)}`, { headers })
  await service.stop()

  const file = readFileSync(`${where.home}/logs/local-agent.log`, 'utf8')
  t.equal(file, service.log(), 'the file has what stderr has')
  t.same(found(CANARIES, [['the log', Buffer.from(file)]]), [])
  const lines = linesOf(file)
  const runId = events[0].messageMetadata?.runId ?? events[0].runId
  const ms = Number
  t.match(lines.filter((line) => line.runId === runId && line.msg !== 'run'), [
    { msg: 'model call', role: 'capable', model: /\//, ms, inputTokens: Number, outputTokens: Number },
    { msg: 'step', step: 1, calls: 2, finishReason: 'tool-calls', ms },
    { msg: 'tool call', tool: 'readFile', toolCallId: /./, status: 'completed', ms },
    { msg: 'tool call', tool: 'runCommand', toolCallId: /./, status: 'completed', ms },
    { msg: 'model call', ms },
    { msg: 'step', step: 2, calls: 0, finishReason: 'stop', ms }
  ])
  t.match(lines.filter(({ msg }) => msg === 'run'), [{ runId, threadId: /./, status: 'completed', ms }, { status: 'failed', ms }])
  t.match(lines.filter(({ msg }) => msg === 'model call failed'), [{ code: /^ERR_/, model: /\//, ms }])
  t.match(lines.filter(({ msg }) => msg === 'request'), [
    { method: 'POST', path: '/memory/brain/fact', status: 200, ms },
    { method: 'POST', path: '/run', status: 200, ms, runId, threadId: /./ },
    { method: 'POST', path: '/run', status: 200, ms, runId: /./ },
    { method: 'GET', path: /^\/runs\//, status: 200, runId },
    { method: 'GET', path: '/tasks', status: 400, ms }
  ], 'without the polled ones and without queries')
})

t.test('a file that is full makes room for a new one, and a reload changes the file', async (t) => {
  const where = place(t, { log: { file: 'a.log', maxBytes: 65_536, keep: 1 } })
  const service = await startService(t, where)
  const path = `/threads/${'x'.repeat(150)}`
  while (!existsSync(`${where.home}/a.log.1`)) await Promise.all(Array.from({ length: 50 }, () => fetch(service.url + path)))
  t.ok(linesOf(readFileSync(`${where.home}/a.log.1`, 'utf8')).length > 100)
  writeFileSync(`${where.home}/config.json`, JSON.stringify({ log: { file: 'b.log' } }))
  t.equal((await fetch(`${service.url}/config/reload`, { method: 'POST' })).status, 200)
  await fetch(`${service.url}/threads/other`)
  await service.stop()
  t.match(readFileSync(`${where.home}/b.log`, 'utf8'), '/threads/other')
  for (const name of readdirSync(where.home).filter((name) => name.startsWith('a.log'))) {
    t.notMatch(readFileSync(`${where.home}/${name}`, 'utf8'), '/threads/other')
  }
})

t.test('a file that cannot be written stops nothing', { skip: process.platform === 'win32' && 'uses /dev/full' }, async (t) => {
  for (const file of ['/dev/full', '/proc/nothing/here.log']) {
    const service = await startService(t, place(t, { log: { file } }))
    t.equal((await fetch(`${service.url}/threads`)).status, 200)
    t.match(await service.stop(), { code: 0 })
  }
})

t.test('on a terminal the log is shown for people', async (t) => {
  const where = place(t, {})
  const server = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
  const terminal = await openTerminal(t, `cd '${where.cwd}'; '${process.execPath}' '${server}' --port 0`, { LOCAL_AGENT_HOME: where.home })
  if (!terminal) {
    t.pass('not tried', { skip: 'there is no script of util-linux here' })
    return
  }
  const { url, pid } = JSON.parse((await terminal.shows(/{"event":"ready".*}/))[0])
  await fetch(`${url}/threads`)
  t.ok(await terminal.shows(/\d\d:\d\d:\d\d.* .*info .* request .*method=GET path=\/threads status=200 ms=\d+/))
  // A terminal that goes away leaves the service writing to a folder that the test removes.
  process.kill(pid)
  await terminal.exited
})
