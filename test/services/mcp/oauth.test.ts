import t from 'tap'
import { heldClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { connect, detail, statuses, until } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'
import { browse, startGuarded } from '../../harness/mcp-guarded.ts'
import { createOAuthFetch } from '../../../services/mcp/oauth/oauth-fetch.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { as, redirect, startSite } from '../../fakes/site.ts'

const echo = async (app: any, message: string, tool = 'echo') => {
  const result = await app.tools.execute(run(app, tool, { message }))
  return result.output?.content[0].text ?? result.errorText
}

t.test('a server that wants an authorization is connected once its user has given it, and stays so over a restart', async (t) => {
  const { authorization, server } = await startGuarded(t)
  const first = await build(t)
  const answer = await connect(first, { name: 'web', url: server.url })
  t.equal(answer.statusCode, 202)
  const { status, authorizationUrl } = answer.json()
  t.equal(status, 'authorizing')
  t.match(await detail(first, 'web'), { status, authorizationUrl, error: /it waits for its user to authorize it: open authorizationUrl/ })
  const asked = new URL(authorizationUrl).searchParams
  t.match(Object.fromEntries(asked), { code_challenge_method: 'S256', scope: 'tools', resource: server.url, response_type: 'code' })

  const page = await browse(authorizationUrl)
  t.equal(page.status, 200)
  t.match(page.text, /^Authorized/)
  t.match(page.headers.get('content-type'), /text\/plain/)
  await until(first, 'web', 'connected')
  t.equal(await echo(first, 'hi'), 'hi')
  t.notOk((await first.inject('/mcp/servers')).body.includes('authorizationUrl'))
  t.match(first.secrets.all(), [/access-canary/, /refresh-canary/])
  for (const path of ['/config', '/mcp/servers/web']) t.notMatch((await first.inject(path)).body, /canary/)
  await first.close()

  const app = await build(t, { home: first.home, cwd: first.cwd })
  await app.mcp.start()
  await until(app, 'web', 'connected')
  t.equal(await echo(app, 'still'), 'still')
  const { warning } = (await app.inject({ method: 'DELETE', url: '/mcp/web' })).json()
  t.match(warning, /stays valid at http:.*: it names no address for that\. End it there/)
  t.same(await app.store.record('tool-server-access', () => ({})).get(), {}, 'nothing is left of it')
  t.same(authorization.faults, [])
  t.same(authorization.grants, ['authorization_code'])
})

t.test('a token that expires is refreshed once, however many calls need it; an access that is revoked is asked for again', async (t) => {
  const { authorization, server } = await startGuarded(t)
  const app = await build(t)
  await browse((await connect(app, { name: 'web', url: server.url })).json().authorizationUrl)
  await until(app, 'web', 'connected')
  authorization.expire()
  t.same(await Promise.all(['a', 'b', 'c'].map((each) => echo(app, each))), ['a', 'b', 'c'])
  t.same(authorization.grants, ['authorization_code', 'refresh_token'])
  t.same(authorization.faults, [])

  authorization.revoke()
  t.match(await echo(app, 'x'), /lost during the call: its sign-in has ended \(it was revoked or has expired\)/)
  await until(app, 'web', 'authorizing')
  t.ok(app.tools.offered().some(({ model: { name } }) => name === 'echo'), 'its tools stay')
  t.match(await app.tools.execute(run(app, 'echo')), { status: 'error', errorText: /"web" is not connected: .*authori[sz]/ })
  const { authorizationUrl } = await detail(app, 'web')
  t.equal((await detail(app, 'web')).authorizationUrl, authorizationUrl, 'it is the same one when it is looked at again')
  await browse(authorizationUrl)
  await until(app, 'web', 'connected')
  t.equal(await echo(app, 'back'), 'back')
  t.equal(authorization.clients.size, 2)
})

t.test('tokens that expire at once are refreshed for each request', async (t) => {
  const { authorization, server } = await startGuarded(t, { expiresIn: 0 })
  const app = await build(t)
  await browse((await connect(app, { name: 'web', url: server.url })).json().authorizationUrl)
  await until(app, 'web', 'connected')
  for (const each of ['a', 'b']) {
    authorization.expire()
    t.equal(await echo(app, each), each)
  }
  t.same(await statuses(app), { web: 'connected' })
})

t.test('two servers are authorized at the same time', async (t) => {
  const [a, b] = [await startGuarded(t), await startGuarded(t)]
  const app = await build(t)
  const asked = [a, b].map(({ server }, n) => connect(app, { name: `web${n}`, url: server.url }))
  const [first, second] = (await Promise.all(asked)).map((answer) => answer.json())
  await browse(second.authorizationUrl)
  await until(app, 'web1', 'connected')
  t.same(await statuses(app), { web0: 'authorizing', web1: 'connected' })
  await browse(first.authorizationUrl)
  await until(app, 'web0', 'connected')
  t.equal(await echo(app, 'x', 'web0_echo'), 'x')
})

t.test('a user who does not come back finds the listener closed, and is told what to do', async (t) => {
  const { server } = await startGuarded(t)
  const { clock, pass } = heldClock()
  const app = await build(t, { clock })
  const { authorizationUrl } = (await connect(app, { name: 'web', url: server.url })).json()
  await pass(10 * 60_000)
  while ((await detail(app, 'web')).authorizationUrl !== undefined) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await detail(app, 'web'), { status: 'authorizing', error: /nobody authorized it within 10 minutes; POST \/mcp\/connect/ })
  await t.rejects(browse(authorizationUrl), 'nothing listens any more')
  const again = (await connect(app, { name: 'web', url: server.url })).json()
  await browse(again.authorizationUrl)
  await until(app, 'web', 'connected')
})

t.test('after a restart the page to open is told to whom asks', async (t) => {
  const { server } = await startGuarded(t)
  const first = await build(t)
  const old = (await connect(first, { name: 'web', url: server.url })).json()
  await first.close()
  await t.rejects(browse(old.authorizationUrl))
  const app = await build(t, { home: first.home, cwd: first.cwd })
  await app.mcp.start()
  await until(app, 'web', 'authorizing')
  t.match((await app.inject('/mcp/servers')).json().servers, [{ authorizationUrl: undefined, error: /POST \/mcp\/connect/ }])
  const { authorizationUrl } = await detail(app, 'web')
  t.not(authorizationUrl, old.authorizationUrl)
  await browse(authorizationUrl)
  await until(app, 'web', 'connected')
})

t.test('another address of the same name gets no token, and the tokens are deleted', async (t) => {
  const [a, b] = [await startGuarded(t), await startGuarded(t)]
  const app = await build(t)
  await browse((await connect(app, { name: 'web', url: a.server.url })).json().authorizationUrl)
  await until(app, 'web', 'connected')
  t.equal((await connect(app, { name: 'web', url: b.server.url })).statusCode, 202)
  t.notOk(b.server.messages.some(({ headers }) => headers.authorization !== undefined))
  t.same(await app.store.record('tool-server-access', () => ({})).get(), {})
})

t.test('a server that is disconnected takes its listener along', async (t) => {
  const { server } = await startGuarded(t)
  const app = await build(t)
  const { authorizationUrl } = (await connect(app, { name: 'web', url: server.url })).json()
  t.equal((await app.inject({ method: 'DELETE', url: '/mcp/web' })).statusCode, 200)
  await t.rejects(browse(authorizationUrl))
})

const { signal } = new AbortController()
const fetchFor = (server: string, ownPorts: number[] = []) => {
  const rules = { allowPrivate: () => false, ownPorts: () => ownPorts }
  return createOAuthFetch({ server: new URL(server), rules, clock: systemClock, signal })
}

t.test('a server on the internet leads to no address of this machine or its network', async (t) => {
  const site = await startSite(t, { '/': 'here' })
  const { fetch, refused } = fetchFor('https://mcp.example.com/mcp')
  for (const host of [new URL(site.url).host, '127.0.0.1', 'localhost', '10.0.0.1', '[::1]', '169.254.169.254']) {
    await t.rejects(fetch(`https://${host}/`), /is not on the public internet/, host)
  }
  t.match(refused()?.message, /127\.0\.0\.1/, 'the first one is remembered')
  await t.rejects(fetch('http://93.184.215.14/'), /is not https/)
  await t.rejects(fetch('https://ada:secret@93.184.215.14/'), { message: /^93\.184\.215\.14 is named with a password\.$/ })
  t.same(site.requests, [])
})

t.test('a server on this machine may lead to others on this machine, but to nothing else and not to this service', async (t) => {
  const server = await startSite(t, { '/': 'server' })
  const other = await startSite(t, { '/': 'other', '/away': redirect('https://x.example/') })
  const { fetch } = fetchFor(`${server.url}/mcp`)
  t.equal(await (await fetch(server.url)).text(), 'server')
  t.equal(await (await fetch(other.url)).text(), 'other')
  t.equal((await fetch(`${other.url}/away`)).status, 302, 'a redirect is not followed')
  await t.rejects(fetch('https://10.0.0.1/'), /private address/)
  await t.rejects(fetchFor(server.url, [other.port]).fetch(other.url), /is this service itself/)
})

t.test('documents are bounded', async (t) => {
  const site = await startSite(t, {
    '/large': as('application/json', `"${'x'.repeat(300_000)}"`),
    '/deep': as('application/json', `${'['.repeat(1_000)}${']'.repeat(1_000)}`)
  })
  const { fetch } = fetchFor(site.url)
  await t.rejects(fetch(`${site.url}/large`), /too large/)
  await t.rejects(fetch(`${site.url}/deep`), /nested too deep/)
})
