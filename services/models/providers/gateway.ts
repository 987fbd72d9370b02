import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { jsonOfFixed } from '../../lib/json.ts'
import { withGatewayCaching } from '../caching.ts'
import type { KeptCalls } from './answer-stream/kept-calls.ts'
import type { Provider } from './provider.ts'
import { ProviderNotConfigured } from './failures.ts'
import { reachOf } from './reach.ts'
import { apiOfMaker } from '../attached/file-forms.ts'
import { withBlockBinding } from '../reasoning.ts'
import { withSoundPrompt } from '../request/portable-prompt.ts'

interface GatewaySettings {
  baseURL?: string
  timeouts?: ReturnType<NonNullable<Provider['timeouts']>>
  apiKey?: string
}

const NO_KEY = 'the model gateway has no key. Give it one in the settings, or choose another model.'

/**
 * Creates the provider for the AI gateway. Settings are read at each call, so that a changed key takes effect on the next
 * call. The SDK is loaded on first use.
 */
export function createGatewayProvider (
  { settings, clock = systemClock }: { settings: () => GatewaySettings, clock?: Pick<Clock, 'now'> }
): Provider {
  const seen = new Set<string>()
  let cached: { baseURL?: string, gateway: ReturnType<typeof load> } | undefined
  let calls: Promise<KeptCalls> | undefined

  function key (): string | undefined {
    const apiKey = settings().apiKey?.trim() || undefined
    if (apiKey) seen.add(apiKey)
    return apiKey
  }

  /** Loads the SDK. Returns a function that creates the SDK's gateway, which sends its requests with the given `fetch`. */
  async function load () {
    const { createGateway } = await import('@ai-sdk/gateway')
    const baseURL = settings().baseURL || undefined
    // Without a key the SDK would search this machine for other credentials; a callback that always returns a value
    // prevents that.
    return (send: typeof globalThis.fetch) => createGateway({ baseURL, apiKey: () => key() ?? 'none', fetch: send })
  }

  /** Returns the functions that make calls. All calls share their connections. */
  function loadCalls () {
    calls ??= import('./answer-stream/kept-calls.ts').then(({ createKeptCalls }) => createKeptCalls(clock))
    return calls
  }

  return {
    name: 'gateway',
    kind: 'gateway',
    defaultModel: 'anthropic/claude-sonnet-5.5',
    fileApi: apiOfMaker,
    smallModel: 'anthropic/claude-haiku-5.5',
    get reach () {
      const { baseURL } = settings()
      return baseURL ? reachOf(baseURL) : 'cloud'
    },
    timeouts: () => settings().timeouts ?? {},
    configured: () => key() !== undefined,
    problem: () => key() === undefined ? NO_KEY : undefined,
    secrets () {
      key()
      return [...seen]
    },
    async languageModel (id) {
      if (key() === undefined) throw new ProviderNotConfigured(id, NO_KEY)
      const { baseURL } = settings()
      if (!cached || cached.baseURL !== baseURL) cached = { baseURL, gateway: load() }
      try {
        const [gateway, { send, stream }] = await Promise.all([cached.gateway, loadCalls()])
        const whole = gateway(send).languageModel(id)
        return {
          specificationVersion: 'v4',
          provider: whole.provider,
          modelId: id,
          supportedUrls: whole.supportedUrls,
          // The gateway itself merges turns as each provider needs it.
          doGenerate: (options) => whole.doGenerate(withBlockBinding(id, withSoundPrompt(options))),
          async doStream (given) {
            const options = withGatewayCaching(id, withBlockBinding(id, withSoundPrompt(given)))
            const { tools, ...others } = options
            return stream((send) => gateway(withTools(send, tools)).languageModel(id).doStream(others), options.abortSignal)
          }
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
      const [gateway, { send }] = await Promise.all([load(), loadCalls()])
      const { models } = await gateway((url, init) => send(url, { ...init, signal })).getAvailableModels()
      return models.filter(({ modelType }) => !modelType || modelType === 'language').map(({ id, name, pricing }) => ({
        id,
        name,
        provider: id.slice(0, id.indexOf('/')),
        ...pricing && {
          pricing: {
            input: pricing.input,
            output: pricing.output,
            ...(pricing.cachedInputTokens && { cachedInput: pricing.cachedInputTokens }),
            ...(pricing.cacheCreationInputTokens && { cacheWrite: pricing.cacheCreationInputTokens })
          }
        }
      }))
    },
    async warm () {
      const [gateway] = await Promise.all([load(), loadCalls()])
      // The SDK compiles and builds much in its first call. This call ends before anything is sent.
      const model = gateway(() => Promise.reject(new Error('not sent'))).languageModel('none/none')
      await Promise.allSettled([model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'none' }] }] })])
    },
    async connect () {
      if (key() === undefined) return
      const { connect } = await loadCalls()
      connect(settings().baseURL || undefined)
    },
    async close () {
      (await calls)?.close()
    }
  }
}

/**
 * Returns a function that sends the body that the SDK made with the tools added. Tools are the longest part of most requests, and their
 * JSON is made only once.
 */
function withTools (send: typeof globalThis.fetch, tools: LanguageModelV4CallOptions['tools']): typeof globalThis.fetch {
  if (tools === undefined) return send
  return (url, init) => send(url, { ...init, body: `${String(init!.body).slice(0, -1)},"tools":${jsonOfFixed(tools)}}` })
}
