import t from 'tap'
import type { Provider } from '../../../../services/models/providers/provider.ts'
import { createContextWindows } from '../../../../services/models/providers/context-windows.ts'
import { fakeClock } from '../../../harness/clock.ts'
import { withDirect } from '../../../harness/with-direct.ts'

const never = new AbortController().signal
const MANY = 100_000

t.test('a window is what the configuration says of the model or its provider, else a default of its kind', async (t) => {
  const kinds: Record<string, Provider['kind']> = { offline: 'offline', anthropic: 'gateway', ollama: 'direct' }
  const { contextWindow: windowOf } = createContextWindows({
    settings: () => ({ contextWindows: { 'anthropic/small': 5_000, openai: 7_000 } }),
    providerOf: (id) => ({ kind: kinds[id.split('/')[0]] ?? 'gateway' }) as Provider,
    clock: fakeClock(),
    catalog: { find: async () => undefined }
  })
  t.same(
    await Promise.all(['anthropic/small', 'anthropic/big', 'openai/any', 'ollama/any', 'offline/assistant', 'unheard/of'].map((id) =>
      windowOf(id, MANY, never)
    )),
    [5_000, 200_000, 7_000, 32_768, Infinity, 200_000]
  )
})

t.test("a server that is asked directly tells its models' windows; only a conversation of some length asks it, once", async (t) => {
  const { app, server } = await withDirect(t, undefined, { server: { models: [{ id: 'llama3', max_model_len: 65_536 }] } })
  const asked = () => server.requests.filter(({ method }) => method === 'GET').map(({ path }) => path).sort()
  await app.providers.contextWindow('ollama/llama3', 100, never)
  const programs = ['/api/tags', '/api/v0/models', '/props']
  t.same(asked(), programs, 'whether a program for local models serves there')
  t.equal(await app.providers.contextWindow('ollama/llama3', MANY, never), 65_536)
  t.equal(await app.providers.contextWindow('ollama/other', MANY, never), 32_768)
  t.same(asked(), [...programs, '/v1/models'])
})

t.test('a server that does not say in two seconds is not waited for, nor asked again for a while', async (t) => {
  const clock = fakeClock()
  const asked = Promise.withResolvers<void>()
  let lists = 0
  const { app } = await withDirect(t, undefined, {
    clock,
    server: {
      listing: async () => {
        lists++
        asked.resolve()
        await new Promise(() => {})
        return undefined
      }
    }
  })
  const found = app.providers.contextWindow('ollama/llama3', MANY, never)
  await asked.promise
  await clock.advance(2_000)
  t.equal(await found, 32_768)
  t.equal(await app.providers.contextWindow('ollama/llama3', MANY, never), 32_768)
  t.equal(lists, 1)
})

t.test('a limit that a refusal names is the window from then on, unless the configuration says otherwise', async (t) => {
  const refusals: Array<[words: string, tokens: number]> = [
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9012 tokens.", 8_192],
    ["This model's maximum context length is 128,000 tokens, however you requested 130001 tokens", 128_000],
    ['prompt is too long: 210345 tokens > 200000 maximum', 200_000],
    ['the request exceeds the available context size (4096 tokens), try increasing it', 4_096],
    ['The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 32_768],
    ['request (5131 tokens) exceeds the available context size (4096 tokens)', 4_096]
  ]
  for (const [message, tokens] of refusals) {
    const { app } = await withDirect(t, () => ({ error: { status: 400, message } }))
    await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'hi' }] } })
    t.equal(await app.providers.contextWindow('ollama/llama3', MANY, never), tokens, message)
    await app.close()
  }
})

t.test('models of makers that are known have the window of the table, wherever they are called; those of own servers do not', async (t) => {
  const cloud = { kind: 'gateway', reach: 'cloud' } as Provider
  const own = { kind: 'direct', reach: 'machine', contextWindow: 32_768 } as Provider
  const { contextWindow } = createContextWindows({
    settings: () => ({}),
    providerOf: (id) => id.startsWith('ollama/') ? own : cloud,
    clock: fakeClock(),
    catalog: { find: async () => undefined }
  })
  const names = ['anthropic/claude-opus-5.5', 'anthropic/claude-haiku-4-5-20251001', 'openai/gpt-6-sol', 'x/unknown', 'ollama/gpt-oss-120b']
  t.same(
    await Promise.all(names.map((name) => contextWindow(name, MANY, never))),
    [1_000_000, 200_000, 1_050_000, 200_000, 32_768]
  )
})
