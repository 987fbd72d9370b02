import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { createDirectProvider, type DirectSettings } from '../../../../services/models/providers/direct.ts'
import { createRegistry, type ModelSettings } from '../../../../services/models/providers/registry.ts'
import { askStructured } from '../../../../services/models/structured-call.ts'
import type { Plan } from '../../../fakes/gateway.ts'
import { type ModelServerOptions, type ServerRequest, startModelServer } from '../../../fakes/model-server.ts'
import { chatWire } from '../../../fakes/openai-wire.ts'
import { unmetered } from '../../../harness/meter.ts'
import { NATIVE_WIRES, type NativeWire } from '../../../harness/native-wires.ts'
import { failureTold } from '../../../harness/remote-providers.ts'

const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
const SYSTEM_AND_TASK: LanguageModelV4Prompt = [
  { role: 'system', content: 'Be brief.' },
  { role: 'system', content: 'It is Monday.' },
  user('go'),
  user('now')
]
const LOOK = { type: 'function' as const, name: 'look', inputSchema: { type: 'object' as const, properties: {} } }
const native = (kind: string) => NATIVE_WIRES.find((each) => each.kind === kind)!

async function setUp (
  t: Test,
  { kind, wire, model }: NativeWire,
  reply: (request: ServerRequest, nth: number) => Plan | undefined,
  settings: ModelSettings = {},
  options: ModelServerOptions = {}
) {
  let calls = 0
  const server = await startModelServer(wire, { reply: (request) => reply(request, calls++), ...options })
  t.teardown(() => server.close())
  const entry: DirectSettings = { kind, baseURL: server.url, apiKey: 'a-key' }
  const provider = createDirectProvider({ name: kind, settings: () => entry, variables: {} })
  const registry = createRegistry({ providers: () => [provider], settings: () => settings, clock: systemClock })
  return {
    server,
    entry,
    provider,
    id: `${kind}/${model}`,
    load: async (name = model) => (await registry.model(`${kind}/${name}`)).model,
    async parts (prompt: LanguageModelV4Prompt, name = model) {
      const { model: opened } = await registry.model(`${kind}/${name}`)
      const parts: LanguageModelV4StreamPart[] = []
      for await (const part of (await opened.doStream({ prompt })).stream) parts.push(part)
      return parts
    }
  }
}

for (const wire of NATIVE_WIRES) {
  const { kind } = wire

  t.test(`${kind}: the list of models gives usable ids and sizes; names of the configuration replace it`, async (t) => {
    const { provider, entry, server } = await setUp(t, wire, () => undefined, {}, {
      models: {
        openai: [
          { id: 'gpt-6-sol' },
          { id: 'o3' },
          { id: 'text-embedding-3-large' },
          { id: 'gpt-4o-realtime-preview' },
          { id: 'dall-e-3' }
        ],
        anthropic: [{ type: 'model', id: 'claude-sonnet-5-5', display_name: 'Claude Sonnet 5.5', max_input_tokens: 1_000_000 }, { id: 7 }],
        google: [
          {
            name: 'models/gemini-3.8-flash',
            displayName: 'Gemini 3.8 Flash',
            inputTokenLimit: 1_048_576,
            supportedGenerationMethods: ['generateContent']
          },
          { name: 'models/gemini-embedding-001', supportedGenerationMethods: ['embedContent'] }
        ]
      }[kind as 'openai']
    })
    const expected = {
      openai: [{ id: 'openai/gpt-6-sol', name: 'gpt-6-sol', provider: 'openai' }, { id: 'openai/o3', name: 'o3', provider: 'openai' }],
      anthropic: [{ id: 'anthropic/claude-sonnet-5-5', name: 'Claude Sonnet 5.5', provider: 'anthropic', contextWindow: 1_000_000 }],
      google: [{ id: 'google/gemini-3.8-flash', name: 'Gemini 3.8 Flash', provider: 'google', contextWindow: 1_048_576 }]
    }[kind as 'openai']
    t.strictSame(await provider.listModels(AbortSignal.timeout(5_000)), expected)
    entry.models = ['mine']
    t.strictSame(await provider.listModels(AbortSignal.timeout(5_000)), [{ id: `${kind}/mine`, name: 'mine', provider: kind }])
    t.equal(provider.defaultModel, `${kind}/mine`)
    t.equal(server.requests.length, 1)
  })

  t.test(`${kind}: what was attached for another account is left out when the provider refuses it`, async (t) => {
    const foreign = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'foreign' }, anthropic: { signature: 'foreign' } }
    const refusal = { openai: 'The encrypted content foreign could not be verified.', anthropic: 'Invalid `signature` in `thinking` block' }
    const message = refusal[kind as 'openai'] ?? 'Invalid thought_signature: foreign'
    const { server, parts } = await setUp(t, wire, ({ body }) =>
      JSON.stringify(body).includes('foreign') ? { error: { status: 400, type: 'invalid_request_error', message } } : { text: 'ok' })
    const providerOptions = kind === 'google' ? { google: { thoughtSignature: 'foreign' } } : foreign
    const all = await parts([
      user('go'),
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: 'hm', providerOptions }, { type: 'text', text: 'Well.', providerOptions }]
      },
      user('and?')
    ])
    t.equal(all.at(-1)?.type, 'finish')
    t.equal(server.calls.length, 2)
    t.match(JSON.stringify(server.calls[1].body), 'Well.')
    t.notMatch(JSON.stringify(server.calls[1].body), 'hm')
  })
}

t.test('nothing is stored at OpenAI; reasoning comes encrypted instead, from models that are known or said to reason', async (t) => {
  const included = async (name: string, settings: ModelSettings = {}) => {
    const { server, parts } = await setUp(t, native('openai'), () => ({ text: 'ok' }), settings)
    await parts([user('go')], name)
    t.equal(server.calls[0].body.store, false)
    return server.calls[0].body.include
  }
  t.strictSame(await included('gpt-6-sol'), ['reasoning.encrypted_content'])
  t.strictSame(await included('in-house'), undefined)
  t.strictSame(await included('in-house', { providerOptions: { openai: { forceReasoning: true } } }), ['reasoning.encrypted_content'])
})

t.test("Anthropic's models are called by its own names for them, and told to drop thinking that no longer fits", async (t) => {
  const { server, parts } = await setUp(t, native('anthropic'), () => ({ text: 'ok' }))
  for (const name of ['claude-sonnet-5.5', 'claude-sonnet-5-5', 'claude-3.5-haiku-20241022']) await parts([user('go')], name)
  t.same(server.calls.map(({ modelId }) => modelId), ['claude-sonnet-5-5', 'claude-sonnet-5-5', 'claude-3-5-haiku-20241022'])
  t.same(server.calls.map(({ body }) => body.thinking?.block_binding?.prefix_mismatch_behavior), ['drop_block', 'drop_block', undefined])
})

t.test('Anthropic gets several system messages with a mark behind the first, and a free choice of tools also in the last ' +
  'call', async (t) => {
  const { server, load } = await setUp(t, native('anthropic'), () => ({ text: 'ok' }))
  const model = await load()
  await model.doGenerate({ prompt: SYSTEM_AND_TASK, tools: [LOOK], toolChoice: { type: 'none' } })
  const [{ body }] = server.calls
  t.match(body.system, [{ text: 'Be brief.', cache_control: { type: 'ephemeral' } }, { text: 'It is Monday.', cache_control: undefined }])
  t.match(body.tool_choice, { type: 'auto' })
  t.equal(body.tools.length, 1)
})

t.test('other APIs get one system message, and are told that no tool may be called', async (t) => {
  for (const wire of [
    ...NATIVE_WIRES.filter(({ kind }) => kind !== 'anthropic'),
    { ...native('openai'), kind: 'openai-compatible' as const, wire: chatWire }
  ]) {
    const { server, load } = await setUp(t, wire, () => ({ text: 'ok' }))
    const model = await load()
    await model.doGenerate({ prompt: SYSTEM_AND_TASK, tools: [LOOK], toolChoice: { type: 'none' } })
    const sent = JSON.stringify(server.calls[0].body)
    t.match(sent, 'Be brief.\\n\\nIt is Monday.', wire.kind)
    t.match(sent, /"(?:tool_choice":"none|mode":"NONE)"/, wire.kind)
  }
})

t.test('Anthropic is told to cache the system prompt and the last two messages, but not a structured call', async (t) => {
  const { server, load } = await setUp(t, native('anthropic'), () => ({ text: '{}' }))
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: 'Be brief.' }, user('one')]
  for (const text of ['two', 'three']) prompt.push({ role: 'assistant', content: [{ type: 'text', text }] }, user(`${text}?`))
  const model = await load()
  await model.doGenerate({ prompt })
  await model.doGenerate({ prompt, responseFormat: { type: 'json', schema: { type: 'object' } } })
  const [{ body }, structured] = server.calls
  t.match(body.system.at(-1), { cache_control: { type: 'ephemeral' } })
  t.same(
    body.messages.map(({ content }: any) => content.at(-1).cache_control?.type),
    [undefined, undefined, undefined, 'ephemeral', 'ephemeral']
  )
  t.notMatch(JSON.stringify(structured.body), 'cache_control')
})

t.test('options of the configuration reach the provider, but none for reasoning in calls that ask for none', async (t) => {
  const providerOptions = {
    anthropic: { effort: 'high', metadata: { userId: 'me' } },
    openai: { reasoningEffort: 'high', store: true, serviceTier: 'flex' },
    google: { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true }, threshold: 'BLOCK_NONE' }
  }
  const sent = async (kind: string) => {
    const { server, load } = await setUp(t, native(kind), () => ({ text: '{}' }), { providerOptions })
    const model = await load()
    await model.doGenerate({ prompt: [user('go')] })
    await model.doGenerate({ prompt: [user('go')], reasoning: 'none' })
    return server.calls.map(({ body }) => body)
  }
  const anthropic = await sent('anthropic')
  t.match(anthropic[0], { output_config: { effort: 'high' }, metadata: { user_id: 'me' } })
  t.match(anthropic[1], { metadata: { user_id: 'me' }, thinking: { type: 'between_tools' }, output_config: undefined })
  const openai = await sent('openai')
  t.match(openai[0], { reasoning: { effort: 'high' }, store: true, service_tier: 'flex' })
  t.match(openai[1], { reasoning: { effort: 'none' }, store: true, service_tier: 'flex' })
  const google = await sent('google')
  t.match(google[0].generationConfig.thinkingConfig, { thinkingLevel: 'high', includeThoughts: true })
  t.notOk(google[1].generationConfig.thinkingConfig?.includeThoughts)
  for (const body of google) t.ok(body.safetySettings.length > 0)
})

t.test('the effort of a call comes before the configured one; other settings for reasoning stay', async (t) => {
  const providerOptions = {
    anthropic: { effort: 'high', thinking: { type: 'adaptive', display: 'omitted' } },
    openai: { reasoningEffort: 'high', reasoningSummary: 'detailed' },
    google: { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } }
  }
  const sent = async (kind: string, options: ModelSettings['providerOptions'], name?: string) => {
    const { server, load } = await setUp(t, native(kind), () => ({ text: 'ok' }), { providerOptions: options })
    await (await load(name)).doGenerate({ prompt: [user('go')], reasoning: 'low' })
    return server.calls[0].body
  }
  t.match(await sent('anthropic', providerOptions), {
    output_config: { effort: 'low' },
    thinking: { type: 'adaptive', display: 'omitted' }
  })
  t.match(await sent('openai', providerOptions), { reasoning: { effort: 'low', summary: 'detailed' } })
  t.match((await sent('google', providerOptions)).generationConfig.thinkingConfig, { thinkingLevel: 'low', includeThoughts: true })
  const disabled = { anthropic: { thinking: { type: 'disabled' } } }
  t.match(
    await sent('anthropic', disabled, 'claude-haiku-5-5'),
    { thinking: { type: /adaptive|enabled/ } },
    'thinking that is switched off'
  )
})

t.test('structured calls ask for no reasoning, and do without where the model has no such setting', async (t) => {
  const schema = Type.Object({ word: Type.String() })
  const ask = (load: () => Promise<any>) =>
    askStructured({
      load: async () => ({ id: 'test/model', model: await load() }),
      meter: unmetered,
      name: 'answer',
      asked: schema,
      read: (answer) => JSON.parse(answer),
      instructions: 'Answer.',
      text: 'go',
      mostTokens: 100,
      limitMs: 10_000,
      signal: new AbortController().signal,
      clock: systemClock
    })
  const refuses = (what: RegExp, message: string) => ({ body }: ServerRequest): Plan =>
    what.test(JSON.stringify(body)) ? { error: { status: 400, type: 'invalid_request_error', message } } : { object: { word: 'yes' } }

  const anthropic = await setUp(t, native('anthropic'), () => ({ object: { word: 'yes' } }))
  t.same(await ask(() => anthropic.load('claude-haiku-5-5')), { value: { word: 'yes' } })
  t.match(anthropic.server.calls[0].body.thinking, { type: 'disabled' })

  const google = await setUp(t, native('google'), () => ({ object: { word: 'yes' } }))
  t.same(await ask(() => google.load('gemini-2.5-flash')), { value: { word: 'yes' } })
  t.match(google.server.calls[0].body.generationConfig.thinkingConfig, { thinkingBudget: 0 })

  const message = "Unsupported value: 'reasoning.effort' does not support 'none' with this model."
  const openai = await setUp(t, native('openai'), refuses(/"effort":"none"/, message))
  t.same(await ask(() => openai.load('o3')), { value: { word: 'yes' } })
  t.same(openai.server.calls.map(({ body }) => body.reasoning?.effort), ['none', undefined])

  const local = await setUp(
    t,
    { ...native('openai'), kind: 'openai-compatible', wire: chatWire },
    refuses(/reasoning_effort/, 'Unrecognized request argument supplied: reasoning_effort')
  )
  t.same(await ask(() => local.load('small')), { value: { word: 'yes' } })
  t.same(await ask(() => local.load('small')), { value: { word: 'yes' } })
  t.same(local.server.calls.map(({ body }) => body.reasoning_effort), ['none', undefined, undefined], 'it is remembered')
})

async function setUpFailing (
  t: Test,
  { kind, wire, model }: NativeWire,
  options: ModelServerOptions = {},
  more: Partial<DirectSettings> = {}
) {
  const server = await startModelServer(wire, options)
  t.teardown(() => server.close())
  const settings: DirectSettings = { kind, baseURL: server.url, apiKey: 'secret-key-1', ...more }
  const provider = createDirectProvider({ name: kind, settings: () => settings, variables: {} })
  const registry = createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
  return { server, settings, provider, registry, id: `${kind}/${model}` }
}

for (const native of NATIVE_WIRES) {
  const { kind } = native

  t.test(`${kind}: without a key nothing is sent to the maker, whatever the environment holds`, async (t) => {
    const there = await setUpFailing(t, native)
    const variables = ['OPENAI', 'ANTHROPIC', 'GOOGLE_GENERATIVE_AI'].flatMap((name) => [`${name}_API_KEY`, `${name}_BASE_URL`])
    for (const name of variables) process.env[name] = name.endsWith('KEY') ? 'from-the-environment' : there.server.url
    t.teardown(() => {
      for (const name of variables) delete process.env[name]
    })
    delete there.settings.apiKey
    delete there.settings.baseURL
    t.notOk(there.provider.configured())
    t.match(await failureTold(there), {
      code: 'ERR_PROVIDER_NOT_CONFIGURED',
      message: /it has no key\. Give it one in the settings/
    })
    t.equal(there.server.requests.length, 0)

    there.settings.baseURL = there.server.url
    await failureTold(there).catch(() => {})
    t.notMatch(JSON.stringify(there.server.calls.map(({ headers }) => headers)), 'from-the-environment')
  })
}

t.test('the sentences of each provider about credit, keys and load are understood', async (t) => {
  const says = async (kind: string, error: NonNullable<Plan['error']>) =>
    failureTold(await setUpFailing(t, NATIVE_WIRES.find((native) => native.kind === kind)!, { reply: () => ({ error }) }))
  t.match(
    await says('anthropic', {
      status: 400,
      type: 'invalid_request_error',
      message: 'Your credit balance is too low to access the Anthropic API.'
    }),
    { code: 'ERR_PROVIDER_CREDIT', retryable: false }
  )
  t.match(await says('openai', { status: 429, type: 'insufficient_quota', message: 'You exceeded your current quota' }), {
    code: 'ERR_PROVIDER_CREDIT',
    retryable: false
  })
  t.match(await says('google', { status: 400, message: 'API key not valid. Please pass a valid API key.' }), { code: 'ERR_PROVIDER_AUTH' })
  t.match(
    await says('google', {
      status: 429,
      message: 'Quota exceeded',
      param: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }]
    }),
    { code: 'ERR_PROVIDER_RATE_LIMIT', retryAfterMs: 34_500 }
  )
  t.match(await says('anthropic', { status: 529, type: 'overloaded_error', message: 'Overloaded' }), {
    code: 'ERR_PROVIDER_UNAVAILABLE',
    retryable: true
  })
})

t.test('an error event inside a stream is told like one before it', async (t) => {
  const inside = async (kind: string, parts: unknown[]) =>
    failureTold(await setUpFailing(t, NATIVE_WIRES.find((native) => native.kind === kind)!, { reply: () => ({ parts }) }))
  const created = { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } }
  const delta = [{ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } }]
  const failed = { type: 'response.failed', sequence_number: 1, response: { error: { code: 'server_error', message: 'oh dear' } } }
  for (const parts of [[created, failed], [created, ...delta, failed]]) {
    t.match(await inside('openai', parts), { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true, message: /oh dear/ })
  }
  const started = {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } }
  }
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  for (const parts of [[overloaded], [started, overloaded]]) {
    t.match(await inside('anthropic', parts), { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true, message: /Overloaded/ })
  }
  t.match(await inside('google', [{ error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }]), {
    code: 'ERR_PROVIDER_RATE_LIMIT',
    retryable: true
  })
})
