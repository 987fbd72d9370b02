import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { Aborted } from '../../../../services/lib/abort.ts'
import { systemClock } from '../../../../services/lib/clock.ts'
import { createGatewayProvider } from '../../../../services/models/providers/gateway.ts'
import { createRegistry } from '../../../../services/models/providers/registry.ts'
import { startFakeGateway, type FakeGatewayOptions, type Plan } from '../../../fakes/gateway.ts'

const KEY = 'vck_testing-key-0123456789'
const ID = 'anthropic/claude-sonnet-5.5'
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]

async function setUp (t: Test, options: FakeGatewayOptions = {}, key: string | undefined = KEY) {
  const gateway = await startFakeGateway(options)
  t.teardown(() => gateway.close())
  const settings = { baseURL: gateway.url as string | undefined, apiKey: key as string | undefined }
  const provider = createGatewayProvider({ settings: () => settings })
  const registry = createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
  return { gateway, settings, provider, registry }
}

/** What is told of a call that fails, before or in its stream. */
async function failure (t: Test, plan: Plan, options: { signal?: AbortSignal, apiKey?: string } = {}) {
  const { registry } = await setUp(t, { reply: () => plan, apiKey: options.apiKey })
  return told(registry, options.signal)
}

async function told (registry: ReturnType<typeof createRegistry>, abortSignal?: AbortSignal) {
  try {
    const { model } = await registry.model(ID)
    const { stream } = await model.doStream({ prompt, abortSignal })
    let finished = false
    for await (const part of stream) {
      if (part.type === 'error') throw part.error
      finished ||= part.type === 'finish'
    }
    if (!finished) throw new Error("The model's answer broke off before it was finished.")
  } catch (error) {
    return registry.describeFailure(error, ID)
  }
  throw new Error('The call did not fail')
}

t.test("the model is called in the gateway's wire format, with the key of that moment", async (t) => {
  const { gateway, settings, provider } = await setUp(t)
  const model = await provider.languageModel(ID)
  await model.doGenerate({ prompt })
  settings.apiKey = 'another-key'
  await (await provider.languageModel('openai/gpt-6-sol')).doGenerate({ prompt })
  await model.doGenerate({ prompt })
  t.match(gateway.requests[0], {
    headers: {
      authorization: `Bearer ${KEY}`,
      'ai-language-model-id': ID,
      'ai-language-model-specification-version': '4',
      'ai-language-model-streaming': 'false'
    },
    body: { prompt: [{ role: 'user' }] }
  })
  t.match(gateway.requests[1].headers, { authorization: 'Bearer another-key', 'ai-language-model-id': 'openai/gpt-6-sol' })
  t.equal(gateway.requests[2].headers.authorization, 'Bearer another-key', 'a model at hand takes the new key too')
})

t.test('a changed address is used by the next model', async (t) => {
  const { settings, provider } = await setUp(t)
  const other = await startFakeGateway()
  t.teardown(() => other.close())
  await provider.languageModel(ID)
  settings.baseURL = other.url
  await (await provider.languageModel(ID)).doGenerate({ prompt })
  t.equal(other.requests.length, 1)
})

t.test('without a key nothing is sent, and the error says what to do', async (t) => {
  for (const key of [undefined, '', '  ']) {
    const { gateway, provider, settings } = await setUp(t)
    settings.apiKey = key
    t.notOk(provider.configured())
    await t.rejects(provider.languageModel(ID), {
      code: 'ERR_PROVIDER_NOT_CONFIGURED',
      message: /no key.*in the settings/
    })
    await t.rejects(provider.listModels(AbortSignal.timeout(1000)), { code: 'ERR_PROVIDER_NOT_CONFIGURED' })
    t.equal(gateway.requests.length, 0)
  }
})

t.test('the list holds language models with their prices, and is fetched anew each time', async (t) => {
  const model = (id: string, more: object = {}) => ({
    id,
    name: id.toUpperCase(),
    specification: { specificationVersion: 'v4', provider: 'x', modelId: id },
    ...more
  })
  const models = [
    model('a/one', { modelType: 'language', pricing: { input: '0.1', output: '0.2' } }),
    model('a/picture', { modelType: 'image' }),
    model('b/two')
  ]
  const { provider } = await setUp(t, { models })
  t.strictSame(await provider.listModels(AbortSignal.timeout(1000)), [
    { id: 'a/one', name: 'A/ONE', provider: 'a', pricing: { input: '0.1', output: '0.2' } },
    { id: 'b/two', name: 'B/TWO', provider: 'b' }
  ])
  models.push(model('c/three'))
  t.equal((await provider.listModels(AbortSignal.timeout(1000))).length, 3)
})

t.test('a list that does not come is given up with the signal', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  t.teardown(() => silent.close())
  const { provider, settings } = await setUp(t)
  settings.baseURL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Aborted('timeout', 'enough')), 50)
  await t.rejects(provider.listModels(stop.signal), { message: 'enough' })
})

t.test('a wrong key is told as such', async (t) => {
  const found = await failure(t, {}, { apiKey: 'the-right-key' })
  t.match(found, {
    code: 'ERR_PROVIDER_AUTH',
    retryable: false,
    message: /anthropic\/claude-sonnet-5\.5 was refused.*: the key of the gateway is not valid.*in the settings/
  })
})

t.test('a rate limit may be tried again after the time the gateway names', async (t) => {
  const limit = (headers: Record<string, string>) =>
    failure(t, { error: { status: 429, type: 'rate_limit_exceeded', message: 'Slow down', headers } })
  t.match(await limit({ 'retry-after': '7' }), {
    code: 'ERR_PROVIDER_RATE_LIMIT',
    retryable: true,
    retryAfterMs: 7_000,
    message: /Slow down/
  })
  t.match(await limit({ 'retry-after-ms': '250', 'retry-after': '7' }), { retryAfterMs: 250 })
  const { retryAfterMs } = await limit({ 'retry-after': new Date(Date.now() + 30_000).toUTCString() })
  t.ok(retryAfterMs! > 20_000 && retryAfterMs! <= 30_000)
  t.equal((await limit({})).retryAfterMs, undefined)
})

t.test('an unknown model, a refused request, a forbidden one, no credit and a broken provider are told apart', async (t) => {
  const rows: Array<[NonNullable<Plan['error']>, object]> = [
    [{ status: 404, type: 'model_not_found', message: 'no such model', param: { modelId: ID } }, {
      code: 'ERR_MODEL_NOT_FOUND',
      retryable: false,
      message: /Choose another model in the settings/
    }],
    [{ status: 400, type: 'invalid_request_error', message: 'prompt too long' }, {
      code: 'ERR_PROVIDER_REQUEST',
      retryable: false,
      message: /prompt too long/
    }],
    [{ status: 403, type: 'forbidden', message: 'not allowed' }, { code: 'ERR_PROVIDER_FORBIDDEN', retryable: false }],
    [{ status: 402, type: 'insufficient_funds', message: 'no credit' }, { code: 'ERR_PROVIDER_CREDIT', retryable: false }],
    [{ status: 500, message: 'oh dear' }, { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true, message: /oh dear/ }],
    [{ status: 503, body: '<html>no</html>' }, { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true }],
    [{ status: 504, body: '' }, { code: 'ERR_PROVIDER_TIMEOUT', retryable: true }],
    [{ status: 418, body: '{"error":"teapot"}' }, { code: 'ERR_PROVIDER_REQUEST', retryable: false }]
  ]
  for (const [error, expected] of rows) t.match(await failure(t, { error }), expected, `${error.status}`)
})

t.test('a connection that breaks off, ends early or sends nonsense is told as such', async (t) => {
  t.match(await failure(t, { text: 'one two three four', ending: 'cut', after: 4 }), {
    code: 'ERR_PROVIDER_CONNECTION',
    retryable: true,
    message: /broke off/
  })
  t.match(await failure(t, { text: 'one two', ending: 'no-finish' }), { code: 'ERR_PROVIDER_CONNECTION', retryable: true })
  t.match(await failure(t, { text: 'one two', ending: 'invalid-json' }), { code: 'ERR_PROVIDER_RESPONSE', retryable: true })
  t.match(await failure(t, { ending: { error: { message: 'overloaded', type: 'rate_limit_exceeded' } } }), {
    code: 'ERR_PROVIDER_RATE_LIMIT'
  })
  t.match(await failure(t, { ending: { error: 'something odd' } }), { code: 'ERR_PROVIDER_FAILED', message: /something odd/ })
})

t.test('a gateway that is not there is told as such', async (t) => {
  const { registry, settings } = await setUp(t)
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  settings.baseURL = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
  await new Promise((resolve) => closed.close(resolve))
  t.match(await told(registry), {
    code: 'ERR_PROVIDER_UNREACHABLE',
    retryable: true,
    message: /^The provider of the model anthropic\/claude-sonnet-5\.5 cannot be reached.*ECONNREFUSED/
  })
})

t.test('a time-out is told apart from a stop', async (t) => {
  const later = (reason: unknown) => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(reason), 50)
    return stop.signal
  }
  t.match(await failure(t, { ending: 'stall', after: 1 }, { signal: later(new Aborted('timeout', 'silence')) }), {
    code: 'ERR_PROVIDER_TIMEOUT',
    retryable: true
  })
  t.match(await failure(t, { ending: 'stall', after: 1 }, { signal: later(new Aborted('stop')) }), {
    code: 'ERR_ABORTED',
    retryable: false
  })
})

t.test('a caller who leaves ends the call at the gateway', async (t) => {
  const { gateway, registry } = await setUp(t, { reply: () => ({ text: 'one two', ending: 'stall', after: 4 }) })
  const stop = new AbortController()
  const { model } = await registry.model(ID)
  const { stream } = await model.doStream({ prompt, abortSignal: stop.signal })
  await stream.getReader().read()
  stop.abort(new Aborted('client'))
  t.equal(await gateway.requests[0].ended, 'aborted')
})

t.test('no key is ever told, even when the gateway repeats it, and not an earlier one either', async (t) => {
  const { registry, settings } = await setUp(t, {
    reply: ({ headers }) => ({
      error: {
        status: 400,
        type: 'invalid_request_error',
        message: `Bad header ${headers.authorization}, was first-secret-key, and sk-abcdefghijklmnop`
      }
    })
  }, 'first-secret-key')
  await told(registry)
  settings.apiKey = KEY
  const { message } = await told(registry)
  t.notMatch(message, /testing-key|first-secret|abcdefgh/)
  t.match(message, /Bad header/)
})
