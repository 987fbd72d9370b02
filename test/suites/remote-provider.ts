import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { Aborted } from '../../services/lib/abort.ts'
import type { Plan } from '../fakes/gateway-plan.ts'
import { failureTold, KEY, openRemote, type RemoteKind } from '../harness/remote-providers.ts'

const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: PNG } }

/** What every provider does whose models answer over HTTP: all kinds of answers, and all kinds of failures. */
export function remoteProviderSuite (t: Test, remote: RemoteKind) {
  const { kind } = remote
  const failure = async (t: Test, plan: Plan) => failureTold(await openRemote(t, remote, { reply: () => plan }))
  const failedWith = (t: Test, error: NonNullable<Plan['error']>) => failure(t, { error })

  async function partsOf (t: Test, plan: Plan, prompt: LanguageModelV4Prompt = [user(
    'go'
  )], more: Partial<LanguageModelV4CallOptions> = {}) {
    const { registry, id, calls } = await openRemote(t, remote, { reply: () => plan })
    const { model } = await registry.model(id)
    const parts: LanguageModelV4StreamPart[] = []
    for await (const part of (await model.doStream({ prompt, ...more })).stream) parts.push(part)
    return { parts, body: calls()[0].body }
  }

  t.test(`${kind}: several calls of one answer keep their order, inputs and ids`, async (t) => {
    const inputs = [{ path: 'a' }, { path: 'b', deep: { list: [1, 'ü"\\'] } }, {}]
    const plan = { text: 'Let me look.', toolCalls: inputs.map((input) => ({ toolName: 'listDirectory', input })) }
    const { parts, body } = await partsOf(t, plan, [user('cut \ud83d\ud83d within, and \\ud83d as text')])
    const asked = JSON.stringify(body)
    t.ok(asked.includes(String.raw`cut ${'\ufffd\ufffd'} within, and \\ud83d as text`), 'half a character is none: providers refuse it')
    const calls = parts.filter((part) => part.type === 'tool-call')
    t.strictSame(calls.map(({ input }) => JSON.parse(input)), inputs)
    t.equal(new Set(calls.map(({ toolCallId }) => toolCallId)).size, 3)
  })

  t.test(`${kind}: reasoning arrives in pieces, before the text`, async (t) => {
    const { parts } = await partsOf(t, { reasoning: 'one two three', signature: 'signed', text: 'four' })
    t.equal(parts.map((part) => part.type === 'reasoning-delta' ? part.delta : '').join(''), 'one two three')
    t.ok(parts.filter(({ type }) => type === 'reasoning-delta').length >= 3)
    t.ok(parts.findLastIndex(({ type }) => type === 'reasoning-delta') < parts.findIndex(({ type }) => type === 'text-delta'))
  })

  t.test(`${kind}: pictures of the user and of tools reach the model`, async (t) => {
    const { body } = await partsOf(t, { text: 'I see.' }, [
      { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'screenshot', input: {} }] },
      {
        role: 'tool',
        content: [{
          type: 'tool-result',
          toolCallId: 'call_1',
          toolName: 'screenshot',
          output: { type: 'content', value: [{ type: 'text', text: 'taken' }, image] }
        }]
      }
    ])
    t.equal(JSON.stringify(body).split(PNG).length - 1, 2)
  })

  t.test(`${kind}: what the provider refuses is told apart by what can be done about it`, async (t) => {
    const { message, ...refused } = await failureTold(await openRemote(t, remote, { apiKey: 'another' }))
    t.match(refused, { code: 'ERR_PROVIDER_AUTH', retryable: false })
    t.match(message, /key.* is not valid.*in the settings/)
    t.notMatch(message, KEY)
    const limited = await failedWith(t, { status: 429, type: 'rate_limit_exceeded', message: 'slow down', headers: { 'retry-after': '3' } })
    t.match(limited, { code: 'ERR_PROVIDER_RATE_LIMIT', retryable: true, retryAfterMs: 3_000, message: /slow down/ })
    const unknown = { status: 404, type: 'model_not_found', message: 'no such model', param: { modelId: remote.model } }
    t.match(await failedWith(t, unknown), { code: 'ERR_MODEL_NOT_FOUND', retryable: false })
    t.match(
      await failedWith(t, { status: 403, type: 'forbidden', message: 'not yours' }),
      { code: 'ERR_PROVIDER_FORBIDDEN', retryable: false }
    )
    const odd = { status: 400, message: 'odd', type: 'invalid_request_error' }
    t.match(await failedWith(t, odd), { code: 'ERR_PROVIDER_REQUEST', retryable: false, message: /odd/ })
    t.match(await failedWith(t, { ...odd, message: remote.tooLong }), { code: 'ERR_CONTEXT_TOO_LONG', retryable: false })
    for (const status of [500, 503]) {
      t.match(await failedWith(t, { status, message: 'oh dear' }), {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        retryable: true,
        message: /oh dear/
      })
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

  const stalls: Array<[string, () => Plan | Promise<Plan>]> = [
    ['within an answer', () => ({ text: 'one two', ending: 'stall', after: 3 })],
    ['before an answer', () => new Promise<never>(() => {})]
  ]
  for (const [when, reply] of stalls) {
    t.test(`${kind}: a stall ${when} ends when the caller gives up, and the connection with it`, async (t) => {
      const opened = await openRemote(t, remote, { reply })
      const stop = new AbortController()
      const told = failureTold(opened, stop.signal)
      while (opened.calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
      stop.abort(new Aborted('timeout', 'The model sent nothing for 60 s.'))
      t.match(await told, { code: 'ERR_PROVIDER_TIMEOUT', retryable: true })
      t.equal(await opened.calls()[0].ended, 'aborted')
    })
  }

  t.test(`${kind}: the limits of answers hold, for calls and for lists`, async (t) => {
    const tooMuch: Plan = { bytes: 9 * 1024 * 1024 }
    const opened = await openRemote(t, remote, { reply: () => tooMuch, listing: () => tooMuch })
    const { model } = await opened.registry.model(opened.id)
    const error = await model.doGenerate({ prompt: [user('hi')] }).then(() => undefined, (reason) => reason)
    t.match(opened.registry.describeFailure(error, opened.id), { code: 'ERR_PROVIDER_RESPONSE', message: /more than 8 MiB/ })
    t.match(await failureTold(opened), { code: 'ERR_PROVIDER_RESPONSE', message: /more than 8 MiB/ })
    const list = await opened.provider.listModels(AbortSignal.timeout(5_000)).then(() => undefined, (reason) => reason)
    t.match(opened.registry.describeFailure(list, opened.id), { message: /more than 8 MiB/ })
  })

  t.test(`${kind}: a redirection is not followed, so that the key goes nowhere else`, async (t) => {
    const visited: string[] = []
    const server = createServer((request, response) => {
      visited.push(request.url!)
      response.writeHead(307, { location: '/elsewhere?secret' }).end()
    }).listen(0, '127.0.0.1')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
    const opened = await openRemote(t, remote, {}, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
    t.match(await failureTold(opened), { code: 'ERR_PROVIDER_RESPONSE', message: /points to \/elsewhere\)/ })
    t.equal(visited.length, 1)
  })

  t.test(`${kind}: no key is told, even when the provider repeats it, before or within an answer`, async (t) => {
    const message = `Your key ${KEY} and sk-abcdefghijklmnop`
    for (const status of [400, 401, 500]) {
      const told = await failedWith(t, { status, type: 'invalid_request_error', message })
      t.notMatch(told.message, /secret-key-1|abcdefghij/)
      t.match(told.message, /model/)
    }
    t.notMatch(
      (await failure(t, { text: 'one', ending: { error: { type: 'error', message } }, after: 2 })).message,
      /secret-key-1|abcdefghij/
    )
  })
}
