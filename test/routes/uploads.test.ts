import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { heldClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { listen, parseAnswer, sendRaw } from '../harness/raw.ts'

const MB = 1_000_000
const CHUNK = `${MB.toString(16)}\r\n${'x'.repeat(MB)}\r\n`
/** What the service waits for before it answers a client that has fallen silent, and what it goes on reading after an answer. */
const IDLE_MS = 2_000
const LINGER_MS = 5_000

const head = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
const post = (path: string, ...headers: string[]) => head('POST', path, 'Content-Type: application/json', ...headers)

/** A connection that stays half open when the service ends its side, as a client that does not care would keep it. */
async function open (t: Test, port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => {
    text += piece
  })
  return {
    socket,
    send: (piece: string) => socket.write(piece),
    /** Sends it once all before has been taken from this end of the connection. */
    async sendAll (piece: string, times: number) {
      for (let n = 0; n < times && socket.writable; n++) {
        if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
      }
    },
    text: () => text,
    /** Resolves to all answers so far, as soon as there are so many. */
    async answers (count: number) {
      const all = () =>
        text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((each) => /\r\n\r\n/.test(each) && /\}$|^HTTP\/1\.1 (100|204)/.test(each)).map(
          parseAnswer
        )
      while (all().length < count) {
        await Promise.race([
          once(socket, 'data'),
          once(socket, 'close').then(() => {
            throw new Error(`closed after ${text}`)
          })
        ])
      }
      return all()
    },
    ended: () => socket.readableEnded ? undefined : once(socket, 'end'),
    /** Resolves when the service has let go of the connection, which a client notices when it writes. */
    async gone () {
      while (!socket.closed) {
        if (socket.writable) socket.write('x')
        await setImmediate()
      }
    }
  }
}

t.test('a connection can be used on after a refused upload', async (t) => {
  const port = await listen(await build(t, { token: 'secret' }))
  const authorization = 'Authorization: Bearer secret'
  const length = `Content-Length: ${3 * MB}`
  const { send, answers } = await open(t, port)
  const refused: Array<[number, string]> = [
    [401, post('/run', length)],
    [403, post('/run', authorization, 'Origin: https://evil.example', length)],
    [404, post('/nowhere', authorization, length)],
    [405, head('PUT', '/run', authorization, 'Content-Type: application/json', length)],
    [413, post('/memory/brain/fact', authorization, length)],
    [415, head('POST', '/run', authorization, 'Content-Type: text/plain', length)],
    [415, head('POST', '/run', authorization, 'Content-Type: application/octet-stream', length)],
    [400, post('/%zz', authorization, length)],
    [400, post('/providers/configure', authorization, 'Content-Length: 1') + 'x'],
    [200, head('GET', '/', authorization, length)],
    [404, head('GET', '/nowhere', authorization, length)],
    [415, head('OPTIONS', '/run', length)],
    [204, head('OPTIONS', '/run', 'Origin: tauri://localhost', 'Access-Control-Request-Method: POST', length)]
  ]
  for (const [, request] of refused) {
    send(request)
    if (request.includes(length)) send('x'.repeat(3 * MB))
  }
  send(head('GET', '/health'))
  // Last: Node's parser drops what comes in one piece with such a request.
  send(head('PATCH', '/run', authorization, 'Upgrade: websocket', 'Connection: Upgrade', length) + 'x'.repeat(3 * MB))
  const told = await answers(refused.length + 2)
  t.same(told.map(({ status }) => status), [...refused.map(([status]) => status), 200, 405])
  t.notMatch(told.map(({ headers }) => headers.connection), /close/)
})

t.test('HEAD and events leave no body on their connection either', async (t) => {
  const port = await listen(await build(t))
  const { send, socket, text } = await open(t, port)
  const length = `Content-Length: ${3 * MB}`
  send(head('HEAD', '/health', length) + 'x'.repeat(3 * MB) + head('GET', '/tasks/events', length) + 'x'.repeat(3 * MB))
  while (!text().includes('text/event-stream')) await once(socket, 'data')
  t.match(text(), /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nHTTP\/1\.1 200 OK/s)
})

t.test('an upload of more than is read after a refusal is answered, and its connection closed', async (t) => {
  const { clock, pass } = heldClock()
  const port = await listen(await build(t, { clock }))

  const known = await open(t, port)
  known.send(post('/nowhere', `Content-Length: ${100 * MB}`))
  t.match(await known.answers(1), [{ status: 404, headers: { connection: 'close' } }], 'at once where its length is known')
  await known.ended()
  await known.sendAll('x'.repeat(MB), 30)
  t.notOk(known.socket.destroyed, 'what still comes is read')

  const chunked = await open(t, port)
  chunked.send(post('/nowhere', 'Transfer-Encoding: chunked'))
  await chunked.sendAll(CHUNK, 12)
  t.equal(chunked.text(), '', 'not before much of it was read')
  await chunked.sendAll(CHUNK, 12)
  t.match(await chunked.answers(1), [{ status: 404, headers: { connection: 'close' } }])
  await chunked.ended()

  await pass(LINGER_MS)
  await Promise.all([known.gone(), chunked.gone()])
})

t.test('of a connection that is closing no further request is taken', async (t) => {
  const port = await listen(await build(t))
  const { socket, send, sendAll, answers, ended } = await open(t, port)
  const learn = (fact: string) => post('/memory/brain/fact', `Content-Length: ${fact.length + 11}`) + `{"fact":"${fact}"}`
  send(post('/nowhere', `Content-Length: ${20 * MB}`))
  await answers(1)
  await ended()
  await sendAll('x'.repeat(MB), 20)
  socket.end(learn('Likes tea'))
  // Then all was read.
  await once(socket, 'close')
  const other = await open(t, port)
  other.send(learn('Likes coffee'))
  t.same((await other.answers(1))[0].json().brain.facts, ['Likes coffee'])
})

t.test('a refused client that sends no more is answered', async (t) => {
  const { clock, pass } = heldClock()
  const silent = await open(t, await listen(await build(t, { clock })))
  silent.send(post('/nowhere', 'Content-Length: 5000'))
  await pass(IDLE_MS)
  t.match(await silent.answers(1), [{ status: 404, headers: { connection: 'close' } }])
  await pass(LINGER_MS)
  await silent.gone()
})

t.test('a refused client that sends byte by byte keeps its connection no longer than any other', async (t) => {
  const { clock, pass } = heldClock()
  const slow = await open(t, await listen(await build(t, { clock, arrival: { headers: 1000, body: 1200, lookedAfter: 50 } })))
  slow.send(post('/nowhere', 'Transfer-Encoding: chunked'))
  const dripping = setInterval(() => slow.send('1\r\nx\r\n'), 20)
  t.teardown(() => clearInterval(dripping))
  t.match(await slow.answers(1), [{ status: 404, headers: { connection: 'close' } }])
  await pass(LINGER_MS)
  await slow.gone()
})

const chunked = 'Transfer-Encoding: chunked'
const BROKEN: Array<[number, string, string]> = [
  [400, 'nonsense\r\n\r\n', ''],
  [400, post('/nowhere', chunked) + 'nonsense\r\n', ''],
  [400, post('/memory/brain/fact', chunked), 'nonsense\r\n'],
  [404, post('/nowhere', chunked), 'nonsense\r\n']
]
const LATE: Array<[number, string]> = [[408, 'GET /x'], [408, post('/memory/brain/fact', 'Content-Length: 5000')], [
  408,
  post('/memory/brain/fact', chunked) + '1\r\n'
]]
for (
  const [what, arrival, requests] of [['broken', undefined, BROKEN], ['late', { headers: 200, body: 400, lookedAfter: 50 }, LATE]] as const
) {
  t.test(`a client whose request is ${what} does not keep its connection`, async (t) => {
    const { clock, pass } = heldClock()
    const port = await listen(await build(t, { clock, arrival }))
    for (const [status, request, rest = ''] of requests) {
      const { send, answers, gone } = await open(t, port)
      send(request)
      // By then the first part has been looked at.
      await sendRaw(port)
      send(rest)
      t.match(await answers(1), [{ status, headers: { connection: 'close' } }], request)
      await pass(LINGER_MS)
      await gone()
    }
  })
}

t.test('a client that asks whether to send its body is told to where it is taken, and else answered without', async (t) => {
  const port = await listen(await build(t))
  const fact = '{"fact":"Likes tea"}'
  const asks = (path: string, length: number) => post(path, 'Expect: 100-continue', `Content-Length: ${length}`)
  const taken = await open(t, port)
  taken.send(asks('/memory/brain/fact', fact.length))
  t.match(await taken.answers(1), [{ status: 100 }])
  taken.send(fact)
  t.match(await taken.answers(2), [{ status: 100 }, { status: 200 }])
  for (const [status, path] of [[413, '/memory/brain/fact'], [404, '/nowhere']] as const) {
    const refused = await open(t, port)
    refused.send(asks(path, 3 * MB))
    t.match(await refused.answers(1), [{ status, headers: { connection: 'close' } }])
  }
})

t.test('so many refused uploads are read at once; the next one is answered at once', async (t) => {
  const { clock } = heldClock()
  const port = await listen(await build(t, { clock }))
  const waiting = await Promise.all(Array.from({ length: 128 }, async () => {
    const connection = await open(t, port)
    connection.send(post('/nowhere', 'Content-Length: 5000'))
    return connection
  }))
  const next = await open(t, port)
  next.send(post('/nowhere', 'Content-Length: 5000'))
  t.match(await next.answers(1), [{ status: 404, headers: { connection: 'close' } }])
  t.same(waiting.map(({ text }) => text()).join(''), '')
  for (const { send } of waiting) send('x'.repeat(5000))
  for (const { answers } of waiting) t.match(await answers(1), [{ status: 404 }])
})
