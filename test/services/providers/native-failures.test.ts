import t, { type Test } from 'tap'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Aborted } from '../../../services/lib/abort.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { failureOf, isFailure } from '../../../services/models/check-part.ts'
import { createDirectProvider, type DirectSettings } from '../../../services/providers/direct.ts'
import { createRegistry } from '../../../services/providers/registry.ts'
import type { Plan } from '../../fakes/gateway.ts'
import { startModelServer, type ModelServerOptions } from '../../fakes/model-server.ts'
import { NATIVE_WIRES, type NativeWire } from '../../harness/native-wires.ts'

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]

async function setUp (t: Test, { kind, wire, model }: NativeWire, options: ModelServerOptions = {}, more: Partial<DirectSettings> = {}) {
  const server = await startModelServer(wire, options)
  t.teardown(() => server.close())
  const settings: DirectSettings = { kind, baseURL: server.url, apiKey: 'secret-key-1', ...more }
  const provider = createDirectProvider({ name: kind, settings: () => settings, variables: {} })
  const registry = createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
  return { server, settings, provider, registry, id: `${kind}/${model}` }
}

/** What is told of a call that fails, before or in its stream. */
async function told ({ registry, id }: Pick<Awaited<ReturnType<typeof setUp>>, 'registry' | 'id'>) {
  try {
    const { model } = await registry.model(id)
    const { stream } = await model.doStream({ prompt })
    let isFinished = false
    for await (const part of stream) {
      if (isFailure(part)) throw failureOf(part)
      isFinished ||= part.type === 'finish'
    }
    if (!isFinished) throw new Error("The model's answer broke off before it was finished.")
  } catch (error) {
    return registry.describeFailure(error, id)
  }
  throw new Error('The call did not fail')
}

for (const native of NATIVE_WIRES) {
  const { kind } = native
  const failure = async (t: Test, plan: Plan) => told(await setUp(t, native, { reply: () => plan }))
  const failedWith = (t: Test, error: NonNullable<Plan['error']>) => failure(t, { error })

  t.test(`${kind}: what the provider refuses is told apart by what can be done about it`, async (t) => {
    const { message, ...refused } = await told(await setUp(t, native, { apiKey: 'another' }))
    t.match(refused, { code: 'ERR_PROVIDER_AUTH', retryable: false })
    t.match(message, new RegExp(`the key is not valid.*"apiKey" for "${kind}".*"keys"`))
    t.notMatch(message, 'secret-key-1')
    t.match(await failedWith(t, { status: 429, message: 'slow down', headers: { 'retry-after': '3' } }), {
      code: 'ERR_PROVIDER_RATE_LIMIT',
      retryable: true,
      retryAfterMs: 3_000,
      message: /slow down/
    })
    t.match(await failedWith(t, { status: 404, type: 'not_found_error', message: 'no such model' }), { code: 'ERR_MODEL_NOT_FOUND' })
    t.match(await failedWith(t, { status: 403, type: 'permission_error', message: 'not yours' }), { code: 'ERR_PROVIDER_FORBIDDEN' })
    t.match(await failedWith(t, { status: 400, message: 'odd', type: 'invalid_request_error' }), { code: 'ERR_PROVIDER_REQUEST', message: /odd/ })
    for (const status of [500, 503]) {
      t.match(await failedWith(t, { status, message: 'oh dear' }), { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true, message: /oh dear/ })
    }
    t.match(await failedWith(t, { status: 502, body: '<html>bad gateway</html>' }), { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true })
  })

  t.test(`${kind}: an answer that breaks off, makes no sense or fails midway is told as such`, async (t) => {
    const cut = { code: 'ERR_PROVIDER_CONNECTION', retryable: true }
    for (const after of [1, 3]) {
      t.match(await failure(t, { text: 'one two three four', ending: 'cut', after }), cut)
      t.match(await failure(t, { text: 'one two three four', ending: 'no-finish', after }), cut)
    }
    t.match(await failure(t, { text: 'one two', ending: 'no-finish' }), cut)
    t.match(await failure(t, { text: 'one two', ending: 'invalid-json' }), { code: 'ERR_PROVIDER_RESPONSE', retryable: true })
  })

  t.test(`${kind}: a stalled answer ends when the caller gives up, and the connection with it`, async (t) => {
    const { server, registry, id } = await setUp(t, native, { reply: () => ({ text: 'one two', ending: 'stall', after: 3 }) })
    const { model } = await registry.model(id)
    const stop = new AbortController()
    const answer = (async () => {
      const { stream } = await model.doStream({ prompt, abortSignal: stop.signal })
      for await (const part of stream) if (isFailure(part)) throw failureOf(part)
    })()
    while (server.calls.length === 0) await new Promise(setImmediate)
    stop.abort(new Aborted('timeout', 'The model sent nothing for 60 s.'))
    const error = await answer.then(() => undefined, (reason) => reason)
    t.match(registry.describeFailure(error, id), { code: 'ERR_PROVIDER_TIMEOUT', retryable: true })
    t.equal(await server.calls[0].ended, 'aborted')
  })

  t.test(`${kind}: the limits of answers hold, for calls and for lists`, async (t) => {
    const whole = await setUp(t, native, { reply: () => ({ bytes: 9 * 1024 * 1024 }), listing: () => ({ bytes: 9 * 1024 * 1024 }) })
    const { model } = await whole.registry.model(whole.id)
    const error = await model.doGenerate({ prompt }).then(() => undefined, (reason) => reason)
    t.match(whole.registry.describeFailure(error, whole.id), { code: 'ERR_PROVIDER_RESPONSE', message: /more than 8 MiB/ })
    t.match(await told(whole), { code: 'ERR_PROVIDER_RESPONSE', message: /one document instead of a stream/ })
    await t.rejects(whole.provider.listModels(AbortSignal.timeout(5_000)), /more than 8 MiB/)
  })

  t.test(`${kind}: a redirection is not followed, so that the key goes nowhere else`, async (t) => {
    const visited: string[] = []
    const server = createServer((request, response) => {
      visited.push(request.url!)
      response.writeHead(307, { location: '/elsewhere?secret' }).end()
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const there = await setUp(t, native)
    there.settings.baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    t.match(await told(there), { code: 'ERR_PROVIDER_RESPONSE', message: /points to \/elsewhere\)/ })
    t.equal(visited.length, 1)
  })

  t.test(`${kind}: no key is told, even when the provider repeats it`, async (t) => {
    const there = await setUp(t, native, { reply: () => ({ error: { status: 400, message: 'Your key secret-key-1 and sk-abcdefghijklmnop' } }) })
    t.notMatch((await told(there)).message, /secret-key-1|abcdefghij/)
  })

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
    t.match(await told(there), { code: 'ERR_PROVIDER_NOT_CONFIGURED', message: /it has no key\. POST \/providers\/configure with \{"keys"/ })
    t.equal(there.server.requests.length, 0)

    there.settings.baseURL = there.server.url
    await told(there).catch(() => {})
    t.notMatch(JSON.stringify(there.server.calls.map(({ headers }) => headers)), 'from-the-environment')
  })
}

t.test('the sentences of each provider about a conversation that is too long, credit and keys are understood', async (t) => {
  const says = async (kind: string, error: NonNullable<Plan['error']>) =>
    told(await setUp(t, NATIVE_WIRES.find((native) => native.kind === kind)!, { reply: () => ({ error }) }))
  const tooLong: Array<[string, string]> = [
    ['openai', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
    ['anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
    ['google', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).']
  ]
  for (const [kind, message] of tooLong) {
    t.match(await says(kind, { status: 400, type: 'invalid_request_error', message }), { code: 'ERR_CONTEXT_TOO_LONG' }, kind)
  }
  t.match(
    await says('anthropic', { status: 400, type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' }),
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
    told(await setUp(t, NATIVE_WIRES.find((native) => native.kind === kind)!, { reply: () => ({ parts }) }))
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
