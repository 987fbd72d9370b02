import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { listen, sendRaw } from '../harness/raw.ts'

const SHELL = 'tauri://localhost'
const start = async (t: Test, settings = {}) => listen(await build(t, settings))
const varies = (vary: string | undefined) => (vary ?? '').toLowerCase().split(/, */).includes('origin')

t.test('a preflight of an allowed origin names the methods and the headers that were asked for', async (t) => {
  const port = await start(t)
  const answer = await sendRaw(port, {
    method: 'OPTIONS',
    path: '/run',
    headers: [`Origin: ${SHELL}`, 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: content-type, authorization']
  })
  t.equal(answer.status, 204)
  t.match(answer.headers, {
    'access-control-allow-origin': SHELL,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': 'content-type, authorization'
  })
  t.ok(varies(answer.headers.vary))
})

t.test('a preflight of another origin is refused without CORS headers', async (t) => {
  const port = await start(t)
  for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
    for (
      const more of [[], ['Access-Control-Request-Private-Network: true'], [
        'Access-Control-Request-Local-Network: true',
        'Access-Control-Request-Headers: content-type, authorization'
      ]]
    ) {
      const answer = await sendRaw(port, {
        method: 'OPTIONS',
        path: '/run',
        headers: [`Origin: ${origin}`, 'Access-Control-Request-Method: POST', ...more]
      })
      t.equal(answer.status, 403)
      t.notOk(Object.keys(answer.headers).some((name) => name.startsWith('access-control')))
    }
  }
})

t.test('OPTIONS without an Origin is no preflight: it answers as any method that is not there', async (t) => {
  const port = await start(t)
  const answer = await sendRaw(port, { method: 'OPTIONS', path: '/run' })
  t.match([answer.status, answer.headers.allow], [405, 'POST'])
})

t.test('errors carry the same CORS headers as answers', async (t) => {
  const port = await start(t)
  const requests = {
    200: { path: '/health' },
    404: { path: '/nowhere' },
    405: { method: 'DELETE', path: '/run' },
    400: { method: 'POST', path: '/run', headers: ['Content-Type: application/json'], body: '{}' },
    413: { method: 'POST', path: '/providers/configure', headers: ['Content-Type: application/json', 'Content-Length: 99999999'] },
    415: { method: 'POST', path: '/run', headers: ['Content-Type: text/plain'], body: 'x' }
  }
  for (
    const [status, { headers = [], ...request }] of Object.entries(requests) as Array<[string, Parameters<typeof sendRaw>[1] & object]>
  ) {
    const answer = await sendRaw(port, { ...request, headers: [...headers, `Origin: ${SHELL}`] })
    t.equal(answer.status, Number(status))
    t.equal(answer.headers['access-control-allow-origin'], SHELL, status)
    t.ok(varies(answer.headers.vary), `${status} varies by Origin`)
  }
})

t.test('a refusal before routing carries them too', async (t) => {
  const port = await start(t)
  const answer = await sendRaw(port, { path: '/%zz', headers: [`Origin: ${SHELL}`] })
  t.equal(answer.status, 400)
  t.equal(answer.headers['access-control-allow-origin'], SHELL)
  t.ok(varies(answer.headers.vary))
})

t.test('so does the answer that a token is missing', async (t) => {
  const port = await start(t, { token: 'secret' })
  const answer = await sendRaw(port, { path: '/', headers: [`Origin: ${SHELL}`] })
  t.equal(answer.status, 401)
  t.equal(answer.headers['access-control-allow-origin'], SHELL)
})

t.test('the stream of a run carries them, and lets the page read its ids', async (t) => {
  const port = await start(t)
  const answer = await sendRaw(port, {
    method: 'POST',
    path: '/run',
    headers: [`Origin: ${SHELL}`, 'Content-Type: application/json'],
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] })
  })
  t.equal(answer.status, 200)
  t.match(answer.headers['content-type'], /^text\/event-stream/)
  t.equal(answer.headers['access-control-allow-origin'], SHELL)
  t.match(answer.headers['access-control-expose-headers'], /x-thread-id/)
  t.ok(varies(answer.headers.vary))
})

t.test('without an Origin nothing is allowed, but caches are told that answers vary', async (t) => {
  const port = await start(t)
  const answer = await sendRaw(port)
  t.equal(answer.headers['access-control-allow-origin'], undefined)
  t.ok(varies(answer.headers.vary))
})
