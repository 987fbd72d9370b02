import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect } from 'node:net'
import { startService } from '../harness/sidecar.ts'
import { build } from '../harness/helper.ts'
import { listen, parseAnswer, sendRaw } from '../harness/raw.ts'

const MIB = 1024 * 1024
const USER = '{"role":"user","content":"hi"}'
const CHAT = '{"id":"x","role":"user","parts":[{"type":"text","text":"hi"}]}'

/** As many of these as there is room for. */
const filled = (open: string, each: string, close: string, size = 10 * MIB) =>
  open + Array(Math.floor((size - open.length - close.length) / (each.length + 1))).fill(each).join() + close
const some = (count: number, each: string) => Array(count).fill(each).join()
const keys = (count: number) => Array.from({ length: count }, (_, n) => `"key ${n}":0`).join()

// Each of these took seconds or all memory once: the smallest things, as many of them as a body may hold.
const tooMany: Array<[string, string]> = [
  ['numbers', filled(`{"messages":[${USER}],"x":[`, '0', ']}')],
  ['numbers behind an escape', filled(`{"messages":[${USER}],"y":"\\u0041","x":[`, '0', ']}')],
  ['arrays', filled(`{"messages":[${USER}],"x":[`, '[]', ']}')],
  ['objects', filled(`{"messages":[${USER}],"x":[`, '{"a":0}', ']}')],
  ['keys', `{"messages":[${USER}],${keys(600_000)}}`],
  ['messages', filled('{"messages":[', USER, ']}')],
  ['parts', filled('{"messages":[{"role":"user","content":[', '{"type":"text","text":"hi"}', ']}]}')],
  ['parts that are none', filled('{"messages":[{"role":"user","content":[', '{"type":"none"}', ']}]}')],
  [
    'decisions',
    filled('{"messages":[{"role":"tool","content":[', '{"type":"tool-approval-response","approvalId":"x","approved":true}', ']}]}')
  ]
]

const allowed: Array<[string, string, number]> = [
  ['a large text', filled(`{"messages":[${USER}],"x":"`, 'x', '"}'), 200],
  ['a large message', `{"messages":[{"role":"user","content":"${'a '.repeat(4 * MIB)}"}]}`, 200],
  ['a large message of blanks', `{"messages":[{"role":"user","content":"write ${' '.repeat(8 * MIB)}x"}]}`, 200],
  ['a large message of quotes', `{"messages":[{"role":"user","content":"write ${"'".repeat(8 * MIB)}x"}]}`, 200],
  ['a huge number', `{"messages":[${USER}],"x":${'9'.repeat(8 * MIB)}}`, 200],
  ['blanks around it', `${' '.repeat(8 * MIB)}{"messages":[${USER}]}`, 200],
  ['the most values', `{"messages":[${USER}],${keys(199_000)}}`, 200],
  ['the most messages', `{"messages":[${some(25_000, USER)}]}`, 200],
  ['many messages of a chat', `{"messages":[${some(20_000, CHAT)}]}`, 200],
  ['more messages', `{"messages":[${some(25_001, USER)}]}`, 400],
  ['many parts', `{"messages":[{"role":"user","content":[${some(30_000, '{"type":"text","text":"hi"}')}]}]}`, 200],
  ['many parts that are none', `{"messages":[{"role":"user","content":[${some(49_000, '{"type":"none"}')}]}]}`, 400],
  [
    'a part that is none behind many',
    `{"messages":[{"role":"user","content":[${some(20_000, '{"type":"text","text":"hi"}')},{"type":"none"}]}]}`,
    400
  ]
]

t.test('bodies made to be expensive are refused before anything is built of them, or cost little, and the service lives', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  // Little memory: what is built of megabytes of the smallest values would not fit.
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { NODE_OPTIONS: '--max-old-space-size=400' } })
  const post = async (body: string) => {
    const answer = await fetch(`${service.url}/run`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return { status: answer.status, text: await answer.text() }
  }
  for (const [what, body] of tooMany) {
    const { status, text } = await post(body)
    t.match({ status, ...JSON.parse(text) }, { status: 400, code: 'ERR_BODY_TOO_MANY_VALUES', error: /200000/ }, what)
  }
  for (const [what, body, status] of allowed) t.equal((await post(body)).status, status, what)
  t.match(await (await fetch(`${service.url}/health`)).json(), { status: 'ok' })
  t.equal(service.child.exitCode, null)
})

t.test('an error repeats no more than a little of what it is about', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  const long = 'k'.repeat(900_000)
  for (
    const [path, body] of [
      ['/memory/brain/fact', { fact: 'x', [long]: 1 }],
      ['/run', { messages: [{ role: 'user', content: 'hi' }], context: { cwd: long } }],
      ['/run', { messages: [{ role: 'user', content: [{ type: long }] }] }],
      ['/run/approve', { messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: long, approved: true }] }] }]
    ] as const
  ) {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await answer.text()
    t.match(answer.status, /^4/)
    t.ok(text.length < 4_000, `${path}: ${text.length}`)
  }
})

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
