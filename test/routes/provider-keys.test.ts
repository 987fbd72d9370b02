import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import type { Settings } from '../../settings.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { startModelServer, type ServerRequest } from '../fakes/model-server.ts'
import { chatWire } from '../fakes/openai-wire.ts'
import { say } from '../harness/agent.ts'
import { filesIn, found } from '../harness/canaries.ts'
import { build } from '../harness/helper.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { fakeClock } from '../harness/clock.ts'
import { withDirect } from '../harness/with-direct.ts'
import { gatewayFor, test as testProvider } from '../harness/provider-routes.ts'

const KEYS = {
  anthropic: 'walnut-ANTHROPIC-0123456789-canary',
  openai: 'walnut-OPENAI-0123456789-canary',
  google: 'walnut-GOOGLE-0123456789-canary'
}
const HOSTS: Record<string, string> = {
  'https://api.openai.com/v1': 'openai',
  'https://api.anthropic.com/v1': 'anthropic',
  'https://generativelanguage.googleapis.com/v1beta': 'google'
}

/** The makers' own addresses lead to fakes on this machine for the time of a test. */
async function startMakers (t: Test) {
  const calls: Array<[string, ServerRequest]> = []
  const urls = new Map<string, string>()
  for (const { kind, wire } of NATIVE_WIRES) {
    const server = await startModelServer(wire, {
      reply (request) {
        calls.push([kind, request])
        return { text: 'direct' }
      }
    })
    t.teardown(() => server.close())
    urls.set(kind, server.url)
  }
  const { fetch } = globalThis
  const { request } = https
  t.teardown(() => {
    globalThis.fetch = fetch
    https.request = request
    syncBuiltinESMExports()
  })
  const lead = (url: string) => {
    const [address, kind] = Object.entries(HOSTS).find(([host]) => url.startsWith(host)) ?? ['', '']
    return kind ? url.replace(address, urls.get(kind)!) : url
  }
  globalThis.fetch = (input, init) => fetch(lead(String(input)), init)
  https.request = ((url: string, options: http.RequestOptions) =>
    lead(url) === url ? request(url, options) : http.request(lead(url), { ...options, agent: undefined })) as typeof request
  syncBuiltinESMExports()
  return { calls, kinds: () => calls.map(([kind]) => kind) }
}

async function setUp (t: Test, { config, ...settings }: Partial<Settings> & { config?: object } = {}) {
  const makers = await startMakers(t)
  const gateway = await startFakeGateway()
  t.teardown(() => gateway.close())
  const app = await build(t, {
    config: { analysis: false, threads: { titles: false }, ...config },
    gatewayBaseURL: gateway.url,
    ...settings
  })
  return { app, makers, gateway }
}
const configure = async (app: App, payload: object) => app.inject({ method: 'POST', url: '/providers/configure', payload })
const providers = async (app: App) => (await app.inject('/providers')).json()
const names = async (app: App) => (await providers(app)).providers.map(({ name }: any) => name)
const test = async (app: App, model: string) => (await app.inject({ method: 'POST', url: '/providers/test', payload: { model } })).json()

t.test('a key alone makes a provider direct and moves its models off the gateway; null gives them back', async (t) => {
  const { app, makers, gateway } = await setUp(t, { gatewayKey: 'the-key' })
  t.match(await test(app, 'anthropic/claude-haiku-5.5'), { ok: true })
  t.equal(gateway.requests.length, 1)

  const answer = await configure(app, { keys: KEYS })
  t.match(answer.json(), { status: 'configured', active_model: 'anthropic/claude-sonnet-5.5' })
  t.match((await providers(app)).providers, [
    { name: 'offline' },
    { name: 'anthropic', kind: 'direct', configured: true, default_model: 'anthropic/claude-sonnet-5-5' },
    { name: 'openai', kind: 'direct', configured: true },
    { name: 'google', kind: 'direct', configured: true },
    { name: 'gateway' }
  ])
  for (const model of [
    'anthropic/claude-haiku-5.5',
    'openai/gpt-6-sol',
    'google/gemini-3.8-flash'
  ]) t.match(await test(app, model), { ok: true, model })
  t.match(await test(app, 'gateway/anthropic/claude-haiku-5.5'), { ok: true })
  t.same(makers.kinds(), ['anthropic', 'openai', 'google'])
  t.equal(gateway.requests.length, 2)
  t.match(makers.calls.map(([, { headers }]) => headers), [
    { 'x-api-key': KEYS.anthropic },
    { authorization: `Bearer ${KEYS.openai}` },
    { 'x-goog-api-key': KEYS.google }
  ])
  const { models } = (await app.inject('/models')).json()
  const ids = models.map(({ id }: any) => id)
  const expected = ['anthropic/claude-sonnet-5-5', 'openai/gpt-6-sol', 'google/gemini-3.8-flash', 'gateway/openai/gpt-6-sol']
  for (const id of expected) t.ok(ids.includes(id), id)

  await configure(app, { keys: { anthropic: null } })
  t.same(await names(app), ['offline', 'openai', 'google', 'gateway'])
  await test(app, 'anthropic/claude-haiku-5.5')
  t.equal(gateway.requests.length, 3)
})

t.test('with the key of one provider the service has a model, without any other setting', async (t) => {
  const { app, makers } = await setUp(t)
  t.equal((await providers(app)).active_model, 'offline/assistant')
  await configure(app, { keys: { google: KEYS.google } })
  t.match(await providers(app), { active_model: 'google/gemini-3.8-flash', roles: { fast: 'google/gemini-3.8-flash' } })
  const { events } = await say(app, 'hello')
  t.match(events.map(({ delta }) => delta ?? '').join(''), 'direct')
  await configure(app, { keys: { anthropic: KEYS.anthropic } })
  t.match((await providers(app)).roles, { capable: 'anthropic/claude-sonnet-5.5', fast: 'anthropic/claude-haiku-5-5' })
  t.match(await test(app, 'anthropic/claude-sonnet-5.5'), { ok: true })
  t.equal(makers.calls.at(-1)![1].modelId, 'claude-sonnet-5-5')
})

t.test('keys survive a restart, and are in no file, log or answer', async (t) => {
  const told: Array<readonly [string, Buffer]> = []
  const log = new Writable({
    write (chunk, _encoding, done) {
      told.push(['the log', chunk])
      done()
    }
  })
  const first = await setUp(t, { log, config: { log: { level: 'trace' } } })
  told.push(['configure', Buffer.from((await configure(first.app, { keys: { openai: KEYS.openai }, model: 'openai/gpt-6-sol' })).body)])
  await first.app.close()
  const { app, makers } = await setUp(t, { log, home: first.app.home, cwd: first.app.cwd })
  t.match(await test(app, 'openai/gpt-6-sol'), { ok: true })
  t.equal(makers.calls[0][1].headers.authorization, `Bearer ${KEYS.openai}`)
  for (const url of ['/config', '/providers', '/models', '/health']) told.push([url, Buffer.from((await app.inject(url)).body)])
  told.push(['refused', Buffer.from((await configure(app, { keys: { nobody: KEYS.openai } })).body)])
  await app.close()
  t.same(found(KEYS, [...told, ...filesIn(app.home)]), [])
})

t.test('a provider of the configuration takes a key too, which wins over its own; nobody else does', async (t) => {
  const { kind, wire } = NATIVE_WIRES[1]
  const server = await startModelServer(wire)
  t.teardown(() => server.close())
  const { app } = await setUp(t, { config: { providers: { work: { kind, baseURL: server.url, apiKey: 'from-config' } } } })
  const keyOfCall = async () => {
    await test(app, 'work/claude-sonnet-5-5')
    return server.calls.at(-1)!.headers['x-api-key']
  }
  t.equal(await keyOfCall(), 'from-config')
  await configure(app, { keys: { work: ' from-request ' } })
  t.equal(await keyOfCall(), 'from-request')
  await configure(app, { keys: { work: null } })
  t.equal(await keyOfCall(), 'from-config')

  const before = await names(app)
  const unknown: object[] = [
    { nobody: 'a-key' },
    { openai: 'a-key', nobody: 'a-key' },
    { constructor: 'a-key' },
    { gateway: 'a' },
    { nobody: null }
  ]
  for (const keys of unknown) {
    const answer = await configure(app, { keys })
    t.match(answer.json(), { statusCode: 400, code: 'ERR_UNKNOWN_PROVIDER', error: /config\.json.*"gateway_key"/ }, JSON.stringify(keys))
  }
  for (const keys of [
    { openai: '' },
    { openai: 7 },
    { openai: 'x'.repeat(1_001) },
    { openai: 'two\nlines' },
    { openai: 'ключ' },
    'a-key',
    []
  ]) {
    t.equal((await configure(app, { keys })).statusCode, 400, JSON.stringify(keys))
  }
  t.equal((await configure(app, { keys: { openai: 'a-key' }, model: 'none' })).statusCode, 400)
  t.same(await names(app), before, 'nothing was stored')
})

t.test('keys of the parent process win over config.json and are not stored; a configured one wins over them', async (t) => {
  const { kind, wire } = NATIVE_WIRES[0]
  const server = await startModelServer(wire)
  t.teardown(() => server.close())
  const config = { providers: { work: { kind, baseURL: server.url, apiKey: 'from-config' } } }
  const keys = { work: 'handed-over', anthropic: KEYS.anthropic, nobody: 'nothing-of-it' }
  const { app, makers } = await setUp(t, { config, keys })
  const keyOfCall = async (service: App) => {
    await test(service, 'work/gpt-6-sol')
    return server.calls.at(-1)!.headers.authorization
  }
  t.equal(await keyOfCall(app), 'Bearer handed-over')
  t.same(await names(app), ['offline', 'work', 'anthropic', 'gateway'])
  await test(app, 'anthropic/claude-haiku-5.5')
  t.equal(makers.calls[0][1].headers['x-api-key'], KEYS.anthropic)
  await configure(app, { keys: { work: 'from-request' } })
  t.equal(await keyOfCall(app), 'Bearer from-request')
  await configure(app, { keys: { work: null } })
  t.equal(await keyOfCall(app), 'Bearer handed-over')
  await app.close()
  const after = await setUp(t, { home: app.home, cwd: app.cwd })
  t.same(await names(after.app), ['offline', 'work', 'gateway'])
  t.equal(await keyOfCall(after.app), 'Bearer from-config')
})

t.test('a refused key says where another is set', async (t) => {
  const { kind, wire } = NATIVE_WIRES[2]
  const server = await startModelServer(wire, { apiKey: 'right' })
  t.teardown(() => server.close())
  const { app } = await setUp(t, { config: { providers: { google: { kind, baseURL: server.url } } } })
  await configure(app, { keys: { google: 'wrong-key' } })
  t.match(await test(app, 'google/gemini-3.8-flash'), {
    ok: false,
    error: /was refused.*: the key is not valid.*in the settings/
  })
})

t.test('a key is tried before it is stored: by a call of its provider, and it is in no file, log or answer afterwards', async (t) => {
  const told: Array<readonly [string, Buffer]> = []
  const log = new Writable({
    write (chunk, _encoding, done) {
      told.push(['the log', chunk])
      done()
    }
  })
  const google = await startModelServer(NATIVE_WIRES[2].wire, { apiKey: KEYS.google })
  const own = await startModelServer(chatWire, { apiKey: KEYS.openai })
  const gateway = await startFakeGateway({ apiKey: KEYS.anthropic })
  for (const server of [google, own, gateway]) t.teardown(() => server.close())
  const config = { log: { level: 'trace' }, providers: { google: { kind: 'google', baseURL: google.url }, own: { baseURL: own.url } } }
  const { app } = await setUp(t, { log, config, gatewayBaseURL: gateway.url })
  const trial = async (payload: object) => {
    const answer = await app.inject({ method: 'POST', url: '/providers/test', payload })
    told.push(['an answer', Buffer.from(answer.body)])
    return answer.json()
  }

  const wrong = { wrong: 'walnut-WRONG-0123456789-canary' }
  t.match(await trial({ keys: { google: wrong.wrong } }), {
    ok: false,
    model: 'google/gemini-3.8-flash',
    code: 'ERR_PROVIDER_AUTH',
    said: /^Incorrect API key provided: \[key\]/
  })
  t.match(await trial({ keys: { google: ` ${KEYS.google} ` } }), { ok: true, model: 'google/gemini-3.8-flash' })
  t.match(await trial({ keys: { google: KEYS.google }, model: 'google/other' }), { ok: true, model: 'google/other' })
  t.match(await trial({ keys: { own: wrong.wrong } }), { ok: false, code: 'ERR_PROVIDER_AUTH' })
  t.match(await trial({ keys: { own: KEYS.openai } }), { ok: true, model: 'own/llama3' }, 'a model that its server lists')
  t.match(await trial({ gateway_key: wrong.wrong }), { ok: false, code: 'ERR_PROVIDER_AUTH', said: 'Invalid API key' })
  t.match(await trial({ gateway_key: KEYS.anthropic }), { ok: true, model: 'anthropic/claude-sonnet-5.5' })
  await own.close()
  t.match(await trial({ keys: { own: KEYS.openai } }), { ok: false, code: 'ERR_PROVIDER_UNREACHABLE' })
  t.match(await trial({ keys: { nobody: KEYS.openai } }), { statusCode: 400, code: 'ERR_UNKNOWN_PROVIDER' })
  t.match(await trial({ keys: { own: 'a', google: 'b' } }), { statusCode: 400 })

  t.match(await trial({ model: 'google/gemini-3.8-flash' }), { ok: false, error: /it needs a key/ }, 'no key was stored')
  const { providers: [, ...others], gateway_configured: isConfigured } = await providers(app)
  t.notOk(isConfigured)
  t.notOk(others.some((provider: object) => 'keyFrom' in provider))
  await app.close()
  t.same(found({ ...KEYS, ...wrong }, [...told, ...filesIn(app.home)]), [])
})

t.test('it is told where each key comes from, and null removes that of the gateway, too', async (t) => {
  const { kind, wire } = NATIVE_WIRES[1]
  const server = await startModelServer(wire)
  t.teardown(() => server.close())
  const config = { providers: { work: { kind, baseURL: server.url, apiKey: 'from-config' } } }
  const { app, gateway } = await setUp(t, { config, gatewayKey: 'from-the-environment', keys: { google: KEYS.google } })
  const sources = async () => (await providers(app)).providers.map(({ name, keyFrom }: any) => [name, keyFrom])
  const before = [['offline', undefined], ['work', 'config'], ['google', 'environment'], ['gateway', 'environment']]
  t.same(await sources(), before)
  await configure(app, { gateway_key: 'of-the-user', keys: { work: 'a-key', google: 'a-key' } })
  t.same(await sources(), before.map(([name, from]) => [name, from && 'stored']))
  const keyOfCall = async () => {
    t.match(await test(app, 'test/model'), { ok: true })
    return gateway.requests.at(-1)!.headers.authorization
  }
  t.equal(await keyOfCall(), 'Bearer of-the-user')
  t.match((await configure(app, { gateway_key: null, keys: { work: null, google: null } })).json(), { gateway_configured: true })
  t.same(await sources(), before)
  t.equal(await keyOfCall(), 'Bearer from-the-environment')
  t.equal((await configure(app, { gateway_key: null })).statusCode, 200, 'what is not there can be removed')
})

t.test('an entry of config.json names its kind, and needs an address where the kind has none', async (t) => {
  const { app } = await setUp(t)
  const { writeFileSync } = await import('node:fs')
  const reload = async (entry: object) => {
    writeFileSync(`${app.home}/config.json`, JSON.stringify({ providers: { mine: entry } }))
    return (await app.inject({ method: 'POST', url: '/config/reload' })).json()
  }
  t.match(await reload({ kind: 'openai-compatible' }), { statusCode: 400, error: /providers\.mine" needs the field "baseURL"/ })
  t.match(await reload({ kind: 'mistral' }), {
    statusCode: 400,
    error: /kind" must be one of openai-compatible, openai, anthropic, google/
  })
  t.notOk('error' in await reload({ kind: 'anthropic' }))
  t.match((await providers(app)).providers, [{ name: 'offline' }, { name: 'mine', kind: 'direct', configured: false }, { name: 'gateway' }])
  t.match(await test(app, 'mine/claude-haiku-5-5'), { ok: false, error: /it has no key.*in the settings/ })
})

t.test('a testProvider makes a small real call to the active model', async (t) => {
  const { app, server } = await withDirect(t)
  const answer = await testProvider(app)
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), { ok: true, model: 'ollama/llama3', latencyMs: Number })
  t.notOk('error' in answer.json())
  t.equal(server.calls.length, 1)
  t.match(server.calls[0].body, { model: 'llama3', stream: true, max_tokens: 16 })
  t.equal(server.calls[0].body.messages.length, 1)
})

t.test('a testProvider takes another model, of any provider', async (t) => {
  const { gateway, keys } = await gatewayFor(t)
  const { app, server } = await withDirect(t, undefined, keys)
  for (const model of ['ollama/other', 'test/model', 'offline/assistant']) {
    t.match((await testProvider(app, { model })).json(), { ok: true, model })
  }
  t.strictSame([...server.calls, ...gateway.requests].map(({ modelId }) => modelId), ['other', 'test/model'])
})

t.test('a testProvider that fails says what to do', async (t) => {
  const { app, server } = await withDirect(t, () => ({ error: { status: 401, message: 'Bad key secret-key-1' } }), {
    provider: { apiKey: 'secret-key-1' }
  })
  const refused = await testProvider(app)
  t.equal(refused.statusCode, 200)
  t.match(refused.json(), { ok: false, model: 'ollama/llama3', latencyMs: Number, error: /the key is not valid.*in the settings/ })
  t.notMatch(refused.body, 'secret-key-1')
  t.match((await testProvider(app, { model: 'anthropic/claude-haiku-5.5' })).json(), { ok: false, error: /in the settings/ })
  await server.close()
  t.match((await testProvider(app)).json(), { ok: false, error: /ECONNREFUSED/ })
})

t.test('a testProvider is given up after fifteen seconds', async (t) => {
  const clock = fakeClock()
  const { app, server } = await withDirect(t, () => ({ text: 'hm', ending: 'stall' }), { clock })
  const answer = testProvider(app)
  await clock.sleeper(15_000)
  while (server.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  await clock.advance(15_000)
  t.match((await answer).json(), { ok: false, latencyMs: 15_000, error: /did not answer in time/ })
  t.equal(await server.calls[0].ended, 'aborted')
})

t.test('an answer that breaks off fails a test', async (t) => {
  const { app } = await withDirect(t, () => ({ text: 'o k', ending: 'no-finish' }))
  t.match((await testProvider(app)).json(), { ok: false, error: /broke off/ })
})

t.test('what is no model id is refused with 400, and nothing is called', async (t) => {
  const { app, server } = await withDirect(t)
  for (
    const payload of [{ model: 'llama3' }, { model: 'offline/gpt' }, { model: '' }, { model: 7 }, { other: 1 }, {
      model: `a/${'b'.repeat(300)}`
    }]
  ) {
    t.match((await testProvider(app, payload)).json(), { statusCode: 400, error: String, code: /^ERR_INVALID/ }, JSON.stringify(payload))
  }
  t.equal(server.requests.length, 0)
})
