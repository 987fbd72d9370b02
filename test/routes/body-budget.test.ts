import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { listen, parseAnswer, sendRaw } from '../harness/raw.ts'

const MIB = 1024 * 1024
const FULL = { status: 503, headers: { 'retry-after': '1' }, body: /"code":"ERR_TOO_MANY_BODIES","statusCode":503\}/ }
const JSON_TYPE = 'Content-Type: application/json'
const run = { messages: [{ role: 'user', content: 'go' }] }
const filled = (body: object, size: number) =>
  JSON.stringify({ ...body, filling: 'x'.repeat(size - JSON.stringify({ ...body, filling: '' }).length) })

const post = (path: string, length: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\n${length}\r\n\r\n`

async function begin (t: Test, port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

/** Sends a small body again and again, until the answer is the one that is waited for. */
async function untilAnswered (port: number, status: number) {
  for (;;) {
    const answer = await sendRaw(port, {
      method: 'POST',
      path: '/memory/brain/pref',
      headers: [JSON_TYPE],
      body: '{"key":"tea","value":"green"}'
    })
    if (answer.status === status) return answer
  }
}

t.test('bodies of 64 MiB may be under way; further ones are refused until one of them is over', async (t) => {
  const port = await listen(await build(t))
  const length = `Content-Length: ${10 * MIB}`
  const bodies = await Promise.all(Array.from({ length: 6 }, () => begin(t, port, post('/run', length))))
  bodies.push(await begin(t, port, post('/run', `Content-Length: ${4 * MIB}`)))

  t.match(await untilAnswered(port, 503), FULL)
  const seventh = await begin(t, port, post('/run', 'Transfer-Encoding: chunked') + '1\r\n{\r\n')
  t.match(String(await once(seventh, 'data')), /503/, 'of chunked ones each byte counts')
  t.equal((await sendRaw(port, { path: '/memory/brain' })).status, 200, 'requests without a body are answered')

  bodies.pop()!.destroy()
  t.equal((await untilAnswered(port, 200)).status, 200, 'one was given up')
  bodies.push(await begin(t, port, post('/run', `Content-Length: ${4 * MIB}`)))
  await untilAnswered(port, 503)
  bodies[0].write(filled({ messages: 1 }, 10 * MIB))
  t.match(parseAnswer(String(await once(bodies[0], 'data'))), { status: 400 })
  t.equal((await untilAnswered(port, 200)).status, 200, 'one was refused')
})

t.test('chunked bodies count as they arrive', async (t) => {
  const port = await listen(await build(t))
  const chunk = `${(9 * MIB).toString(16)}\r\n${'x'.repeat(9 * MIB)}\r\n`
  const bodies = await Promise.all(Array.from({ length: 7 }, () => begin(t, port, post('/run', 'Transfer-Encoding: chunked') + chunk)))
  const large = async () =>
    (await sendRaw(port, { method: 'POST', path: '/run', headers: [JSON_TYPE], body: filled({ messages: 1 }, 2 * MIB) })).status
  while (await large() !== 503);
  t.equal((await untilAnswered(port, 200)).status, 200, 'there is room for a small one')
  for (const body of bodies) body.destroy()
  while (await large() !== 400);
})

t.test('the body of a run counts until the run has begun, however long that takes', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['waiting ', 'never'], ending: 'stall', after: 4 }), { config: { analysis: false } })
  const port = await listen(app)
  for (let n = 0; n < 16; n++) {
    const body = filled(run, 9 * MIB)
    const stream = await begin(t, port, post(n % 2 === 0 ? '/run' : '/run/sync', `Content-Length: ${body.length}`) + body)
    if (n % 2 === 0) t.match(String(await once(stream, 'data')), /^HTTP\/1.1 200/)
    else while (app.agent.activeRunCount < n + 1) await new Promise(setImmediate)
  }
})
