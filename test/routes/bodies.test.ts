import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { build } from '../harness/helper.ts'
import { listen, sendBytes, sendRaw, type RawAnswer, parseAnswer } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { answer, asked, say, sayAll } from '../harness/agent.ts'
import { openRun, userSays } from '../harness/reader.ts'

const WRITE = JSON.stringify({ messages: [{ role: 'user', content: "write 'x' to marker.txt" }] })
const MIB = 1024 * 1024
const JSON_TYPE = 'Content-Type: application/json'

async function start (t: Test) {
  const app = await build(t, { config: { permissions: { writeFile: 'allow' } } })
  return { app, port: await listen(app), marker: `${app.cwd}/marker.txt` }
}

const post = (port: number, path: string, body: string | Buffer, ...headers: string[]) =>
  sendRaw(port, { method: 'POST', path, headers: headers.length > 0 ? headers : [JSON_TYPE], body })

function refused (t: Test, answer: RawAnswer, status: number, code: string, message: string) {
  t.equal(answer.status, status, message)
  t.match(answer.json(), { error: /\.$/, code, statusCode: status }, `${message}: in the one shape`)
}

t.test('a body that is not application/json is refused, and nothing runs', async (t) => {
  const { port, marker } = await start(t)
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    'application/jsonx',
    'application/ld+json',
    'application/json-patch+json',
    'application/ json',
    'json',
    ';',
    'undefined',
    'text/plain, application/json'
  ]
  for (const type of types) refused(t, await post(port, '/run', WRITE, `Content-Type: ${type}`), 415, 'ERR_UNSUPPORTED_MEDIA_TYPE', type)
  refused(t, await post(port, '/run', WRITE, 'X-None: 1'), 415, 'ERR_UNSUPPORTED_MEDIA_TYPE', 'no type at all')
  t.notOk(existsSync(marker))
})

t.test('parameters and case of the type do not matter', async (t) => {
  const { port } = await start(t)
  for (
    const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON', 'application/json; a="b;c"']
  ) {
    t.equal((await post(port, '/run', WRITE, `Content-Type: ${type}`)).status, 200, type)
  }
})

t.test('an empty body is no body, whatever type it is said to have', async (t) => {
  const { port } = await start(t)
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense', ';']) {
    const header = `Content-Type: ${type}`
    for (const length of ['Content-Length: 0', 'X-None: 1']) {
      t.equal(
        (await sendRaw(port, { method: 'POST', path: '/config/reload', headers: [header, length] })).status,
        200,
        `POST ${type} ${length}`
      )
    }
    t.equal((await sendRaw(port, { method: 'DELETE', path: '/nowhere', headers: [header] })).status, 404, `DELETE ${type}`)
  }
  const chunked = await sendRaw(port, {
    method: 'POST',
    path: '/config/reload',
    headers: ['Transfer-Encoding: chunked', 'Content-Type: text/plain'],
    body: '0\r\n\r\n'
  })
  t.equal(chunked.status, 200, 'chunked')
})

t.test('a route that needs a body says so when there is none', async (t) => {
  const { port } = await start(t)
  const answer = await sendRaw(port, { method: 'POST', path: '/run', headers: ['Content-Length: 0'] })
  refused(t, answer, 400, 'ERR_INVALID_REQUEST', 'no body')
  t.match(answer.json().error, /body is missing/)
})

t.test('bytes that are not UTF-8 are refused', async (t) => {
  const { port, marker } = await start(t)
  for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    const body = Buffer.concat([Buffer.from('{"x":"'), Buffer.from(bytes), Buffer.from('",'), Buffer.from(WRITE.slice(1))])
    refused(t, await post(port, '/run', body), 400, 'ERR_BODY_NOT_JSON', bytes.join())
  }
  t.notOk(existsSync(marker))
})

t.test('broken JSON is refused, and the answer quotes none of it', async (t) => {
  const { port } = await start(t)
  const broken = [
    '{"gateway_key": sk-secret}',
    '{"gateway_key": "sk-secret"',
    '{"gateway_key": "sk-secret"} x',
    'sk-secret',
    '"sk-secret',
    '{"gateway_key": "sk-\nsecret"}',
    '\u0000sk-secret',
    "{'gateway_key': 'sk-secret'}"
  ]
  for (const body of broken) {
    const answer = await post(port, '/providers/configure', body)
    refused(t, answer, 400, 'ERR_BODY_NOT_JSON', body)
    t.notMatch(answer.body, /secret/, 'no quote')
  }
})

t.test('JSON is taken 64 levels deep and not 65', async (t) => {
  const { port, marker } = await start(t)
  const nested = (depth: number, open = '[', close = ']') => `{"x":${open.repeat(depth - 1)}${close.repeat(depth - 1)},${WRITE.slice(1)}`
  refused(t, await post(port, '/run', nested(65)), 400, 'ERR_BODY_TOO_DEEP', '65 levels')
  refused(
    t,
    await post(port, '/run', nested(65, '{"a":', '}').replace('{"a":}', '{"a":{}}')),
    400,
    'ERR_BODY_TOO_DEEP',
    '65 levels of objects'
  )
  refused(t, await post(port, '/run', '['.repeat(500_000)), 400, 'ERR_BODY_TOO_DEEP', 'brackets that never close')
  t.notOk(existsSync(marker))
  t.equal((await post(port, '/run', nested(64))).status, 200, '64 levels')
  t.equal((await post(port, '/run', `{"x":"\\"${'['.repeat(100)}",${WRITE.slice(1)}`)).status, 200, 'brackets in a text are no levels')
})

t.test('__proto__ as a key is refused, plain or escaped, and is harmless as text', async (t) => {
  const { port, marker } = await start(t)
  const key = ['"__proto__"', '"\\u005f_proto__"', '"__proto_\\u005F"', '"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f"']
  for (const each of key) {
    refused(t, await post(port, '/run', `{${each}:{"polluted":true},${WRITE.slice(1)}`), 400, 'ERR_BODY_NOT_JSON', each)
    refused(t, await post(port, '/run', `{"context":{"x":[{${each}:1}]},${WRITE.slice(1)}`), 400, 'ERR_BODY_NOT_JSON', `${each}, deep`)
  }
  t.notOk(existsSync(marker))
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
  t.equal((await post(port, '/run', JSON.stringify({ messages: [{ role: 'user', content: 'what is __proto__?' }] }))).status, 200)
})

t.test('/run takes 32 MiB and other routes 1 MiB, and not a byte more', async (t) => {
  const { port, marker } = await start(t)
  const filled = (size: number, rest: string) => `{"x":"${'x'.repeat(size - 8 - rest.length)}",${rest}`
  for (
    const [path, limit, rest] of [['/run', 32 * MIB, WRITE.slice(1)], ['/run/approve', 32 * MIB, WRITE.slice(1)], [
      '/providers/configure',
      MIB,
      '"model":"offline/assistant"}'
    ]] as const
  ) {
    const tooLarge = filled(limit + 1, rest)
    t.equal(Buffer.byteLength(tooLarge), limit + 1)
    refused(t, await post(port, path, tooLarge), 413, 'ERR_BODY_TOO_LARGE', `${path} ${limit + 1}`)
    const chunked = `${tooLarge.length.toString(16)}\r\n${tooLarge}\r\n0\r\n\r\n`
    refused(t, await post(port, path, chunked, JSON_TYPE, 'Transfer-Encoding: chunked'), 413, 'ERR_BODY_TOO_LARGE', `${path} chunked`)
    t.match((await post(port, path, tooLarge)).json().error, String(limit), 'the limit is named')
    if (path === '/run') t.notOk(existsSync(marker))
    t.not((await post(port, path, filled(limit, rest))).status, 413, `${path} ${limit}`)
  }
  t.ok(existsSync(marker), 'the largest body ran')
})

t.test('a path with malformed percent-encoding is refused', async (t) => {
  const { port } = await start(t)
  for (const path of ['/%', '/%zz', '/threads/%e0%a4%a', '/mcp/%ff']) {
    refused(t, await sendRaw(port, { path }), 400, 'ERR_BAD_REQUEST', path)
  }
})

t.test('headers beyond 16 KiB and a path as long are refused', async (t) => {
  const { port } = await start(t)
  refused(t, await sendRaw(port, { headers: [`X-Large: ${'x'.repeat(20_000)}`] }), 431, 'ERR_HEADERS_TOO_LARGE', 'header')
  refused(t, await sendRaw(port, { path: `/${'x'.repeat(20_000)}` }), 431, 'ERR_HEADERS_TOO_LARGE', 'path')
})

t.test('a long path that fits is answered without repeating all of it', async (t) => {
  const { port } = await start(t)
  const answer = await sendRaw(port, { path: `/pages/${'x'.repeat(10_000)}` })
  refused(t, answer, 404, 'ERR_NOT_FOUND', 'long path')
  t.ok(answer.body.length < 1_000)
})

t.test('what is not HTTP is refused in the one shape', async (t) => {
  const { port } = await start(t)
  refused(t, await sendBytes(port, 'nonsense\r\n\r\n'), 400, 'ERR_BAD_REQUEST', 'no request line')
  refused(t, await sendRaw(port, { headers: ['Content-Length: abc'] }), 400, 'ERR_BAD_REQUEST', 'length')
  refused(
    t,
    await sendRaw(port, { method: 'POST', headers: ['Content-Length: 3', 'Transfer-Encoding: chunked'], body: 'abc' }),
    400,
    'ERR_BAD_REQUEST',
    'two lengths'
  )
  refused(t, await sendRaw(port, { headers: ['No colon'] }), 400, 'ERR_BAD_REQUEST', 'header without a colon')
})

const FULL = { status: 503, headers: { 'retry-after': '1' }, body: /"code":"ERR_TOO_MANY_BODIES","statusCode":503\}/ }
const CHUNKED = 'Transfer-Encoding: chunked'
const run = { messages: [{ role: 'user', content: 'go' }] }
const filled = (body: object, size: number) =>
  JSON.stringify({ ...body, filling: 'x'.repeat(size - JSON.stringify({ ...body, filling: '' }).length) })

const postHead = (path: string, ...headers: string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers.join('\r\n')}\r\n\r\n`

async function begin (t: Test, port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

/** Asks whether a body of 10 MiB is taken: 100 when it counts from now on. */
async function ask (t: Test, port: number) {
  const socket = await begin(t, port, postHead('/run', 'Expect: 100-continue', `Content-Length: ${10 * MIB}`))
  return { socket, answer: parseAnswer(String(await once(socket, 'data'))) }
}

async function untilTaken (t: Test, port: number) {
  for (;;) {
    const { socket, answer } = await ask(t, port)
    if (answer.status === 100) return socket
  }
}

t.test('bodies of 64 MiB may be under way; further ones are refused until one of them is over', async (t) => {
  const port = await listen(await build(t))
  const bodies: Socket[] = []
  for (let n = 0; n < 6; n++) bodies.push((await ask(t, port)).socket)

  t.match((await ask(t, port)).answer, FULL)
  const chunked = await begin(t, port, postHead('/run', CHUNKED) + `${(5 * MIB).toString(16)}\r\n${'x'.repeat(5 * MIB)}\r\n0\r\n\r\n`)
  t.match(parseAnswer(String(await once(chunked, 'data'))), FULL, 'a chunked one as well')
  t.match(
    await sendRaw(port, {
      method: 'POST',
      path: '/memory/brain/fact',
      headers: ['Content-Type: application/json'],
      body: '{"fact":"Likes tea"}'
    }),
    { status: 200 },
    'there is room for a small one'
  )

  bodies.pop()!.destroy()
  bodies.push(await untilTaken(t, port))
  t.match((await ask(t, port)).answer, FULL, 'the place of one that was given up is free, once')
  bodies[0].write(filled({ messages: 1 }, 10 * MIB))
  t.match(parseAnswer(String(await once(bodies[0], 'data'))), { status: 400 })
  await untilTaken(t, port)
  t.match((await ask(t, port)).answer, FULL, 'and that of one that was refused')
})

t.test('chunked bodies count as they arrive', async (t) => {
  const app = await build(t)
  const port = await listen(app)
  const received: Socket[] = []
  app.server.on('connection', (socket) => received.push(socket))
  const chunk = `${(9 * MIB).toString(16)}\r\n${'x'.repeat(9 * MIB)}\r\n`
  const bodies = await Promise.all(Array.from({ length: 7 }, () => begin(t, port, postHead('/run', CHUNKED) + chunk)))
  while (received.reduce((bytes, socket) => bytes + socket.bytesRead, 0) < 7 * chunk.length) await setTimeout(2)
  await setTimeout(2)
  t.match((await ask(t, port)).answer, FULL)
  for (const body of bodies) body.destroy()
  await untilTaken(t, port)
})

t.test('the body of a run counts until the run has begun, however long that takes', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['waiting ', 'never'], ending: 'stall', after: 4 }), { config: { analysis: false } })
  const port = await listen(app)
  for (let n = 0; n < 16; n++) {
    const body = filled(run, 9 * MIB)
    const stream = await begin(t, port, postHead(n % 2 === 0 ? '/run' : '/run/sync', `Content-Length: ${body.length}`) + body)
    if (n % 2 === 0) t.match(String(await once(stream, 'data')), /^HTTP\/1.1 200/)
    else while (app.agent.activeRunCount < n + 1) await setTimeout(2)
  }
})

const runTool = (command: string) => ({ toolCalls: [{ toolName: 'runCommand', input: { command } }] })
const refusal = { error: { status: 400, message: 'no' } }
const partsOf = (prompt: any[], role: string) => prompt.filter((message) => message.role === role).flatMap(({ content }) => content)

/** A runTool whose tool was approved and ran, and whose continuation then failed. */
async function failAfterTheTool (t: Test) {
  const service = await withGateway(t, (_request, nth) => [runTool('printf x >> effects.log'), refusal][nth] ?? { text: `answer ${nth}` })
  const [id] = asked((await say(service.app, 'go', { id: 'chat' })).events)
  t.match((await answer(service.app, { [id]: true })).events.at(-1), { finishReason: 'error' })
  return { ...service, id, effects: () => readFileSync(`${service.app.cwd}/effects.log`, 'utf8') }
}

t.test('the same answer again goes on with a runTool that failed after its tool had runTool, without running that again', async (t) => {
  const { app, id, effects } = await failAfterTheTool(t)
  t.match((await answer(app, { [id]: true })).events, [{ type: 'start' }, { type: 'tool-output-available' }])
  t.equal(effects(), 'x')
})

t.test('what an approved tool did is in the thread, and told to the model, also when its runTool failed afterwards', async (t) => {
  const { app, gateway } = await failAfterTheTool(t)
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'and now?' } } })
  t.match(partsOf(gateway.requests.at(-1)!.body.prompt, 'tool'), [{
    type: 'tool-result',
    output: { type: 'json', value: { exitCode: 0 } }
  }])
})

t.test('a client that never saw the outcome is no reason to leave the model in the dark', async (t) => {
  const { app, systemOf } = await failAfterTheTool(t)
  await sayAll(app, [{ role: 'user', content: 'go' }, { role: 'user', content: 'and now?' }], { id: 'chat' })
  t.match(systemOf(2), /runCommand with .*effects\.log.* was carried out/)
  await say(app, 'once is enough', { id: 'chat' })
  t.notMatch(systemOf(3), /carried out/)
})

t.test('once the user has said something else the old runTool does not go on, and takes nothing out of the thread', async (t) => {
  const { app, gateway, id, effects } = await failAfterTheTool(t)
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'and now?' } } })
  const thread = await app.threadRepository.messages('chat')
  const calls = gateway.requests.length

  t.match(await answer(app, { [id]: true }), { status: 409, body: { code: 'ERR_CONVERSATION_MOVED_ON' } })

  t.same(await app.threadRepository.messages('chat'), thread)
  t.equal(gateway.requests.length, calls)
  t.equal(effects(), 'x')
})

t.test('a permitted command that was cut off is told as such', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? runTool('touch begun; sleep 60') : { text: 'ok' }, {
    config: { permissions: { runCommand: 'allow' } }
  })
  const cut = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  while (!existsSync(`${app.cwd}/begun`)) await setTimeout(2)
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
  await cut.ended
  const [failed, ...end] = cut.events.slice(-4)
  t.match(failed, { type: 'tool-output-error', errorText: /outcome unknown/i })
  t.match(end, [{ type: 'abort' }, { type: 'data-stopped' }, { type: 'finish' }])
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'and now?' } } })
  t.match(partsOf(gateway.requests[1].body.prompt, 'tool'), [{ output: { type: 'error-text', value: /outcome unknown/i } }])
})

t.test('who hangs up and at once says something new is heard after what was said before', async (t) => {
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => nth === 0 ? { text: ['partly ', 'never'], ending: 'stall', after: 4 } : { text: 'ok' }
  )
  const cut = await openRun(app, { ...userSays('one'), id: 'chat' })
  await cut.says('partly')
  cut.hangUp()
  let status = 409
  while (status === 409) {
    ;({ statusCode: status } = await app.inject({
      method: 'POST',
      url: '/run',
      payload: { id: 'chat', message: { role: 'user', content: 'two' } }
    }))
  }
  t.equal(status, 200)
  t.match(gateway.requests[1].body.prompt.slice(1), [
    { role: 'user', content: [{ text: 'one' }] },
    { role: 'assistant', content: [{ text: 'partly ' }] },
    { role: 'user', content: [{ text: 'two' }] }
  ])
})

const MARKED = '{"messages":[{"role":"user","content":"write \'x\' to marker.txt"}]}'
const statuses = (
  { status, body }: { status: number, body: string }
) => [status, ...[...body.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, each]) => Number(each))]

t.test('requests that share a connection are judged one by one', async (t) => {
  const app = await build(t, { config: { permissions: { writeFile: 'allow' } } })
  const port = await listen(app)
  const host = `Host: 127.0.0.1:${port}`
  const health = `GET /health HTTP/1.1\r\n${host}\r\n\r\n`
  const run = (...lines: string[]) =>
    ['POST /run HTTP/1.1', host, ...lines, 'Content-Type: application/json', `Content-Length: ${MARKED.length}`, '', MARKED].join('\r\n')

  const answers = await sendBytes(
    port,
    health,
    run('Origin: https://evil.example'),
    health,
    run('Sec-Fetch-Site: cross-site'),
    run('Origin: null'),
    health.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
  )

  t.same(statuses(answers), [200, 403, 200, 403, 403, 200])
  t.notOk(existsSync(`${app.cwd}/marker.txt`))
})
