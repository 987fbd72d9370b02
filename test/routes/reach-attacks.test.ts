import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { say } from '../harness/agent.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { listen, sendRaw } from '../harness/raw.ts'
import { newKey, newSecret, openReach, send } from '../harness/reach.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const open = { config: { ...calling(append('x')), reach: { port: 0 } } }

/** A service with a call that waits, and a paired device. */
async function attacked (t: Test, settings: Parameters<typeof openReach>[1] = open) {
  const { app, url, port, pair } = await openReach(t, settings)
  await say(app, 'go', { id: 'chat' })
  const phone = await pair()
  const [{ approvalId }] = await phone.list()
  const { digest } = (await phone.look(approvalId)).body
  /** Nothing was decided, and nothing ran. */
  const isUntouched = async () => {
    t.match((await app.inject('/approvals')).json().approvals, [{ approvalId, state: 'pending' }])
    t.equal(effects(app.cwd), '')
  }
  return { app, url, port, phone, approvalId, digest, isUntouched, decision: JSON.stringify({ answer: 'once', digest }) }
}

t.test('no operation of the main port is reached through the port for devices, with a key or without', async (t) => {
  const { app, url, port, phone, approvalId, isUntouched } = await attacked(t)
  const paths = Object.keys(document.paths).map((path) => path.replace('{id}', approvalId).replaceAll(/\{\w+\}/g, 'x'))
  t.ok(paths.length > 90)
  const main = String(new URL(`http://x:${(app.server.address() as { port: number }).port}`).port)
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (path === '/' && method === 'GET') continue
      const { status } = await send(url, method, path, { key: phone.key, ...method !== 'GET' && { body: { approved: true } } })
      t.ok([404, 405].includes(status), `${method} ${path}: ${status}`)
    }
  }
  const disguised = [
    '/%61pprovals', '/approvals/', '//approvals', '/./approvals', '/requests/../approvals', '/requests/%2e%2e/approvals',
    '/requests%2f..%2fconfig',
    '/assets/../config', '/assets/..%2f..%2fconfig.json', '/assets/%2e%2e%2fmaster.key', '/assets/index.html', '/assets/device.ts',
    '/CONFIG',
    `/requests/${approvalId}/preview`, '/pair/', '/requests;/config', '/requests/%00', '/%', '/v1/models', '/console',
    '/docs', '/openapi.json'
  ]
  for (const path of disguised) {
    const { status, body } = await sendRaw(port, { path, headers: [`Authorization: Bearer ${phone.key}`] })
    t.ok([400, 404].includes(status), `${path}: ${status}`)
    t.notMatch(body, /config_dir|"model"|[/]work/, path)
  }
  const absolute = await sendRaw(port, { path: `http://127.0.0.1:${main}/approvals`, headers: [`Authorization: Bearer ${phone.key}`] })
  t.equal(absolute.status, 400, 'the target is a path')
  t.equal((await app.inject('/requests')).statusCode, 404, 'nor is the port for devices a part of the main one')
  t.equal((await app.inject({ method: 'POST', url: '/pair', payload: {} })).statusCode, 404)
  await isUntouched()
})

t.test('a page of somebody else, and a name that leads here, decide nothing', async (t) => {
  const { port, phone, approvalId, decision, isUntouched } = await attacked(t, {
    config: { ...open.config, reach: { port: 0, address: 'https://agent.example.org/' }, allowedOrigins: ['app://my.app'] }
  })
  const decide = (...headers: string[]) => sendRaw(port, {
    method: 'POST',
    path: `/requests/${approvalId}`,
    headers: [`Authorization: Bearer ${phone.key}`, 'Content-Type: application/json', ...headers],
    body: decision
  })
  const refused = [
    ['Host: evil.example'], ['Host: agent.example.org.evil.example'], ['Host: sub.agent.example.org'], ['Host: 0.0.0.0'],
    ['Host: a', 'Host: b'],
    ['Origin: https://evil.example'], ['Origin: null'], ['Origin: http://agent.example.org'], ['Origin: https://agent.example.org:444'],
    ['Origin: tauri://localhost'], ['Origin: app://my.app'], ['Origin: http://localhost:5173'], ['Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'], ['Sec-Fetch-Site: same-site']
  ]
  for (const headers of refused) {
    const { status, headers: answered } = await decide(...headers)
    t.ok([400, 403].includes(status), `${headers}: ${status}`)
    t.notOk('access-control-allow-origin' in answered)
  }
  await isUntouched()

  const origins = ['Origin: https://agent.example.org', `Origin: http://localhost:${port}`]
  const own = ['Host: agent.example.org', 'Host: Agent.Example.Org:443', ...origins]
  for (const header of own) {
    t.equal((await sendRaw(port, { path: '/requests', headers: [header] })).status, 401, `${header}: only the key is missing`)
  }
  const link = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']
  const linked = await sendRaw(port, { path: '/', headers: link })
  t.not(linked.status, 403, 'a link may open the page')
  const preflight = await sendRaw(port, {
    method: 'OPTIONS',
    path: `/requests/${approvalId}`,
    headers: ['Origin: https://agent.example.org', 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization']
  })
  t.equal(preflight.status, 405)
  t.same(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control')), [], 'there is no CORS')
})

t.test('without a valid key nothing is read and nothing decided', async (t) => {
  const { app, port, url, phone, approvalId, decision, isUntouched } = await attacked(t)
  const { deviceId } = phone
  const wrong = [
    [], [`Authorization: Bearer ${newKey()}`], [`Authorization: Bearer ${phone.key.slice(0, -1)}`], [`Authorization: Bearer ${phone.key}x`],
    [`Authorization: Basic ${phone.key}`], [`Authorization: ${phone.key}`], [`Authorization: Bearer ${deviceId}`],
    [`Cookie: key=${phone.key}`],
    [`Authorization: Bearer ${phone.key}`, `Authorization: Bearer ${phone.key}`], ['Authorization: Bearer undefined'],
    ['Authorization: Bearer ']
  ]
  const one = `/requests/${approvalId}`
  for (const headers of wrong) {
    for (const [method, path, body] of [['GET', '/requests'], ['GET', one], ['POST', one, decision]]) {
      const answer = await sendRaw(port, { method, path, headers: [...headers, 'Content-Type: application/json'], body })
      t.equal(answer.status, 401, `${method} ${path} ${headers}`)
      t.notMatch(answer.body, /printf/)
    }
  }
  t.equal((await send(url, 'GET', `/requests?key=${phone.key}`)).status, 401)
  t.equal((await send(url, 'HEAD', `/requests/${approvalId}`)).status, 401)
  const { devices: [stored] } = await app.store.record<any>('devices', () => ({})).get()
  t.equal((await send(url, 'GET', '/requests', { key: stored.keyDigest })).status, 401, 'what is stored is no key')
  await isUntouched()
})

t.test('a stolen key decides nothing but "once" and "deny", of what was shown', async (t) => {
  const { app, phone, url, approvalId, digest, isUntouched } = await attacked(t)
  const decide = (body: unknown) => phone.post(`/requests/${approvalId}`, body)
  const bodies: unknown[] = [
    {}, [], null, 'once', { answer: 'once' }, { digest }, { approved: true }, { approved: true, digest }, { answer: 'always', digest },
    { answer: 'ONCE', digest }, { answer: true, digest }, { answer: ['once'], digest }, { answer: 'once', digest: digest.toUpperCase() },
    { answer: 'once', digest: '' }, { answer: 'once', digest, scope: 'exact' },
    { answer: 'once', digest, scope: 'folder', until: { uses: 9 } },
    { answer: 'once', digest, unbound: true }, { answer: 'once', digest, input: { command: 'printf y >> effects.log' } },
    { answer: 'deny', digest, reason: 'Delete everything instead.' }, { answer: 'once', digest, answers: {} },
    { answer: 'once', digest, device: {} },
    `{"answer":"once","digest":"${digest}","__proto__":{"scope":"tool"}}`, `{"answer":"once","digest":"${digest}"`
  ]
  for (const body of bodies) t.equal((await decide(body)).status, 400, JSON.stringify(body))
  t.equal((await decide({ answer: 'once', digest: '0'.repeat(64) })).status, 409, 'a digest of something else')
  const other = approvalId.slice(0, -1) + (approvalId.endsWith('0') ? '1' : '0')
  for (const id of ['x', '../config', other, approvalId.toUpperCase(), 'server-x', '%00']) {
    const { status } = await phone.post(`/requests/${encodeURIComponent(id)}`, { answer: 'once', digest })
    t.ok([400, 404].includes(status), `${id}: ${status}`)
  }
  const form = await send(url, 'POST', `/requests/${approvalId}`, {
    key: phone.key,
    body: `answer=once&digest=${digest}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' }
  })
  t.equal(form.status, 415)
  const big = await phone.post(`/requests/${approvalId}`, { answer: 'once', digest, padding: 'x'.repeat(5_000) })
  t.match(big, { status: 413, body: { code: 'ERR_BODY_TOO_LARGE' } })
  t.equal((await send(url, 'POST', '/pair', { body: { secret: newSecret(), key: newKey(), name: 'x'.repeat(100_000) } })).status, 413)
  await isUntouched()
  t.same((await app.inject('/grants')).json().grants, [])
})

t.test('every answer tells browsers to keep nothing, guess nothing and frame nothing', async (t) => {
  const { url, phone } = await attacked(t)
  for (const path of ['/requests', '/gone', '/pair']) {
    const { headers } = await phone.get(path)
    for (
      const [name, value] of [
        ['cache-control', 'no-store'],
        ['x-content-type-options', 'nosniff'],
        ['referrer-policy', 'no-referrer'],
        ['cross-origin-resource-policy', 'same-origin'],
        ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"]
      ]
    ) t.equal(headers.get(name), value, `${path}: ${name}`)
    t.notOk(headers.get('strict-transport-security'), 'HTTPS is the matter of the server in front')
  }
  t.equal((await send(url, 'TRACE', '/').catch(() => ({ status: 405 }))).status, 405)
})

t.test('without HTTPS in front the port listens on this machine alone, and says so', async (t) => {
  for (const host of ['0.0.0.0', '::', '192.168.1.7', 'my-computer']) {
    const app = await build(t, { config: { reach: { host, port: 0 } } })
    t.match(app.config.problem, /"reach.host" names an address that other machines reach, which needs HTTPS in front/, host)
    await listen(app)
    t.same((await app.inject('/devices')).json(), { devices: [] }, 'it does not listen')
    await app.close()
  }
  const { app, url } = await openReach(t, { config: { reach: { host: 'localhost', port: 0 } } })
  t.match(url, /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/)
  t.same(app.ownPorts().length, 2, 'the tools of the agent and webhooks reach neither port')
})
