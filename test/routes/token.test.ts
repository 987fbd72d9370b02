import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { listen, sendRaw, type RawAnswer } from '../harness/raw.ts'

const TOKEN = 'correct horse'
const start = async (t: Test) => listen(await build(t, { token: TOKEN }))
const bearer = (token: string) => `Authorization: Bearer ${token}`

function refused (t: Test, answer: RawAnswer, message: string) {
  t.equal(answer.status, 401, message)
  t.equal(answer.headers['www-authenticate'], 'Bearer', `${message}: says how`)
  t.match(answer.json(), { error: /Authorization: Bearer/, code: 'ERR_UNAUTHORIZED', statusCode: 401 }, `${message}: in the one shape`)
  t.notMatch(answer.body, /horse/, `${message}: without the token`)
}

t.test('the right token opens every route, however its scheme is written', async (t) => {
  const port = await start(t)
  for (const header of [bearer(TOKEN), `authorization: bearer ${TOKEN}`, `AUTHORIZATION: BEARER  ${TOKEN}`]) {
    t.equal((await sendRaw(port, { path: '/', headers: [header] })).status, 200, header)
  }
})

t.test('anything else is refused', async (t) => {
  const port = await start(t)
  const wrong = [
    'X-None: 1',
    'Authorization:',
    'Authorization: Bearer',
    bearer(''),
    bearer('wrong'),
    bearer(`${TOKEN}x`),
    bearer(TOKEN.slice(0, -1)),
    bearer(TOKEN.toUpperCase()),
    `Authorization: ${TOKEN}`,
    `Authorization: Basic ${TOKEN}`,
    `Authorization: Basic ${btoa(`x:${TOKEN}`)}`,
    `Authorization: BearerX ${TOKEN}`,
    `X-Authorization: Bearer ${TOKEN}`,
    `Cookie: token=${TOKEN}`,
    `Proxy-Authorization: Bearer ${TOKEN}`,
    bearer(`"${TOKEN}"`),
    bearer(` ${TOKEN} x`),
    bearer(`${TOKEN}, Bearer ${TOKEN}`),
    `Authorization: Basic x, Bearer ${TOKEN}`,
    bearer(encodeURIComponent(TOKEN)),
    bearer(btoa(TOKEN)),
    bearer('x'.repeat(8_000))
  ]
  for (const header of wrong) refused(t, await sendRaw(port, { path: '/', headers: [header] }), header)
  refused(t, await sendRaw(port, { path: '/', headers: [bearer(TOKEN), bearer(TOKEN)] }), 'the right one twice')
  refused(t, await sendRaw(port, { path: '/', headers: [bearer(TOKEN), bearer('wrong')] }), 'the right one and another')
  refused(t, await sendRaw(port, { path: `/?token=${encodeURIComponent(TOKEN)}` }), 'in the query')
})

t.test('it guards every route but /health and the pages at /docs and /console, and also what is not there', async (t) => {
  const app = await build(t, { token: TOKEN })
  const port = await listen(app)
  for (const endpoint of app.routeTable.endpoints) {
    const [method, path] = endpoint.split(' ')
    const answer = await sendRaw(port, { method, path: path.replaceAll(/:\w+/g, 'x') })
    if (path === '/docs/:file' || path.startsWith('/console')) t.equal(answer.status, 404, endpoint)
    else if (['/health', '/docs'].includes(path)) t.equal(answer.status, 200, endpoint)
    else refused(t, answer, endpoint)
  }
  refused(t, await sendRaw(port, { path: '/nowhere' }), 'unknown path')
  refused(t, await sendRaw(port, { method: 'PATCH', path: '/run' }), 'unknown method')
  refused(t, await sendRaw(port, { path: '/%zz' }), 'malformed path')
})

t.test('a preflight carries no token and needs none', async (t) => {
  const port = await start(t)
  const headers = ['Origin: tauri://localhost', 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization']
  t.match(await sendRaw(port, { method: 'OPTIONS', path: '/run', headers }), {
    status: 204,
    headers: { 'access-control-allow-headers': 'authorization' }
  })
})

t.test('the token does not open the gate to other sites', async (t) => {
  const port = await start(t)
  t.equal((await sendRaw(port, { path: '/', headers: [bearer(TOKEN), 'Origin: https://evil.example'] })).status, 403)
  t.equal((await sendRaw(port, { path: '/', headers: [bearer(TOKEN), 'Host: evil.example'] })).status, 403)
})

t.test('a token that is not ASCII works as its UTF-8 bytes', async (t) => {
  const port = await listen(await build(t, { token: 'schlüssel' }))
  t.equal((await sendRaw(port, { path: '/', headers: [bearer('schlüssel')] })).status, 200)
  t.equal((await sendRaw(port, { path: '/', headers: [bearer('schlussel')] })).status, 401)
})

t.test('tokens are compared in constant time, whatever their length', async (t) => {
  const original = crypto.timingSafeEqual
  const compared: Array<[number, number, boolean]> = []
  crypto.timingSafeEqual = (a, b) => {
    const equal = original(a, b)
    compared.push([a.byteLength, b.byteLength, equal])
    return equal
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    crypto.timingSafeEqual = original
    syncBuiltinESMExports()
  })
  const port = await start(t)
  for (const given of ['x', TOKEN, TOKEN + TOKEN]) await sendRaw(port, { path: '/', headers: [bearer(given)] })
  t.same(compared, [[32, 32, false], [32, 32, true], [32, 32, false]])
})
