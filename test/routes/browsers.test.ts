import t, { type Test } from 'tap'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { build } from '../harness/helper.ts'
import { listen, sendRaw, type RawAnswer } from '../harness/raw.ts'
import { noBrowser, openBrowser } from '../harness/browser.ts'

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
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
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

const TOKEN = 'correct horse'
const startWithToken = async (t: Test) => listen(await build(t, { token: TOKEN }))
const bearer = (token: string) => `Authorization: Bearer ${token}`

function refused (t: Test, answer: RawAnswer, message: string) {
  t.equal(answer.status, 401, message)
  t.equal(answer.headers['www-authenticate'], 'Bearer', `${message}: says how`)
  const expected = / \/v1\//.test(message)
    ? { error: { message: /Authorization: Bearer/, type: 'authentication_error', param: null, code: 'invalid_api_key' } }
    : { error: /Authorization: Bearer/, code: 'ERR_UNAUTHORIZED', statusCode: 401 }
  t.match(answer.json(), expected, `${message}: in its shape`)
  t.notMatch(answer.body, /horse/, `${message}: without the token`)
}

t.test('the right token opens every route, however its scheme is written', async (t) => {
  const port = await startWithToken(t)
  for (const header of [bearer(TOKEN), `authorization: bearer ${TOKEN}`, `AUTHORIZATION: BEARER  ${TOKEN}`]) {
    t.equal((await sendRaw(port, { path: '/', headers: [header] })).status, 200, header)
  }
})

t.test('anything else is refused', async (t) => {
  const port = await startWithToken(t)
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
  const port = await startWithToken(t)
  const headers = ['Origin: tauri://localhost', 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization']
  t.match(await sendRaw(port, { method: 'OPTIONS', path: '/run', headers }), {
    status: 204,
    headers: { 'access-control-allow-headers': 'authorization' }
  })
})

t.test('the token does not open the gate to other sites', async (t) => {
  const port = await startWithToken(t)
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
  const port = await startWithToken(t)
  for (const given of ['x', TOKEN, TOKEN + TOKEN]) await sendRaw(port, { path: '/', headers: [bearer(given)] })
  t.same(compared, [[32, 32, false], [32, 32, true], [32, 32, false]])
})

const ATTACKS = fileURLToPath(new URL('../harness/foreign-page.js', import.meta.url))
const NAMES = ['evil.example', 'allowed.example', 'rebound.example']

// Nothing of the browser's own may stand in the way of what is tried here.
const browser = noBrowser || await openBrowser(
  t,
  [`--host-resolver-rules=${NAMES.map((name) => `MAP ${name} 127.0.0.1`).join(', ')}`, '--disable-features=LocalNetworkAccessChecks']
)

/** A service that asks nobody before it writes, somebody's web server beside it, and a browser. */
async function openSite (t: Test) {
  const seen: Array<{ attack: string, status: number }> = []
  const site = createServer((request, response) => {
    // A page may be sent on with its body, as if it had asked there itself.
    const to = new URL(request.url!, 'http://site').searchParams.get('to')
    if (to) response.writeHead(307, { location: to, 'access-control-allow-origin': '*' }).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A page</title>')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => { site.closeAllConnections(); site.close() })
  const { port: sitePort } = site.address() as AddressInfo
  const app = await build(t, {
    config: { permissions: { writeFile: 'allow', runCommand: 'allow' }, allowedOrigins: [`http://allowed.example:${sitePort}`] }
  })
  app.server.on('request', ({ url }, response) => response.on('close', () => {
    const attack = new URL(url!, 'http://service').searchParams.get('attack')
    if (attack === null) return
    seen.push({ attack, status: response.statusCode })
    app.server.emit('attacked')
  }))
  const port = await listen(app)
  return {
    app,
    port,
    sitePort,
    seen,
    /** Attacks from the page at `url`, until every attack was answered; resolves to what the page got of each. */
    async attackFrom (url: string, service: string) {
      const context = await (browser as Browser).newContext()
      const page = await context.newPage()
      await page.goto(url)
      await page.addScriptTag({ path: ATTACKS })
      const got = await page.evaluate(`attack(${JSON.stringify(service)}, ${JSON.stringify(url)})`) as Record<string, string>
      for (const name of Object.keys(got)) {
        while (!seen.some(({ attack }) => attack === `${name} ${url}`)) await once(app.server, 'attacked')
      }
      await context.close()
      return got
    },
    written: () => readdirSync(app.cwd)
  }
}

const nothing = (got: Record<string, string>) => Object.fromEntries(Object.keys(got).map((name) => [name, 'nothing']))

t.test('nothing that a foreign page can send runs anything or is answered with anything', { skip: noBrowser }, async (t) => {
  const { port, sitePort, seen, attackFrom, written } = await openSite(t)
  for (const origin of [`http://127.0.0.1:${sitePort}`, `http://localhost:${sitePort}`, `http://evil.example:${sitePort}`]) {
    const got = await attackFrom(origin, `http://127.0.0.1:${port}`)
    t.ok(Object.keys(got).length > 15)
    t.same(got, nothing(got), origin)
  }
  t.same(seen.filter(({ status }) => status !== 403), [], 'everything was refused')
  t.same(written(), [], 'nothing was written')
})

t.test('a page whose name was made to resolve to this machine is refused', { skip: noBrowser }, async (t) => {
  const { port, seen, attackFrom, written } = await openSite(t)
  const origin = `http://rebound.example:${port}`
  const got = await attackFrom(origin, origin)
  t.same(got, nothing(got))
  t.same(seen.filter(({ status }) => status !== 403), [])
  t.same(written(), [])
})

t.test('a page that is allowed may do what those may not: these tests could fail', { skip: noBrowser }, async (t) => {
  const { port, sitePort, attackFrom, written } = await openSite(t)
  const got = await attackFrom(`http://allowed.example:${sitePort}`, `http://127.0.0.1:${port}`)
  t.match(got['a JSON request'], /finish/)
  t.match(got['reading what is remembered'], /contextPreview/)
  t.same(written(), ['marker.txt'])
})
