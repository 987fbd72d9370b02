import t from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import type { Provider } from '../../../../services/models/providers/provider.ts'
import { createGatewayProvider } from '../../../../services/models/providers/gateway.ts'
import { createOfflineProvider } from '../../../../services/models/providers/offline/index.ts'
import { reachOf } from '../../../../services/models/providers/reach.ts'
import { createRegistry, type ModelSettings } from '../../../../services/models/providers/registry.ts'

function setUp (settings: ModelSettings = {}, { key, ollama }: { key?: string, ollama?: boolean } = {}) {
  const state = { settings, key }
  const direct: Provider = {
    name: 'ollama',
    kind: 'direct',
    configured: () => ollama ?? false,
    defaultModel: 'ollama/llama3',
    reach: 'machine',
    listModels: async () => [],
    languageModel: async (id) => ({ modelId: id, provider: 'ollama' } as never)
  }
  const providers = [
    createOfflineProvider({ clock: systemClock, script: () => undefined }),
    direct,
    createGatewayProvider({ settings: () => ({ apiKey: state.key, baseURL: 'http://127.0.0.1:9' }) })
  ]
  const registry = createRegistry({
    providers: () => providers,
    settings: () => state.settings,
    clock: systemClock
  })
  return { registry, state }
}

t.test('an id is read by its first part: a provider of that name, or else the gateway', async (t) => {
  const { registry } = setUp()
  const parsed = (id: string) => {
    const { provider, model } = registry.parseModelId(id)
    return [provider.name, model]
  }
  t.strictSame(parsed('offline/assistant'), ['offline', 'assistant'])
  t.strictSame(parsed('ollama/library/llama3:8b'), ['ollama', 'library/llama3:8b'])
  t.strictSame(parsed('cloud/@org/..model:v1.0+ü~x'), ['gateway', 'cloud/@org/..model:v1.0+ü~x'])
  t.strictSame(parsed('anthropic/claude-sonnet-5.5'), ['gateway', 'anthropic/claude-sonnet-5.5'])
  t.strictSame(parsed('gateway/anthropic/claude-sonnet-5.5'), ['gateway', 'anthropic/claude-sonnet-5.5'])
})

t.test('an id of another form, or of an unknown offline model, is refused with what would be right', async (t) => {
  const { registry } = setUp()
  for (const id of [
    '',
    'claude',
    '/x',
    'x/',
    'a b/c',
    'a/b c',
    'x/\n',
    'x/y\0',
    'x/\ud800',
    '../x/y',
    'x/../y',
    'x/y/..',
    'x/%2e%2e/y',
    'x/..\\y',
    'x/y?z',
    `a/${'b'.repeat(300)}`
  ]) {
    t.throws(
      () => registry.parseModelId(id),
      { code: 'ERR_INVALID_MODEL', message: /<provider>\/<model>/ },
      JSON.stringify(id)
    )
  }
  t.throws(() => registry.parseModelId('offline/gpt'), { code: 'ERR_INVALID_MODEL', message: /offline\/assistant and offline\/scripted/ })
  await t.rejects(registry.model('claude'), { code: 'ERR_INVALID_MODEL' })
})

t.test('the offline assistant is active until there is a key, then the capable default, and always what was chosen', async (t) => {
  const { registry, state } = setUp()
  t.equal(registry.active(), 'offline/assistant')
  t.notOk(registry.gatewayConfigured())
  state.key = 'a-key'
  t.equal(registry.active(), 'anthropic/claude-sonnet-5.5')
  t.ok(registry.gatewayConfigured())
  state.settings = { model: 'openai/gpt-6-sol' }
  t.equal(registry.active(), 'openai/gpt-6-sol')
})

t.test('roles have their defaults with a key, and are the active model without', async (t) => {
  const { registry, state } = setUp()
  t.strictSame(registry.roles(), { fast: 'offline/assistant', capable: 'offline/assistant', vision: 'offline/assistant' })
  state.key = 'a-key'
  t.strictSame(registry.roles(), {
    fast: 'anthropic/claude-haiku-5.5',
    capable: 'anthropic/claude-sonnet-5.5',
    vision: 'anthropic/claude-sonnet-5.5'
  })
  state.settings = { model: 'openai/gpt-6-sol' }
  t.strictSame(registry.roles(), {
    fast: 'anthropic/claude-haiku-5.5',
    capable: 'openai/gpt-6-sol',
    vision: 'anthropic/claude-sonnet-5.5'
  }, 'the gateway serves them all')
  state.settings = { model: 'openai/gpt-6-sol', models: { fast: 'offline/assistant', vision: 'google/gemini-4-carbon' } }
  t.strictSame(registry.roles(), { fast: 'offline/assistant', capable: 'openai/gpt-6-sol', vision: 'google/gemini-4-carbon' })
})

t.test('a role whose provider is not configured, or whose id is none, is the active model', async (t) => {
  const { registry } = setUp({ models: { fast: 'ollama/llama3', vision: 'nonsense' } }, { key: 'a-key' })
  t.strictSame(registry.roles(), {
    fast: 'anthropic/claude-sonnet-5.5',
    capable: 'anthropic/claude-sonnet-5.5',
    vision: 'anthropic/claude-sonnet-5.5'
  })
})

t.test('who chooses an offline model stays offline, even with a key', async (t) => {
  const { registry, state } = setUp({ model: 'offline/scripted' }, { key: 'a-key' })
  t.strictSame(registry.roles(), { fast: 'offline/scripted', capable: 'offline/scripted', vision: 'offline/scripted' })
  state.settings = { model: 'offline/scripted', models: { fast: 'anthropic/claude-haiku-5.5' } }
  t.equal(registry.roles().fast, 'anthropic/claude-haiku-5.5')
})

t.test('a role for which nobody chose a model stays with a server of the user', async (t) => {
  const { registry, state } = setUp({ model: 'ollama/llama3' }, { key: 'a-key', ollama: true })
  const own = { fast: 'ollama/llama3', capable: 'ollama/llama3', vision: 'ollama/llama3' }
  t.strictSame(registry.roles(), own)
  state.settings = { model: 'anthropic/claude-sonnet-5.5' }
  t.strictSame(registry.forRun({ model: 'ollama/llama3' }).roles(), own, 'also the model of one run')
  state.settings = { model: 'ollama/llama3', models: { fast: 'anthropic/claude-haiku-5.5' } }
  t.strictSame(registry.roles(), { ...own, fast: 'anthropic/claude-haiku-5.5' }, 'a choice is a choice')
})

t.test('where a server is, its address says', async (t) => {
  const address = {
    machine: [
      'http://127.0.0.1:11434/v1',
      'http://localhost:1234',
      'http://[::1]:80',
      'http://llm.localhost/v1',
      'http://[::ffff:127.0.0.1]:1'
    ],
    network: [
      'http://192.168.1.20:11434/v1',
      'http://10.1.2.3',
      'https://172.31.0.1/v1',
      'http://[fd00::1]:8000',
      'http://100.100.1.1',
      'http://nas:11434',
      'https://gpu.local/v1',
      'https://box.home.arpa'
    ],
    cloud: [
      'https://api.openai.com/v1',
      'http://8.8.8.8',
      'http://172.32.0.1',
      'https://localhost.example.com',
      'https://[2606:4700::1]',
      'no address'
    ]
  }
  for (const [reach, all] of Object.entries(address)) for (const each of all) t.equal(reachOf(each), reach, each)
})

t.test('a model is opened by role or by id', async (t) => {
  const { registry } = setUp({ models: { fast: 'ollama/llama3' } }, { ollama: true })
  t.match(await registry.model('fast'), { id: 'ollama/llama3', model: { modelId: 'llama3' } })
  t.match(await registry.model('capable'), { id: 'offline/assistant', model: { provider: 'offline', modelId: 'assistant' } })
  t.match(await registry.model('ollama/other'), { id: 'ollama/other', model: { modelId: 'other' } })
})

t.test('a gateway model without a key is warned of, and fails with what to do', async (t) => {
  const { registry, state } = setUp({ model: 'anthropic/claude-sonnet-5.5' })
  t.match(registry.warning('anthropic/claude-sonnet-5.5'), /cannot be used yet.*in the settings/)
  t.match(registry.warning('ollama/llama3'), /ollama is not configured/)
  t.equal(registry.warning('offline/assistant'), undefined)
  await t.rejects(registry.model('capable'), {
    code: 'ERR_PROVIDER_NOT_CONFIGURED',
    message: /in the settings/
  })
  const failed = await registry.model('capable').catch((error) => registry.describeFailure(error, registry.active()))
  t.match(failed, { code: 'ERR_PROVIDER_NOT_CONFIGURED', retryable: false, message: /anthropic\/claude-sonnet-5\.5.*in the settings/ })
  state.key = 'a-key'
  t.equal(registry.warning('anthropic/claude-sonnet-5.5'), undefined)
})

t.test('the fallback follows the active model, unless it is that model or cannot be used', async (t) => {
  const { registry, state } = setUp({ models: { fallback: 'offline/assistant' } }, { key: 'a-key' })
  t.strictSame(registry.candidates('capable'), ['anthropic/claude-sonnet-5.5', 'offline/assistant'])
  t.strictSame(registry.fallbacks(), ['offline/assistant'])
  state.key = undefined
  t.strictSame(registry.candidates('capable'), ['offline/assistant'])
  state.settings = { models: { fallback: 'ollama/llama3' } }
  t.strictSame(registry.fallbacks(), [])
})

t.test('providers are listed with their default models and whether they can be used', async (t) => {
  const { registry } = setUp()
  t.strictSame(registry.list(), [
    { name: 'offline', default_model: 'offline/assistant', kind: 'offline', configured: true },
    { name: 'ollama', default_model: 'ollama/llama3', kind: 'direct', configured: false },
    { name: 'gateway', default_model: 'anthropic/claude-sonnet-5.5', kind: 'gateway', configured: false }
  ])
})

t.test('anything that is thrown is described', async (t) => {
  const { registry } = setUp()
  for (
    const thrown of [undefined, null, 'text', 7, {}, new Error('odd'), Object.assign(new Error('a'), { cause: 'b' }), {
      lastError: { statusCode: 500 }
    }, { type: 'constructor' }]
  ) {
    t.match(registry.describeFailure(thrown, 'a/b'), { message: /a\/b/, code: /^ERR_/, retryable: Boolean })
  }
  t.match(registry.describeFailure(Object.assign(new Error('gone'), { code: 'ECONNRESET' }), 'a/b'), {
    code: 'ERR_PROVIDER_CONNECTION',
    retryable: true
  })
  const circle = new Error('round')
  circle.cause = circle
  t.match(registry.describeFailure(circle, 'a/b'), { message: /round/ })
})

t.test('however much a provider says, and whatever of, it is described in little time', async (t) => {
  const { registry } = setUp()
  for (const words of ['.', ' ', 'a. ', 'input token count ', 'input length and ', 'Bearer ', 'sk-', 'retry after 1']) {
    const { message } = registry.describeFailure(new Error(`${words.repeat(2_000_000 / words.length)}!`), 'a/b')
    t.ok(message.length < 600, message.slice(0, 100))
  }
})
