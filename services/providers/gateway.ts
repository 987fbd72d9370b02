import type { Provider } from './contract.ts'
import { ProviderNotConfigured } from './errors.ts'

export interface GatewaySettings {
  baseURL?: string
  apiKey?: string
}

const GATEWAY_HINT = 'the model gateway has no key. POST /providers/configure with {"gateway_key": "<key>"}, or set AI_GATEWAY_API_KEY.'

/**
 * Models of the AI gateway. Settings are read at each call, so that a changed key works on the next one. The SDK is loaded
 * on first use.
 */
export function createGatewayProvider ({ settings, fetch }: { settings: () => GatewaySettings, fetch?: typeof globalThis.fetch }): Provider {
  const seen = new Set<string>()
  let cached: { baseURL?: string, gateway: Promise<ReturnType<typeof import('@ai-sdk/gateway').createGateway>> } | undefined

  function key (): string | undefined {
    const apiKey = settings().apiKey?.trim() || undefined
    if (apiKey) seen.add(apiKey)
    return apiKey
  }

  async function open (options: { fetch?: typeof globalThis.fetch } = {}) {
    const { createGateway } = await import('@ai-sdk/gateway')
    // Without a key the SDK would look for other credentials of this machine: the callback never lets it.
    return createGateway({ baseURL: settings().baseURL || undefined, apiKey: () => key() ?? 'none', fetch: options.fetch ?? fetch })
  }

  return {
    name: 'gateway',
    kind: 'gateway',
    defaultModel: 'anthropic/claude-sonnet-5.5',
    configured: () => key() !== undefined,
    secrets () {
      key()
      return [...seen]
    },
    async languageModel (id) {
      if (key() === undefined) throw new ProviderNotConfigured(id, GATEWAY_HINT)
      const { baseURL } = settings()
      if (!cached || cached.baseURL !== baseURL) cached = { baseURL, gateway: open() }
      try {
        return (await cached.gateway).languageModel(id)
      } catch (error) {
        cached = undefined
        throw error
      }
    },
    async listModels (signal) {
      if (key() === undefined) throw new ProviderNotConfigured('gateway', GATEWAY_HINT)
      signal.throwIfAborted()
      const send = fetch ?? globalThis.fetch
      // A gateway of its own each time: the SDK keeps the first list it got for ever.
      const gateway = await open({ fetch: (url, init) => send(url, { ...init, signal }) })
      const { models } = await gateway.getAvailableModels()
      return models.filter(({ modelType }) => !modelType || modelType === 'language').map(({ id, name, pricing }) => ({
        id, name, provider: id.slice(0, id.indexOf('/')), ...pricing && { pricing: { input: pricing.input, output: pricing.output } }
      }))
    },
    async warm () {
      await import('@ai-sdk/gateway')
    }
  }
}
