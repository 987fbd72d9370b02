import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createBrowser, startRealAuthorizationServer } from '../../fakes/real-authorization-server.ts'
import { freePort } from '../../harness/free-port.ts'
import { build } from '../../harness/helper.ts'
import { connect, detail, statuses, until } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'

// Against the authorization server `oidc-provider`, as it is; that of the MCP SDK is tried in sdk-examples.test.ts.

const echo = async (app: any, message: string, tool = 'echo') => {
  const result = await app.tools.execute(run(app, tool, { message }))
  return result.output?.content[0].text ?? result.errorText
}
const remove = async (app: any, name: string) => (await app.inject({ method: 'DELETE', url: `/mcp/${name}` })).json()
const SECRET = 'a secret:with+%2F odd/characters='
const REGISTERED = {
  client_id: 'by-hand',
  client_secret: SECRET,
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/oauth/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'client_secret_basic'
}

t.test('a native client registers, its token is renewed, a revoked one is asked for anew, and removal revokes it', async (t) => {
  const authorization = await startRealAuthorizationServer(t)
  const server = await authorization.addServer()
  const app = await build(t)
  const browse = createBrowser()
  const { authorizationUrl } = (await connect(app, { name: 'web', url: server.url })).json()
  t.match(new URL(authorizationUrl).searchParams.get('redirect_uri'), /^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/)
  t.match(new URL(authorizationUrl).searchParams.get('scope'), /\boffline_access\b/, 'so that the token can be renewed')
  t.match(await browse(authorizationUrl), { status: 200, text: /^Authorized/ })
  await until(app, 'web', 'connected')
  t.equal(await echo(app, 'hi'), 'hi')

  await server.expire()
  t.equal(await echo(app, 'again'), 'again')
  t.equal(server.tokens().length, 2, 'with a new token')

  await server.revoke()
  t.match(await echo(app, 'x'), /its sign-in has ended \(it was revoked or has expired\), and it waits for its user to authorize it anew/)
  await until(app, 'web', 'authorizing')
  const again = await detail(app, 'web')
  t.match(again.error, /revoked or has expired.*: open authorizationUrl/)
  await browse(again.authorizationUrl)
  await until(app, 'web', 'connected')
  t.equal(await echo(app, 'back'), 'back')

  const stored = await app.store.record<any>('tool-server-access', () => ({})).get()
  const { access_token: access, refresh_token: refresh } = stored.web.tokens
  t.ok(await authorization.find(access) && await authorization.find(refresh))
  t.strictSame(await remove(app, 'web'), { status: 'disconnected', name: 'web' })
  t.notOk(await authorization.find(access) || await authorization.find(refresh), 'they are worth nothing any more')
})

t.test('a client that was registered by hand signs in from any port, and its secret is shown nowhere', async (t) => {
  const authorization = await startRealAuthorizationServer(t, { clients: [REGISTERED], registration: false })
  const server = await authorization.addServer()
  const first = await build(t)
  const refused = (await connect(first, { name: 'web', url: server.url })).json()
  const address = /register a client there by hand, with the redirect address http:\/\/127\.0\.0\.1\/oauth\/callback/
  t.match(refused, { statusCode: 502, error: address })
  t.match((await connect(first, { name: 'web', url: server.url, clientSecret: SECRET })).json(), { statusCode: 400, error: /clientId/ })
  const browse = createBrowser()
  const wrong = (await connect(first, { name: 'web', url: server.url, clientId: 'by-hand', clientSecret: 'wrong' })).json()
  t.match(await browse(wrong.authorizationUrl), { status: 400, text: /client authentication failed/ })
  const answer = await connect(first, { name: 'web', url: server.url, clientId: 'by-hand', clientSecret: SECRET })
  t.match(await browse(answer.json().authorizationUrl), { status: 200, text: /^Authorized/ })
  await until(first, 'web', 'connected')

  const file = readFileSync(join(first.home, 'config.json'), 'utf8')
  t.match(JSON.parse(file).mcp, [{ name: 'web', clientId: 'by-hand', clientSecret: 'secret:mcp/web/@clientSecret' }])
  t.ok(first.secrets.all().includes(SECRET))
  t.match((await first.inject('/config')).json(), { mcp: [{ clientId: 'by-hand', clientSecret: '••••' }] })
  t.equal((await detail(first, 'web')).clientId, 'by-hand')
  for (const url of ['/config', '/mcp/servers', '/mcp/servers/web']) t.notOk((await first.inject(url)).body.includes(SECRET), url)
  await first.close()

  const app = await build(t, { home: first.home, cwd: first.cwd })
  await app.mcp.start()
  await until(app, 'web', 'connected')
  await server.expire()
  t.equal(await echo(app, 'renewed'), 'renewed', 'with the secret from the store')
  t.equal(authorization.requests.filter(({ path }) => path.startsWith('/reg')).length, 0)

  const { mcp } = JSON.parse(file)
  writeFileSync(join(app.home, 'config.json'), JSON.stringify({ mcp: [{ ...mcp[0], clientId: 'another' }] }))
  await app.inject({ method: 'POST', url: '/config/reload' })
  await until(app, 'web', 'authorizing')
  t.match((await detail(app, 'web')).authorizationUrl, /client_id=another/, 'what another client was given is not used')
})

t.test('of two servers at one authorization server, the removal of one leaves the other signed in', async (t) => {
  const authorization = await startRealAuthorizationServer(t, { clients: [REGISTERED] })
  const servers = [await authorization.addServer(), await authorization.addServer()]
  const app = await build(t)
  const browse = createBrowser()
  const signIn = async (client: object) => {
    for (const [n, { url }] of servers.entries()) {
      await browse((await connect(app, { name: `web${n}`, url, ...client })).json().authorizationUrl)
      await until(app, `web${n}`, 'connected')
    }
  }
  const tokens = async (name: string) => (await app.store.record<any>('tool-server-access', () => ({})).get())[name].tokens

  await signIn({ clientId: 'by-hand', clientSecret: SECRET })
  t.not((await tokens('web0')).access_token, (await tokens('web1')).access_token)
  t.match(await remove(app, 'web0'), { warning: /stays valid at http:.*: the tool server "web1" is signed in there as the same client\.$/ })
  t.equal(await echo(app, 'still', 'web1_echo'), 'still')
  const last = await tokens('web1')
  t.notOk((await remove(app, 'web1')).warning)
  t.notOk(await authorization.find(last.refresh_token), 'the last one ends it')

  await signIn({})
  t.notOk((await remove(app, 'web0')).warning, 'each of them is a client of its own')
  await servers[1].expire()
  t.equal(await echo(app, 'renewed', 'web1_echo'), 'renewed')
})

t.test('where an authorization server reads published metadata, they are named in the place of a registration', async (t) => {
  const address = 'https://app.example.com/oauth/local-agent.json'
  const { client_secret: _secret, ...metadata } = REGISTERED
  const documents = { [address]: { ...metadata, client_id: address, client_name: 'An app', token_endpoint_auth_method: 'none' } }
  const authorization = await startRealAuthorizationServer(t, { documents })
  const server = await authorization.addServer()
  const app = await build(t, { config: { mcpClientMetadataUrl: address } })
  const { authorizationUrl } = (await connect(app, { name: 'web', url: server.url })).json()
  t.equal(new URL(authorizationUrl).searchParams.get('client_id'), address)
  t.match(await createBrowser()(authorizationUrl), { status: 200, text: /^Authorized/ })
  await until(app, 'web', 'connected')
  await server.expire()
  t.equal(await echo(app, 'renewed'), 'renewed')
  t.notOk(authorization.requests.some(({ path }) => path.startsWith('/reg')))
})

t.test('an entry that is taken out of config.json by hand is signed out, too', async (t) => {
  const authorization = await startRealAuthorizationServer(t)
  const server = await authorization.addServer()
  const app = await build(t)
  await createBrowser()((await connect(app, { name: 'web', url: server.url })).json().authorizationUrl)
  await until(app, 'web', 'connected')
  writeFileSync(join(app.home, 'config.json'), '{}')
  await app.inject({ method: 'POST', url: '/config/reload' })
  t.same(await statuses(app), {})
  while (authorization.revoked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same(await app.store.record('tool-server-access', () => ({})).get(), {})
})

t.test('the address of the redirect may be that of the client, and its port may be taken', async (t) => {
  const redirectUri = `http://localhost:${await freePort()}/cb`
  const authorization = await startRealAuthorizationServer(t, { clients: [{ ...REGISTERED, redirect_uris: [redirectUri] }] })
  const [a, b] = [await authorization.addServer(), await authorization.addServer()]
  const app = await build(t)
  const client = { clientId: 'by-hand', clientSecret: SECRET, redirectUri }
  const { authorizationUrl } = (await connect(app, { name: 'a', url: a.url, ...client })).json()
  t.equal(new URL(authorizationUrl).searchParams.get('redirect_uri'), redirectUri)
  const second = (await connect(app, { name: 'b', url: b.url, ...client })).json()
  t.match(second, { statusCode: 502, error: /port \d+ of its redirectUri is used/ })
  t.match(await createBrowser()(authorizationUrl), { status: 200, text: /^Authorized/ })
  await until(app, 'a', 'connected')
  for (const wrong of ['https://x.example/cb', 'http://10.0.0.1/cb', 'http://localhost:1/cb?x']) {
    t.equal((await connect(app, { name: 'c', url: a.url, ...client, redirectUri: wrong })).statusCode, 400, wrong)
  }
})
