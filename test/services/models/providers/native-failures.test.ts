import t, { type Test } from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { createDirectProvider, type DirectSettings } from '../../../../services/models/providers/direct.ts'
import { createRegistry } from '../../../../services/models/providers/registry.ts'
import type { Plan } from '../../../fakes/gateway.ts'
import { startModelServer, type ModelServerOptions } from '../../../fakes/model-server.ts'
import { NATIVE_WIRES, type NativeWire } from '../../../harness/native-wires.ts'
import { failureTold } from '../../../harness/remote-providers.ts'

async function setUp (t: Test, { kind, wire, model }: NativeWire, options: ModelServerOptions = {}, more: Partial<DirectSettings> = {}) {
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
    const there = await setUp(t, native)
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
    failureTold(await setUp(t, NATIVE_WIRES.find((native) => native.kind === kind)!, { reply: () => ({ error }) }))
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
    failureTold(await setUp(t, NATIVE_WIRES.find((native) => native.kind === kind)!, { reply: () => ({ parts }) }))
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
