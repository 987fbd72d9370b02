import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { failureOf, isFailure } from '../../../../services/models/providers/check-part.ts'
import { createDirectProvider, type DirectSettings } from '../../../../services/models/providers/direct.ts'
import { createGatewayProvider } from '../../../../services/models/providers/gateway.ts'
import { createRegistry } from '../../../../services/models/providers/registry.ts'
import { selfSigned } from '../../../fakes/certificate.ts'
import { startFakeOpenAI, type FakeOpenAIOptions, type Plan } from '../../../fakes/openai.ts'

const ID = 'ollama/llama3'
const variable = (name: string) => `\${${name}}`
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]

async function setUp (
  t: Test,
  options: FakeOpenAIOptions = {},
  more: Partial<DirectSettings> = {},
  variables: Record<string, string> = {}
) {
  const server = await startFakeOpenAI(options)
  t.teardown(() => server.close())
  const state: { settings: DirectSettings | undefined } = { settings: { baseURL: server.url, ...more } }
  const provider = createDirectProvider({ name: 'ollama', settings: () => state.settings, variables })
  const gateway = createGatewayProvider({ settings: () => ({}) })
  const registry = createRegistry({
    providers: () => state.settings ? [provider, gateway] : [gateway],
    settings: () => ({ model: ID }),
    clock: systemClock
  })
  return { server, state, provider, registry }
}

/** What is told of a call that fails, before or in its stream. */
async function told (registry: ReturnType<typeof createRegistry>) {
  try {
    const { model } = await registry.model(ID)
    const { stream } = await model.doStream({ prompt })
    for await (const part of stream) if (isFailure(part)) throw failureOf(part)
  } catch (error) {
    return registry.describeFailure(error, ID)
  }
  throw new Error('The call did not fail')
}
const failure = async (t: Test, plan: Plan, options: FakeOpenAIOptions = {}, more: Partial<DirectSettings> = {}) =>
  told((await setUp(t, { reply: () => plan, ...options }, more)).registry)
const failedWith = (t: Test, error: NonNullable<Plan['error']>) => failure(t, { error })

t.test('a key may be a variable of the environment, without which nothing is sent', async (t) => {
  const variables: Record<string, string> = { THE_KEY: 'from-the-environment' }
  const { server, provider, registry } = await setUp(t, {}, { apiKey: variable('THE_KEY') }, variables)
  await (await provider.languageModel('llama3')).doGenerate({ prompt })
  t.equal(server.calls[0].headers.authorization, 'Bearer from-the-environment')
  t.strictSame(provider.secrets!(), ['from-the-environment'])
  for (const unset of ['', undefined]) {
    variables.THE_KEY = unset as string
    t.notOk(provider.configured())
    t.match(registry.warning(ID), /environment variable THE_KEY, which is not set/)
    t.match(await told(registry), { code: 'ERR_PROVIDER_NOT_CONFIGURED', retryable: false, message: /ollama\/llama3.*THE_KEY/ })
    await t.rejects(provider.listModels(AbortSignal.timeout(1_000)), /THE_KEY/)
  }
  t.equal(server.requests.length, 1)
})

t.test('without a key no header is sent; slashes at the end of the address do not matter', async (t) => {
  const { server, state, provider } = await setUp(t)
  state.settings!.baseURL += '//'
  await (await provider.languageModel('llama3')).doGenerate({ prompt })
  await provider.listModels(AbortSignal.timeout(1_000))
  for (const { headers } of server.requests) t.equal(headers.authorization, undefined)
  t.strictSame(server.requests.map(({ path }) => path), ['/v1/chat/completions', '/v1/models'])
})

t.test('a provider that is taken out of the configuration says so', async (t) => {
  const { state, provider } = await setUp(t)
  state.settings = undefined
  t.notOk(provider.configured())
  await t.rejects(provider.languageModel('llama3'), { code: 'ERR_PROVIDER_NOT_CONFIGURED', message: /no provider "ollama" any more/ })
})

t.test('the list says what servers tell of their models, in any of the usual shapes', async (t) => {
  const { provider } = await setUp(t, {
    models: [
      { id: 'llama3' },
      { id: 'openrouter', name: 'From OpenRouter', context_length: 8_192, pricing: { prompt: '0.1', completion: '0.2' } },
      { id: 'vllm', max_model_len: 4_096, pricing: { input: 3 } },
      { id: 'llamacpp', meta: { n_ctx_train: 2_048 }, context_length: 'large' },
      { id: 'nomic', type: 'embedding' },
      { id: 'two words' },
      { id: 7 },
      null as never,
      { id: 'x'.repeat(300) }
    ]
  })
  t.strictSame(await provider.listModels(AbortSignal.timeout(1_000)), [
    { id: ID, name: 'llama3', provider: 'ollama' },
    {
      id: 'ollama/openrouter',
      name: 'From OpenRouter',
      provider: 'ollama',
      contextWindow: 8_192,
      pricing: { input: '0.1', output: '0.2' }
    },
    { id: 'ollama/vllm', name: 'vllm', provider: 'ollama', contextWindow: 4_096 },
    { id: 'ollama/llamacpp', name: 'llamacpp', provider: 'ollama', contextWindow: 2_048 }
  ])
  t.equal(provider.defaultModel, ID, 'the first one is the default')
  for (const body of ['[{"id":"bare"}]', '{"models":[{"id":"bare"}]}']) {
    const other = await setUp(t, { listing: () => ({ error: { status: 200, body } }) })
    t.match(await other.provider.listModels(AbortSignal.timeout(1_000)), [{ id: 'ollama/bare' }])
  }
})

t.test('models that are named in the configuration are the list, and nobody is asked', async (t) => {
  const { server, provider } = await setUp(t, {}, { models: ['b', 'a'] })
  t.strictSame((await provider.listModels(AbortSignal.timeout(1_000))).map(({ id }) => id), ['ollama/b', 'ollama/a'])
  t.equal(provider.defaultModel, 'ollama/b')
  t.equal(server.requests.length, 0)
})

t.test('a wrong key, and one that is missing, are told apart, with where to set it', async (t) => {
  t.match(await failure(t, {}, { apiKey: 'right' }, { apiKey: 'wrong-key' }), {
    code: 'ERR_PROVIDER_AUTH',
    retryable: false,
    message: /^The model ollama\/llama3 was refused.*: the key is not valid.*in the settings/
  })
  t.match(await failure(t, {}, { apiKey: 'right' }), { code: 'ERR_PROVIDER_AUTH', message: /it needs a key.*in the settings/ })
})

t.test('what a server says is told apart by what can be done about it', async (t) => {
  t.match(await failedWith(t, { status: 404, message: 'model not found' }), {
    code: 'ERR_MODEL_NOT_FOUND',
    retryable: false,
    message: /does not know the model ollama\/llama3 .*address of ollama/
  })
  t.match(await failedWith(t, { status: 429, message: 'slow down', headers: { 'retry-after': '3' } }), {
    code: 'ERR_PROVIDER_RATE_LIMIT',
    retryable: true,
    retryAfterMs: 3_000,
    message: /slow down/
  })
  t.match(await failedWith(t, { status: 429, type: 'insufficient_quota', message: 'no money' }), {
    code: 'ERR_PROVIDER_CREDIT',
    retryable: false
  })
  t.match(await failedWith(t, { status: 400, message: 'no such parameter' }), {
    code: 'ERR_PROVIDER_REQUEST',
    retryable: false,
    message: /no such parameter/
  })
  t.match(await failedWith(t, { status: 400, message: 'too many tokens' }), {
    code: 'ERR_CONTEXT_TOO_LONG',
    retryable: false,
    message: /too many tokens/
  })
  const tooMany = [
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 232 instead.",
    'tools: List should have at most 128 items after validation, not 232',
    "'tools' : maximum number of items is 128",
    'Maximum tools limit reached: 200',
    'The number of function declarations exceeds the maximum of 128 function declarations'
  ]
  for (const message of tooMany) {
    t.match(await failedWith(t, { status: 400, message }), {
      code: 'ERR_TOO_MANY_TOOLS',
      message: /takes fewer tools than the call described \(.*options\.denyTools/
    })
  }
  for (const message of ["Invalid 'tools[0].function.name': string too long. Expected at most 64", 'tools.3.name: at most 128']) {
    t.match(await failedWith(t, { status: 400, message }), { code: 'ERR_PROVIDER_REQUEST' })
  }
  t.match(await failedWith(t, { status: 500, message: 'oh dear' }), {
    code: 'ERR_PROVIDER_UNAVAILABLE',
    retryable: true,
    message: /oh dear/
  })
  t.match(await failedWith(t, { status: 503, body: '<html>down for maintenance</html>' }), {
    code: 'ERR_PROVIDER_UNAVAILABLE',
    retryable: true
  })
})

t.test('an error inside a stream is told like one before it', async (t) => {
  const inside = (error: object) => failure(t, { parts: [{ choices: [] }, { error }] })
  t.match(await inside({ message: 'too busy', type: 'rate_limit_exceeded' }), { code: 'ERR_PROVIDER_RATE_LIMIT', message: /too busy/ })
  t.match(await inside({ message: 'upstream gone', code: 502 }), { code: 'ERR_PROVIDER_UNAVAILABLE', message: /upstream gone/ })
  t.match(await inside({ message: 'oh dear', type: 'server_error' }), { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true })
})

t.test('an answer that breaks off or makes no sense is told as such', async (t) => {
  t.match(await failure(t, { text: 'one two', ending: 'cut', after: 2 }), { code: 'ERR_PROVIDER_CONNECTION', retryable: true })
  t.match(await failure(t, { text: 'one two', ending: 'no-finish' }), { code: 'ERR_PROVIDER_CONNECTION', retryable: true })
  t.match(await failure(t, { text: 'one two', ending: 'invalid-json' }), { code: 'ERR_PROVIDER_RESPONSE', retryable: true })
})

t.test('a server that is down, has no such name, shows a strange certificate or speaks no TLS is told as such', async (t) => {
  const at = async (baseURL: string) => {
    const { registry, state } = await setUp(t)
    state.settings = { baseURL }
    return told(registry)
  }
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  t.match(await at(`http://127.0.0.1:${port}/v1`), {
    code: 'ERR_PROVIDER_UNREACHABLE',
    retryable: true,
    message: /ECONNREFUSED.*whether the server runs.*address of ollama/
  })
  t.match(await at('http://nowhere.invalid/v1'), { code: 'ERR_PROVIDER_UNREACHABLE', message: /nowhere\.invalid/ })
  const plain = await startFakeOpenAI()
  t.teardown(() => plain.close())
  const untrusted = await startFakeOpenAI({ tls: selfSigned })
  t.teardown(() => untrusted.close())
  t.match(await at(untrusted.url), { code: 'ERR_PROVIDER_CERTIFICATE', retryable: false, message: /self-signed.*NODE_EXTRA_CA_CERTS/ })
  t.match(await at(plain.url.replace('http:', 'https:')), {
    code: 'ERR_PROVIDER_TLS',
    retryable: false,
    message: /begins with http or https/
  })
})

t.test('no key is ever told, even when the server repeats it, and not an earlier one either', async (t) => {
  const { registry, state } = await setUp(t, {
    reply: ({ headers }) => ({
      error: { status: 400, message: `Bad header ${headers.authorization}, was first secret-key and sk-abcdefghijklmnop` }
    })
  }, { apiKey: 'first secret-key' })
  await told(registry)
  state.settings!.apiKey = 'ollama'
  const { message } = await told(registry)
  t.notMatch(message, /first secret|abcdefgh|header Bearer ollama/)
  t.match(message, /ollama\/llama3.*Bad header/, 'a key that is none stays readable as a name')
  state.settings = undefined
  t.notMatch(registry.describeFailure(new Error('first secret-key'), 'test/other').message, /first secret/, 'nor when the provider is gone')
})
