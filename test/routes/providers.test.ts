import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { filesIn, found } from '../harness/canaries.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { gatewayFor, test } from '../harness/provider-routes.ts'
import { withDirect } from '../harness/with-direct.ts'

const models = async (app: App) => (await app.inject('/models')).json()
const ids = async (app: App) => (await models(app)).models.map(({ id }: { id: string }) => id)
const configure = (app: App, payload: object) => app.inject({ method: 'POST', url: '/providers/configure', payload })

t.test('without a key and a server the offline models are listed, and nothing is wrong', async (t) => {
  const app = await build(t)
  t.match(await models(app), { models: [{ id: 'offline/assistant', provider: 'offline' }], errors: [] })
  t.equal((await models(app)).models.length, 1)
  await app.inject({ method: 'PATCH', url: '/config', payload: { offline: { script: [{ text: 'Hello.' }] } } })
  t.same(await ids(app), ['offline/assistant', 'offline/scripted'], 'a script that is there is a choice')
})

t.test('the models of all providers stand in one list', async (t) => {
  const { keys } = await gatewayFor(t)
  const { app } = await withDirect(t, undefined, { ...keys, server: { models: [{ id: 'llama3', context_length: 8192 }] } })
  const { models: all, errors } = await models(app)
  t.strictSame(errors, [])
  t.strictSame(all.map(({ id }: { id: string }) => id), [
    'offline/assistant',
    'ollama/llama3',
    'anthropic/claude-sonnet-5.5',
    'anthropic/claude-haiku-5.5',
    'openai/gpt-6-sol'
  ])
  t.match(all[1], { name: 'llama3', provider: 'ollama', contextWindow: 8192 })
  t.match(all[2], { provider: 'anthropic', pricing: { input: '0.000003', output: '0.000015' } })
})

t.test("every id of the list is the id to use, also where a direct provider has a name of the gateway's", async (t) => {
  const { gateway, keys } = await gatewayFor(t)
  const { app, server, reload } = await withDirect(t, undefined, keys)
  await reload({ providers: { openai: { baseURL: server.url } } })
  const all = await ids(app)
  t.ok(all.includes('gateway/openai/gpt-6-sol'))
  t.ok(all.includes('openai/llama3'))
  t.match((await test(app, { model: 'gateway/openai/gpt-6-sol' })).json(), { ok: true })
  t.match((await test(app, { model: 'openai/llama3' })).json(), { ok: true })
  const headers = { 'content-type': 'application/json' }
  const none = await app.inject({ method: 'POST', url: '/providers/test', headers, payload: 'null' })
  t.equal(none.statusCode, 400, 'null is no body that was left out')
  t.equal(gateway.requests[0].modelId, 'openai/gpt-6-sol')
  t.equal(server.calls[0].modelId, 'llama3')
})

t.test('a provider that fails is told of beside the models of the others', async (t) => {
  const { keys } = await gatewayFor(t, { apiKey: 'another-key' })
  const { app } = await withDirect(t, undefined, { ...keys, server: { listing: () => ({ error: { status: 500, message: 'oh dear' } }) } })
  const answer = await app.inject('/models')
  t.equal(answer.statusCode, 200)
  t.equal(answer.json().models.length, 1, 'the offline one')
  t.match(answer.json().errors, [
    { provider: 'ollama', error: /^The model list of ollama failed.*oh dear/ },
    { provider: 'gateway', error: /^The model list of gateway was refused.*: the key of the gateway is not valid.*in the settings/ }
  ])
})

t.test('providers are asked side by side, and one that does not answer is given up after ten seconds', async (t) => {
  const clock = fakeClock()
  const asked = Promise.withResolvers<void>()
  const { keys } = await gatewayFor(t, {
    listing () {
      asked.resolve()
      return undefined
    }
  })
  const { app, server } = await withDirect(t, undefined, { ...keys, clock, server: { listing: () => new Promise<never>(() => {}) } })
  const answer = models(app)
  await asked.promise // while the other one keeps silent
  await clock.sleeper(10_000)
  await clock.advance(10_000)
  t.match((await answer).errors[0], { provider: 'ollama', error: /did not answer in time/ })
  t.equal(await server.requests[0].ended, 'aborted')
})

t.test('a client who leaves ends the asking', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const { app, server } = await withDirect(t, undefined, {
    clock: fakeClock(), // no time-out does it
    server: {
      listing () {
        arrived.resolve()
        return new Promise<never>(() => {})
      }
    }
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const leave = new AbortController()
  const answer = fetch(`${url}/models`, { signal: leave.signal })
  await arrived.promise
  leave.abort()
  await t.rejects(answer, { name: 'AbortError' })
  t.equal(await server.requests[0].ended, 'aborted')
})

t.test('lists are kept for five minutes, failures are not', async (t) => {
  const clock = fakeClock()
  let fails = true
  const { app, server } = await withDirect(t, undefined, {
    clock,
    server: { listing: () => fails ? { error: { status: 500 } } : undefined }
  })
  t.equal((await models(app)).errors.length, 1)
  fails = false
  t.strictSame((await models(app)).errors, [])
  await clock.advance(5 * 60_000 - 1)
  await models(app)
  t.equal(server.requests.length, 2)
  await clock.advance(1)
  await models(app)
  t.equal(server.requests.length, 3)
})

t.test('a new key, a new model and a reload make the next list a fresh one', async (t) => {
  const { app, server, reload, config } = await withDirect(t)
  await models(app)
  const changes = [() => configure(app, { gateway_key: 'x-key' }), () => configure(app, { model: 'ollama/other' }), () => reload(config)]
  for (const [index, change] of changes.entries()) {
    await change()
    await models(app)
    await models(app)
    t.equal(server.requests.length, index + 2)
  }
})

t.test('a list that was asked for with an old key is not kept for the new one', async (t) => {
  const [arrived, go] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
  const { app, server } = await withDirect(t, undefined, {
    server: {
      listing () {
        arrived.resolve()
        return go.promise
      }
    }
  })
  const first = models(app)
  await arrived.promise
  await configure(app, { gateway_key: 'x-key' })
  go.resolve(undefined)
  await first
  await models(app)
  t.equal(server.requests.filter(({ path }) => path === '/v1/models').length, 2)
})

t.test('of an endless list two thousand are taken', async (t) => {
  const { app } = await withDirect(t, undefined, { server: { models: Array.from({ length: 5_000 }, (_, index) => ({ id: `m${index}` })) } })
  t.equal((await models(app)).models.length, 2_001)
})

t.test('providers of the configuration are listed with their defaults', async (t) => {
  const { app, reload, config } = await withDirect(t, undefined, { provider: { models: ['small', 'large'] } })
  t.match((await app.inject('/providers')).json(), {
    active_model: 'ollama/llama3',
    gateway_configured: false,
    providers: [{ name: 'offline' }, { name: 'ollama', default_model: 'ollama/small', kind: 'direct', configured: true }, {
      name: 'gateway'
    }],
    roles: { fast: 'ollama/llama3', capable: 'ollama/llama3', vision: 'ollama/llama3' }
  })
  await reload({ ...config, providers: {} })
  t.match((await app.inject('/providers')).json().providers, [{ name: 'offline' }, { name: 'gateway' }])
  t.match((await app.inject('/health')).json(), { status: 'degraded', checks: { model: /ollama\/llama3/ } })
})

t.test('roles go to direct models, and to the active one when theirs cannot be used', async (t) => {
  const { app, reload, config } = await withDirect(t, undefined, {
    config: { models: { fast: 'ollama/small', vision: 'openai/gpt-6-sol' } }
  })
  const roles = async () => (await app.inject('/providers')).json().roles
  t.strictSame(await roles(), { fast: 'ollama/small', capable: 'ollama/llama3', vision: 'ollama/llama3' })
  await configure(app, { gateway_key: 'x-key' })
  t.strictSame(await roles(), { fast: 'ollama/small', capable: 'ollama/llama3', vision: 'openai/gpt-6-sol' })
  await reload({
    ...config,
    model: 'offline/assistant',
    providers: { ollama: { baseURL: 'http://127.0.0.1:9', apiKey: ['$', '{NOT_SET_ANYWHERE}'].join('') } }
  })
  t.equal((await roles()).fast, 'offline/assistant')
})

t.test('a provider that cannot be one is refused by name or address', async (t) => {
  const { app, reload } = await withDirect(t)
  const refused: Array<[object, RegExp]> = [
    [{ offline: { baseURL: 'http://x/v1' } }, /the name "offline"/],
    [{ gateway: { baseURL: 'http://x/v1' } }, /the name "gateway"/],
    [{ 'two words': { baseURL: 'http://x/v1' } }, /the name "two words"/],
    [{ a: {} }, /providers\.a" needs the field "baseURL"/],
    [{ a: { baseURL: 'ftp://x/v1' } }, /providers\.a\.baseURL" must be an http or https address/],
    [{ a: { baseURL: 'http://user:secret@x/v1' } }, /without user name/],
    [{ a: { baseURL: 'http://x/v1?key=secret' } }, /without user name, query/]
  ]
  for (const [providers, error] of refused) {
    const answer = await reload({ providers })
    t.match(answer.json(), { statusCode: 400, error })
    t.notMatch(answer.body, 'secret')
  }
  t.ok((await app.inject('/providers')).json().providers.some(({ name }: { name: string }) => name === 'ollama'), 'the last good ones stay')
})

const CANARY = 'the safe opens with 4711'
const COMPLEX = { complexity: 'complex', goal: 'Answer', thinking: 'Hard.', qualityCriteria: ['a true answer'] }

/** A service with a model server on this machine and a key of the gateway, with all that asks a model turned on. */
async function withBoth (t: Test, config: object) {
  const { gateway, keys } = await gatewayFor(t)
  const asked: string[] = []
  const made = await withDirect(t, undefined, {
    ...keys,
    config: { analysis: true, brain: { extractAfter: false }, ...config },
    server: {
      reply ({ structured }) {
        if (structured === undefined) return { text: 'It is so.' }
        asked.push(structured)
        return structured === 'analysis' ? { object: COMPLEX } : structured === 'facts' ? { object: { pointers: [] } } : undefined
      }
    }
  })
  return { ...made, gateway, asked }
}

/** A conversation with a title, whose words the service then learns from. */
async function talk (app: App, options?: object) {
  const message = { role: 'user', content: CANARY }
  const { json } = await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', messages: [message], options } })
  await app.titles.idle()
  const extracted = await app.inject({ method: 'POST', url: '/threads/chat/extract' })
  return { run: json(), extracted }
}

t.test('what is said to a server of the user goes to no cloud that has a key, whoever asks a model about it', async (t) => {
  await t.test('as the active model', async (t) => {
    const { app, gateway, asked } = await withBoth(t, {})
    const { run, extracted } = await talk(app)
    t.match(run, { text: 'It is so.', evaluation: { satisfied: true } })
    t.equal(extracted.statusCode, 200)
    t.strictSame(asked.toSorted(), ['analysis', 'evaluation', 'facts', 'title'])
    t.notOk(JSON.stringify(gateway.requests).includes(CANARY))
    t.match((await app.inject('/providers')).json(), {
      roles: { fast: 'ollama/llama3', vision: 'ollama/llama3' },
      reach: { fast: 'machine', capable: 'machine', vision: 'machine' }
    })
  })

  await t.test('as the model of one run, while the active one is in the cloud', async (t) => {
    const { app, gateway, asked } = await withBoth(t, { model: 'anthropic/claude-sonnet-5.5' })
    const { run } = await talk(app, { model: 'ollama/llama3' })
    t.equal(run.text, 'It is so.')
    t.strictSame(asked.toSorted(), ['analysis', 'evaluation', 'facts', 'title'])
    t.notOk(JSON.stringify(gateway.requests).includes(CANARY))
    t.match((await app.inject('/providers')).json(), { reach: { fast: 'machine', capable: 'machine' } }, 'the fake gateway is here, too')
  })

  await t.test('also when its provider is gone meanwhile: nobody is asked then', async (t) => {
    const config = { brain: { extractAfter: false }, threads: { titles: false }, gateway: { baseURL: 'http://gateway.invalid/v4/ai' } }
    const { app, reload } = await withDirect(t, undefined, { gatewayKey: 'the-key', config })
    await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', messages: [{ role: 'user', content: CANARY }] } })
    const extract = () => app.inject({ method: 'POST', url: '/threads/chat/extract' })
    await reload({ ...config, model: 'openai/gpt-6-sol' })
    t.equal((await extract()).statusCode, 200, 'with a model asked, it fails: there is no such gateway')
    t.match((await app.inject('/providers')).json(), { reach: { fast: 'cloud', capable: 'cloud' } })
  })
})

const GATEWAY_KEY = 'walnut-GATEWAY-0123456789-canary'
const EARLIER_KEY = 'walnut-EARLIER-0123456789-canary'
const DIRECT_KEY = 'walnut-DIRECT-0123456789-canary'

t.test('a configured key lies in the encrypted store alone: in no file, log or answer, though providers repeat it', async (t) => {
  const told: Array<readonly [string, Buffer]> = []
  const log = new Writable({
    write (chunk, _encoding, done) {
      told.push(['the log', chunk])
      done()
    }
  })
  const echo = ({ headers }: { headers: { authorization?: string } }): Plan => ({
    error: {
      status: 400,
      type: 'invalid_request_error',
      message: `Refused ${headers.authorization}`,
      headers: { 'x-key': String(headers.authorization) }
    }
  })
  const turns: Array<typeof echo | Plan> = [{ toolCalls: [{ toolName: 'runCommand', input: { command: 'env' } }] }, { text: 'done' }, echo]
  const keys: unknown[] = []
  const gateway = await startFakeGateway({
    reply (request) {
      keys.push(request.headers.authorization)
      const turn = turns.shift() ?? echo
      return typeof turn === 'function' ? turn(request) : turn
    }
  })
  t.teardown(() => gateway.close())
  process.env.TEST_DIRECT_KEY = DIRECT_KEY
  t.teardown(() => {
    delete process.env.TEST_DIRECT_KEY
  })
  const { app, reload, config } = await withDirect(t, echo, {
    log,
    gatewayBaseURL: gateway.url,
    provider: { apiKey: ['$', '{TEST_DIRECT_KEY}'].join('') },
    config: { model: 'test/model', log: { level: 'trace' } }
  })
  const keep = (where: string, answer: unknown) => {
    told.push([where, Buffer.from(JSON.stringify(answer))])
  }
  const post = async (url: string, payload: object) => {
    const { body, headers } = await app.inject({ method: 'POST', url, payload })
    keep(url, { body, headers })
  }

  await post('/providers/configure', { gateway_key: EARLIER_KEY })
  await post('/providers/configure', { gateway_key: GATEWAY_KEY })
  const first = await say(app, 'show the environment')
  const last = await answer(app, { [asked(first.events)[0]]: true })
  for (const run of [first, last, await say(app, 'fails at the gateway')]) keep('a run', run)
  await post('/providers/configure', { model: 'ollama/llama3' })
  keep('a run', await say(app, 'fails directly'))
  for (const model of ['test/model', 'ollama/llama3']) await post('/providers/test', { model })
  for (const url of ['/', '/health', '/config', '/providers', '/models', '/approvals']) keep(url, (await app.inject(url)).body)
  await post('/providers/configure', { gateway_key: GATEWAY_KEY, unknown: GATEWAY_KEY })
  keep('reload', (await reload(config)).body)
  await app.close()

  t.ok(keys.includes(`Bearer ${GATEWAY_KEY}`), 'the key was used')
  t.match(JSON.stringify(last.events), /PATH=/, 'the command showed its environment')
  t.match(told.map(([, bytes]) => bytes.toString()).join(), /Refused/, 'the repetition was told, without the key')
  const files = filesIn(app.home)
  t.ok(files.some(([path]) => path.includes('data')))
  t.same(found({ GATEWAY_KEY, EARLIER_KEY, DIRECT_KEY }, [...files, ...told]), [])
})

t.test("the key that was configured is there after a restart, and wins over the environment's", async (t) => {
  const gateway = await startFakeGateway()
  t.teardown(() => gateway.close())
  const settings = { gatewayKey: 'of-the-environment', gatewayBaseURL: gateway.url, config: { model: 'test/model' } }
  const { app } = await withDirect(t, undefined, settings)
  await app.inject({ method: 'POST', url: '/providers/configure', payload: { gateway_key: GATEWAY_KEY } })
  await app.close()
  const { app: again } = await withDirect(t, undefined, { ...settings, home: app.home, cwd: app.cwd })
  await say(again, 'hi')
  t.equal(gateway.requests[0].headers.authorization, `Bearer ${GATEWAY_KEY}`)
})

t.test('a key that can be none is refused by its provider, and stops neither the service nor its next start', async (t) => {
  const { app } = await withDirect(t, undefined, { config: { model: 'test/model' } })
  const payload = { gateway_key: 'half a character: \ud800' }
  t.equal((await app.inject({ method: 'POST', url: '/providers/configure', payload })).statusCode, 200)
  t.match(of((await say(app, 'hi')).events, 'error'), [{ errorText: /is not valid.*in the settings/ }])
  t.equal((await app.inject('/config')).statusCode, 200)
  await app.close()
  const log: string[] = []
  const { app: again } = await withDirect(t, undefined, {
    home: app.home,
    cwd: app.cwd,
    log: new Writable({
      write: (line, _encoding, done) => {
        log.push(String(line))
        done()
      }
    })
  })
  await again.listen({ port: 0 })
  t.match(log.join(''), /Server listening/)
})
