import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { listen, parseAnswer, sendRaw } from '../harness/raw.ts'

const MIB = 1024 * 1024
const FULL = { status: 503, headers: { 'retry-after': '1' }, body: /"code":"ERR_TOO_MANY_BODIES","statusCode":503\}/ }
const CHUNKED = 'Transfer-Encoding: chunked'
const run = { messages: [{ role: 'user', content: 'go' }] }
const filled = (body: object, size: number) =>
  JSON.stringify({ ...body, filling: 'x'.repeat(size - JSON.stringify({ ...body, filling: '' }).length) })

const post = (path: string, ...headers: string[]) =>
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
  const socket = await begin(t, port, post('/run', 'Expect: 100-continue', `Content-Length: ${10 * MIB}`))
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
  const chunked = await begin(t, port, post('/run', CHUNKED) + `${(5 * MIB).toString(16)}\r\n${'x'.repeat(5 * MIB)}\r\n0\r\n\r\n`)
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
  const bodies = await Promise.all(Array.from({ length: 7 }, () => begin(t, port, post('/run', CHUNKED) + chunk)))
  while (received.reduce((bytes, socket) => bytes + socket.bytesRead, 0) < 7 * chunk.length) await setImmediate()
  await setImmediate()
  t.match((await ask(t, port)).answer, FULL)
  for (const body of bodies) body.destroy()
  await untilTaken(t, port)
})

t.test('the body of a run counts until the run has begun, however long that takes', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['waiting ', 'never'], ending: 'stall', after: 4 }), { config: { analysis: false } })
  const port = await listen(app)
  for (let n = 0; n < 16; n++) {
    const body = filled(run, 9 * MIB)
    const stream = await begin(t, port, post(n % 2 === 0 ? '/run' : '/run/sync', `Content-Length: ${body.length}`) + body)
    if (n % 2 === 0) t.match(String(await once(stream, 'data')), /^HTTP\/1.1 200/)
    else while (app.agent.activeRunCount < n + 1) await setImmediate()
  }
})
