import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { listen, sendBytes, sendRaw, type RawAnswer } from '../harness/raw.ts'

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

t.test('/run takes 10 MiB and other routes 1 MiB, and not a byte more', async (t) => {
  const { port, marker } = await start(t)
  const filled = (size: number, rest: string) => `{"x":"${'x'.repeat(size - 8 - rest.length)}",${rest}`
  for (
    const [path, limit, rest] of [['/run', 10 * MIB, WRITE.slice(1)], ['/run/approve', 10 * MIB, WRITE.slice(1)], [
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
