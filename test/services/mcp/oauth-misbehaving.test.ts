import t, { type Test } from 'tap'
import { type AuthorizationServerOptions, guardedBy, startAuthorizationServer } from '../../fakes/authorization-server.ts'
import { as, redirect, startSite } from '../../fakes/site.ts'
import { heldClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { connect, detail, statuses, until } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'
import { startToolServer } from '../../harness/mcp-http.ts'
import { browse, startGuarded } from '../../harness/mcp-guarded.ts'

const echo = async (app: any, message: string) => {
  const result = await app.tools.execute(run(app, 'echo', { message }))
  return result.output?.content[0].text ?? result.errorText
}

/** A service, and a tool server that takes the tokens of an authorization server only. */
async function setUp (t: Test, options: AuthorizationServerOptions = {}, resource?: (metadata: Record<string, unknown>) => object) {
  const { clock, pass } = heldClock()
  const app = await build(t, { clock })
  const { authorization, server } = await startGuarded(t, options, resource)
  const ask = async () => (await connect(app, { name: 'web', url: server.url })).json()
  return { app, authorization, server, ask, pass }
}

const refuseAs = (issuer: string) => (parameters: URLSearchParams) => {
  parameters.set('iss', issuer)
  parameters.set('error', 'access_denied')
}
const ANSWERS: Record<string, [redirect: (parameters: URLSearchParams) => void, why: RegExp]> = {
  'two codes': [(parameters) => parameters.append('code', 'b'), /more than one code/],
  'no code': [(parameters) => parameters.delete('code'), /without a code/],
  'a wrong issuer': [(parameters) => parameters.set('iss', 'https://other.example'), /came from another authorization server/],
  'an issuer with a slash': [(parameters) => parameters.set('iss', `${parameters.get('iss')}/`), /from another authorization server/],
  'an error of a wrong issuer': [refuseAs('https://other.example'), /came from another authorization server/],
  'no issuer': [(parameters) => parameters.delete('iss'), /came from another authorization server/],
  'a wrong code': [(parameters) => parameters.set('code', 'made-up'), /unknown code/],
  'a refusal': [(parameters) => parameters.set('error', 'access_denied'), /refused it \(access_denied\)/],
  'a refusal in markup': [(parameters) => parameters.set('error', '<script>alert(1)</script>'), /refused it[^(<]*$/]
}
t.test('an answer that is not the one that was asked for gives no access, and the browser and the user are told', async (t) => {
  let change = (_parameters: URLSearchParams) => {}
  const { app, authorization, ask } = await setUp(t, { redirect: (parameters) => change(parameters) })
  for (const [name, [redirect, why]] of Object.entries(ANSWERS)) {
    change = redirect
    const page = await browse((await ask()).authorizationUrl)
    t.equal(page.status, 400, name)
    t.match(page.text, /^Not authorized: /)
    t.match(page.text.split('.')[0], why, name)
    while ((await detail(app, 'web')).authorizationUrl !== undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    t.match(await detail(app, 'web'), { status: 'authorizing', error: why, tools: [] })
  }
  t.ok(authorization.grants.length <= 2, 'only the wrong code was sent')
  change = () => {}
  t.equal((await browse((await ask()).authorizationUrl)).status, 200)
  await until(app, 'web', 'connected')
})

t.test('the listener takes one GET at its own path with the state of this authorization, and nothing else', async (t) => {
  const { app, ask } = await setUp(t)
  const { authorizationUrl } = await ask()
  const target = new URL(authorizationUrl).searchParams.get('redirect_uri')!
  t.match(target, /^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/)
  for (const forged of ['?code=x', '?code=x&state=made-up', '?error=access_denied&state=', '?code=x&state=a&state=b']) {
    t.match(await browse(`${target}${forged}`), { status: 400, text: /^Not authorized: the answer has a wrong state/ }, forged)
  }
  t.equal((await fetch(target, { method: 'POST', body: 'x' })).status, 405)
  t.equal((await fetch(new URL('/', target))).status, 404)
  t.equal((await fetch(target.replace('127.0.0.1', 'localhost'))).status, 404, 'under another name it is not there')
  t.equal((await detail(app, 'web')).authorizationUrl, authorizationUrl, 'it still waits')
  t.equal((await browse(authorizationUrl)).status, 200)
  await t.rejects(browse(authorizationUrl), 'it is closed after one answer')
  await until(app, 'web', 'connected')
})

t.test('metadata that lead elsewhere are not followed', async (t) => {
  const app = await build(t)
  const trap = await startSite(t, { '/register': '', '/token': '', '/.well-known/oauth-authorization-server': '' })
  const failing = async (why: RegExp, options: AuthorizationServerOptions, resource?: (metadata: Record<string, unknown>) => object) => {
    const { server } = await startGuarded(t, options, resource)
    const answer = (await connect(app, { name: 'web', url: server.url })).json()
    t.match(answer, { statusCode: 502, error: why }, String(why))
    t.same(await statuses(app), {}, 'nothing is saved')
  }
  const to = (key: string, address: string) => ({ metadata: (found: Record<string, unknown>) => ({ ...found, [key]: address }) })
  await failing(/is of another issuer \(https:\/\/other\.example\)/, to('issuer', 'https://other.example'))
  await failing(/is of another issuer \(.*\/\)/, { metadata: (found) => ({ ...found, issuer: `${found.issuer}/` }) })
  await failing(/10\.1\.2\.3 is not on the public internet \(private address\)/, to('registration_endpoint', 'https://10.1.2.3/register'))
  const at = (address: string) => (found: Record<string, unknown>) => ({ ...found, authorization_servers: [address] })
  await failing(/169\.254\.169\.254 is not on the public internet/, {}, at('https://169.254.169.254'))
  await failing(/not https, so no authorization/, {}, at('http://example.invalid'))
  await failing(/authorization page \(http:\/\/example\.invalid\) is not https/, to('authorization_endpoint', 'http://example.invalid/a'))
  await failing(/cannot be begun/, to('authorization_endpoint', 'javascript:alert(1)'))
  await failing(/does not support dynamic client registration/, { metadata: ({ registration_endpoint: _none, ...found }) => found })
  await failing(/does not support code challenge method S256/, to('code_challenge_methods_supported', ['plain'] as any))
  await failing(/does not match expected/, {}, (found) => ({ ...found, resource: 'https://other.example/mcp' }))
  await failing(/HTTP 503|503/, { register: (res) => as('text/plain', 'busy', { status: 503 })(res.req, res) })
  await failing(/not followed/, { register: (res) => redirect(`${trap.url}/register`, 307)(res.req, res) })
  t.same(trap.requests, [])
})

t.test('a code is not sent where the token endpoint redirects to, nor are endless answers read', async (t) => {
  const trap = await startSite(t, { '/token': '' })
  const answers: Array<[RegExp, (res: any) => unknown]> = [
    [/Redirect to .*\/token not followed/, (res) => redirect(`${trap.url}/token`, 307)(res.req, res)],
    [/its answer is too large/, (res) => res.writeHead(200).end('x'.repeat(1_000_000))],
    [/./, (res) => as('application/json', '{"access_token":5}')(res.req, res)],
    [/token is missing or malformed/, (res) => as('application/json', '{"access_token":"a\\r\\nb: c","token_type":"Bearer"}')(res.req, res)]
  ]
  let answer: (res: any) => unknown = () => {}
  const { app, ask } = await setUp(t, {
    token: async (res) => {
      await answer(res)
      return true
    }
  })
  for (const [why, next] of answers) {
    answer = next
    const page = await browse((await ask()).authorizationUrl)
    t.equal(page.status, 400)
    t.match(page.text, why)
    t.same(await statuses(app), { web: 'authorizing' })
  }
  t.same(trap.requests, [])
})

t.test('an authorization server that is down for now costs no authorization', async (t) => {
  let isDown = false
  const { app, authorization, ask, pass } = await setUp(t, {
    token: (res) => {
      if (isDown) res.writeHead(503).end('busy')
      return isDown
    }
  })
  await browse((await ask()).authorizationUrl)
  await until(app, 'web', 'connected')
  isDown = true
  authorization.expire()
  t.match(await echo(app, 'x'), /its token cannot be refreshed/)
  await until(app, 'web', 'disconnected')
  isDown = false
  await pass(1_000)
  await until(app, 'web', 'connected')
  t.equal(await echo(app, 'back'), 'back')
})

t.test('a client that was registered by hand is shown to no other authorization server', async (t) => {
  const app = await build(t)
  const [ours, others] = [await startAuthorizationServer(t, { revocation: () => true }), await startAuthorizationServer(t)]
  for (const { clients } of [ours, others]) clients.set('by-hand', { redirect_uris: { includes: () => true } })
  let at = ours.url
  const server = await startToolServer(t, guardedBy(ours, (found) => ({ ...found, authorization_servers: [at] })))
  const ask = async () => (await connect(app, { name: 'web', url: server.url, clientId: 'by-hand', clientSecret: 'its secret' })).json()
  await browse((await ask()).authorizationUrl)
  await until(app, 'web', 'connected')
  ours.revoke()
  at = others.url
  t.match(await echo(app, 'x'), /its sign-in has ended/)
  t.match(await ask(), { statusCode: 502, error: `its authorization server is ${others.url} now, and its clientId belongs to ${ours.url}` })
  t.notOk(others.requests.some(({ path, body }) => path.startsWith('/token') || body.includes('its secret')))
  const { warning } = (await app.inject({ method: 'DELETE', url: '/mcp/web' })).json()
  t.notOk(warning, 'nothing was left to revoke')
})

t.test('an authorization server that does not revoke in time holds up no removal', async (t) => {
  const asked = Promise.withResolvers<void>()
  const { app, ask, pass } = await setUp(t, {
    revocation: () => {
      asked.resolve()
      return true
    }
  })
  await browse((await ask()).authorizationUrl)
  await until(app, 'web', 'connected')
  const removed = app.inject({ method: 'DELETE', url: '/mcp/web' })
  await asked.promise
  await pass(5_000)
  t.match((await removed).json(), { status: 'disconnected', warning: /stays valid at .*: it did not answer within 5 s/ })
  t.same(await statuses(app), {})
})

t.test('a token endpoint that never answers is given up', async (t) => {
  const asked = Promise.withResolvers<void>()
  const { ask, pass } = await setUp(t, {
    token: () => {
      asked.resolve()
      return true
    }
  })
  const page = browse((await ask()).authorizationUrl)
  await asked.promise
  await pass(15_000)
  t.match(await page, { status: 400, text: /No answer for 15 s/ })
})

t.test('a server that takes no token at all is not asked again and again', async (t) => {
  const { app, ask, server, authorization } = await setUp(t)
  authorization.isValid = () => false
  await browse((await ask()).authorizationUrl)
  await until(app, 'web', 'authorizing')
  const { length } = server.messages
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.ok(server.messages.length - length <= 2)
  t.same(await statuses(app), { web: 'authorizing' })
})

t.test('a server that wants a wider scope for a call has its user asked for it', async (t) => {
  const { app, authorization, server, ask } = await setUp(t)
  await browse((await ask()).authorizationUrl)
  await until(app, 'web', 'connected')
  const wider = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="tools admin"' }
  let isNarrow = true
  server.intercept((_req, res, body) => {
    if (!isNarrow || body?.method !== 'tools/call') return false
    res.writeHead(403, wider).end()
    return true
  })
  t.match(await echo(app, 'x'), /waits for its user/)
  await until(app, 'web', 'authorizing')
  const { authorizationUrl } = await detail(app, 'web')
  t.equal(new URL(authorizationUrl).searchParams.get('scope'), 'tools admin')
  isNarrow = false
  await browse(authorizationUrl)
  await until(app, 'web', 'connected')
  t.equal(await echo(app, 'wide'), 'wide')
  t.same(authorization.grants, ['authorization_code', 'authorization_code'])
})

t.test('with an Authorization header no authorization is asked for', async (t) => {
  const { app, server, authorization } = await setUp(t)
  const answer = (await connect(app, { name: 'web', url: server.url, headers: { authorization: 'Bearer wrong-0123456789' } })).json()
  t.match(answer, { statusCode: 502, error: /it answered 401: no entry/ })
  t.same(authorization.requests, [])
})
