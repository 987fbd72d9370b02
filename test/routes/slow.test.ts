import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { listen, parseAnswer, sendRaw } from '../harness/raw.ts'

const POST = (length: string) =>
  `POST /memory/brain/fact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`

const start = async (t: Test) => listen(await build(t, { arrival: { headers: 200, body: 400, lookedAfter: 50 } }))

/** Sends the beginning at once, and then the same piece again and again until it is sent away; resolves to what it was told. */
async function drip (port: number, beginning: string, piece: string) {
  const socket = connect(port, '127.0.0.1')
  let told = ''
  socket.setEncoding('latin1').on('data', (text) => {
    told += text
  })
  socket.on('error', () => {})
  socket.write(beginning)
  const dripping = setInterval(() => {
    if (socket.writable) socket.write(piece)
  }, 20)
  await once(socket, 'close')
  clearInterval(dripping)
  return parseAnswer(told)
}

for (
  const [what, beginning, piece] of [
    ['nothing at all', '', ''],
    ['a request line', 'GET /x', 'x'],
    ['headers', 'GET /health HTTP/1.1\r\nHost: localhost\r\n', 'x: y\r\n'],
    ['one header', 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ', 'x'],
    ['a body', POST('Content-Length: 5000'), ' '],
    ['a body whose rest never comes', POST('Content-Length: 5000'), ''],
    ['a body in chunks', POST('Transfer-Encoding: chunked'), '1\r\n \r\n']
  ]
) {
  t.test(`who sends ${what} byte by byte is sent away with 408`, async (t) => {
    const answer = await drip(await start(t), beginning, piece)
    t.match(answer.json(), { error: /\.$/, code: 'ERR_REQUEST_TIMEOUT', statusCode: 408 })
  })
}

t.test('who is slow keeps nobody waiting: others are answered while hundreds of requests arrive', async (t) => {
  const port = await listen(await build(t))
  const beginnings = [POST('Content-Length: 5000'), POST('Transfer-Encoding: chunked'), 'GET / HTTP/1.1\r\nx: ', '']
  const slow = await Promise.all(Array.from({ length: 300 }, async (_, n) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(beginnings[n % beginnings.length])
    return socket
  }))
  t.match(
    await sendRaw(port, {
      method: 'POST',
      path: '/memory/brain/fact',
      headers: ['Content-Type: application/json'],
      body: '{"fact":"Likes tea"}'
    }),
    { status: 200 }
  )
  t.ok(slow.every((socket) => !socket.destroyed))
  for (const socket of slow) socket.destroy()
})
