import { boundedFetch } from './bounded-fetch.ts'
import type { Provider } from './provider.ts'
import { ProviderNotConfigured } from './provider-errors.ts'
import { withBlockBinding } from './thinking.ts'

export interface GatewaySettings {
  baseURL?: string
  apiKey?: string
}

const NO_KEY = 'the model gateway has no key. POST /providers/configure with {"gateway_key": "<key>"}, or set AI_GATEWAY_API_KEY.'

/**
 * Creates the provider for the AI gateway. Settings are read at each call, so that a changed key takes effect on the next
 * call. The SDK is loaded on first use.
 */
export function createGatewayProvider (
  { settings, fetch }: { settings: () => GatewaySettings, fetch?: typeof globalThis.fetch }
): Provider {
  const seen = new Set<string>()
  type Gateway = ReturnType<typeof import('@ai-sdk/gateway').createGateway>
  let cached: { baseURL?: string, gateways: Promise<{ whole: Gateway, streamed: Gateway }> } | undefined

  function key (): string | undefined {
    const apiKey = settings().apiKey?.trim() || undefined
    if (apiKey) seen.add(apiKey)
    return apiKey
  }

  async function open (mode: 'answer' | 'events', signal?: AbortSignal) {
    const { createGateway } = await import('@ai-sdk/gateway')
    const send = boundedFetch(mode, fetch)
    return createGateway({
      baseURL: settings().baseURL || undefined,
      // Without a key the SDK would search this machine for other credentials; a callback that always returns a value
      // prevents that.
      apiKey: () => key() ?? 'none',
      fetch: signal ? (url, init) => send(url, { ...init, signal }) : send
    })
  }

  async function openBoth () {
    const [whole, streamed] = await Promise.all([open('answer'), open('events')])
    return { whole, streamed }
  }

  return {
    name: 'gateway',
    kind: 'gateway',
    defaultModel: 'anthropic/claude-sonnet-5.5',
    configured: () => key() !== undefined,
    problem: () => key() === undefined ? NO_KEY : undefined,
    secrets () {
      key()
      return [...seen]
    },
    async languageModel (id) {
      if (key() === undefined) throw new ProviderNotConfigured(id, NO_KEY)
      const { baseURL } = settings()
      if (!cached || cached.baseURL !== baseURL) cached = { baseURL, gateways: openBoth() }
      try {
        const gateways = await cached.gateways
        const whole = gateways.whole.languageModel(id)
        const streamed = gateways.streamed.languageModel(id)
        return {
          specificationVersion: 'v4',
          provider: streamed.provider,
          modelId: id,
          supportedUrls: streamed.supportedUrls,
          doGenerate: (options) => whole.doGenerate(withBlockBinding(id, options)),
          doStream: (options) => streamed.doStream(withBlockBinding(id, options))
        }
      } catch (error) {
        cached = undefined
        throw error
      }
    },
    async listModels (signal) {
      if (key() === undefined) throw new ProviderNotConfigured('gateway', NO_KEY)
      signal.throwIfAborted()
      // A new gateway for each request, because the SDK caches the first list for ever.
      const gateway = await open('answer', signal)
      const { models } = await gateway.getAvailableModels()
      return models.filter(({ modelType }) => !modelType || modelType === 'language').map(({ id, name, pricing }) => ({
        id,
        name,
        provider: id.slice(0, id.indexOf('/')),
        ...pricing && { pricing: { input: pricing.input, output: pricing.output } }
      }))
    },
    async warm () {
      await import('@ai-sdk/gateway')
    }
  }
}
