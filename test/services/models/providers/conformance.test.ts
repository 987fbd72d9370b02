import t from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { createDirectProvider } from '../../../../services/models/providers/direct.ts'
import { createGatewayProvider } from '../../../../services/models/providers/gateway.ts'
import { createOfflineProvider } from '../../../../services/models/providers/offline/index.ts'
import type { Reply } from '../../../../services/models/providers/reply-model.ts'
import { startFakeGateway, type Plan } from '../../../fakes/gateway.ts'
import { startFakeOpenAI } from '../../../fakes/openai.ts'
import { startModelServer } from '../../../fakes/model-server.ts'
import { NATIVE_WIRES } from '../../../harness/native-wires.ts'
import { providerSuite } from '../../../suites/provider.ts'
import { REMOTE_KINDS } from '../../../harness/remote-providers.ts'
import { remoteProviderSuite } from '../../../suites/remote-provider.ts'

const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ')

/** What a model server answers to the suite's messages. */
function planFor (said: string): Plan {
  if (said === 'tool') return { toolCalls: [{ toolName: 'listDirectory', input: { path: 'src' } }] }
  return said === 'slow' ? { text: words, partMs: 200 } : { text: words }
}

providerSuite(t, 'offline/assistant', async () => ({
  provider: createOfflineProvider({ clock: systemClock, script: () => undefined }),
  modelId: 'assistant',
  say: { text: 'Who are you?', tool: 'list the files in src', slow: 'Who are you?' }
}))

providerSuite(t, 'offline/scripted', async () => {
  const script: Reply[] = []
  const turns: Record<string, Reply> = {
    text: { text: words },
    tool: { toolCalls: [{ toolName: 'listDirectory', input: { path: 'src' } }] },
    slow: { text: words, chunkMs: 1_000 }
  }
  const provider = createOfflineProvider({ clock: systemClock, script: () => script })
  return {
    modelId: 'scripted',
    say: { text: 'text', tool: 'tool', slow: 'slow' },
    provider: {
      ...provider,
      // A script does not read: the turn is laid out for each message.
      async languageModel (id) {
        const model = await provider.languageModel(id)
        const laid = <Options extends { prompt: any[] }>(options: Options) => {
          script[0] = turns[options.prompt.at(-1).content[0].text]
          return options
        }
        return { ...model, doStream: (options) => model.doStream(laid(options)), doGenerate: (options) => model.doGenerate(laid(options)) }
      }
    }
  }
})

providerSuite(t, 'the gateway', async (t) => {
  const gateway = await startFakeGateway({ reply: ({ body }) => planFor(body.prompt.at(-1).content[0].text) })
  t.teardown(() => gateway.close())
  return {
    provider: createGatewayProvider({ settings: () => ({ baseURL: gateway.url, apiKey: 'test-key' }) }),
    modelId: 'anthropic/claude-sonnet-5.5',
    say: { text: 'text', tool: 'tool', slow: 'slow' }
  }
})

providerSuite(t, 'a direct provider', async (t) => {
  const server = await startFakeOpenAI({ reply: ({ body }) => planFor(body.messages.at(-1).content) })
  t.teardown(() => server.close())
  return {
    provider: createDirectProvider({ name: 'ollama', settings: () => ({ baseURL: server.url, models: ['llama3'] }), variables: {} }),
    modelId: 'llama3',
    say: { text: 'text', tool: 'tool', slow: 'slow' }
  }
})

for (const { kind, wire, model, said } of NATIVE_WIRES) {
  providerSuite(t, `a direct provider of kind ${kind}`, async (t) => {
    const server = await startModelServer(wire, { reply: (request) => planFor(said(request)), apiKey: 'a-key' })
    t.teardown(() => server.close())
    return {
      provider: createDirectProvider({ name: kind, settings: () => ({ kind, baseURL: server.url, apiKey: 'a-key' }), variables: {} }),
      modelId: model,
      say: { text: 'text', tool: 'tool', slow: 'slow' }
    }
  })
}

for (const remote of REMOTE_KINDS) remoteProviderSuite(t, remote)
