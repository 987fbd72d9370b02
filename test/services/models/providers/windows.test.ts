import t from 'tap'
import type { Provider } from '../../../../services/models/providers/provider.ts'
import { createContextWindows } from '../../../../services/models/providers/context-windows.ts'
import { fakeClock } from '../../../harness/clock.ts'
import { withDirect } from '../../../harness/with-direct.ts'

const never = new AbortController().signal
const MANY = 100_000

t.test('a window is what the configuration says of the model or its provider, else a default of its kind', async (t) => {
  const kinds: Record<string, Provider['kind']> = { offline: 'offline', anthropic: 'gateway', ollama: 'direct' }
  const windowOf = createContextWindows({
    settings: () => ({ contextWindows: { 'anthropic/small': 5_000, openai: 7_000 } }),
    providerOf: (id) => ({ kind: kinds[id.split('/')[0]] ?? 'gateway' }) as Provider,
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
  const lists = () => server.requests.filter(({ method }) => method === 'GET').length
  await app.providers.contextWindow('ollama/llama3', 100, never)
  t.equal(lists(), 0)
  t.equal(await app.providers.contextWindow('ollama/llama3', MANY, never), 65_536)
  t.equal(await app.providers.contextWindow('ollama/other', MANY, never), 32_768)
  t.equal(lists(), 1)
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
