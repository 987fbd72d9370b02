import type { ConfigureBody, ModelList, ProviderList, ProviderTested } from '../../schemas/providers.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConfigService } from '../config/config.ts'
import type { StoredRecord } from '../store/store-types.ts'
import type { Meter } from '../usage/meter.ts'
import { createModelCatalog } from './model-catalog.ts'
import type { ModelInfo, Provider } from './provider.ts'
import { createDirectProvider } from './direct.ts'
import { createGatewayProvider } from './gateway.ts'
import { createOfflineProvider } from './offline/index.ts'
import { isNative, NATIVE_PROVIDERS } from './kinds/kinds.ts'
import { probeModel } from './probe.ts'
import { UnknownProvider } from './provider-errors.ts'
import { createProviderKeys, type ProviderSecrets } from './provider-keys.ts'
import { createRegistry } from './registry.ts'
import { createContextWindows } from './context-windows.ts'

export type Providers = Awaited<ReturnType<typeof createProviders>>

interface Parts {
  /** Encrypted; the only place a configured key is kept. */
  keys: StoredRecord<ProviderSecrets>
  config: Pick<ConfigService, 'current' | 'update'>
  clock: Clock
  /** From the environment and the parent process; `keys` are by name of the provider. */
  environment: { gatewayKey?: string, gatewayBaseURL?: string, keys?: Record<string, string> }
  /** Where `${VAR}` in the key of a provider is looked up. */
  variables: Record<string, string | undefined>
}

/** Creates the service's access to models: the registry of roles, the model lists, and the operations that change them. */
export async function createProviders ({ keys: record, config, clock, environment, variables }: Parts) {
  const keys = await createProviderKeys({ record, handedOver: environment.keys })
  const offline = createOfflineProvider({ clock, script: () => config.current.offline?.script })
  const gateway = createGatewayProvider({
    clock,
    settings: () => ({
      apiKey: keys.gateway() ?? environment.gatewayKey,
      baseURL: environment.gatewayBaseURL ?? config.current.gateway?.baseURL
    })
  })
  const direct = new Map<string, Provider>()
  let keyChanges = 0

  // hasOwn: a name such as "constructor" exists on every object but is no provider.
  const isInConfig = (name: string) => Object.hasOwn(config.current.providers ?? {}, name)

  function directProvider (name: string): Provider {
    let provider = direct.get(name)
    if (!provider) {
      const settings = () => isInConfig(name) ? config.current.providers![name] : undefined
      direct.set(name, provider = createDirectProvider({ name, settings, configuredKey: () => keys.of(name), variables }))
    }
    return provider
  }

  const settings = () => config.current
  function providers (): Provider[] {
    const byKey = NATIVE_PROVIDERS.filter((name) => !isInConfig(name) && keys.of(name) !== undefined)
    return [offline, ...[...Object.keys(config.current.providers ?? {}), ...byKey].map(directProvider), gateway]
  }
  const registry = createRegistry({ providers, settings, clock })
  const catalog = createModelCatalog({ providers, settings, describe: registry.describeListFailure, clock })
  const contextWindow = createContextWindows({ settings, providerOf: (id) => registry.parseModelId(id).provider, catalog })

  return {
    ...registry,
    contextWindow,

    secrets: (): string[] => [...registry.secrets(), ...keys.all(), environment.gatewayKey].filter((secret) => secret !== undefined),

    /** Returns how often keys were changed since the start, for those who must notice a change. */
    keyChanges: (): number => keyChanges,

    /** Returns the price of a model in its provider's list; undefined when the list names none or cannot be read. */
    async listedPrice (id: string): Promise<ModelInfo['pricing']> {
      const { provider, model } = registry.parseModelId(id)
      // Makers of models list no prices.
      if (provider.kind === 'offline' || provider.native) return undefined
      const name = provider.kind === 'gateway' ? model : id
      return (await catalog.find(provider, name, new AbortController().signal))?.pricing
    },

    /** Returns a sentence with the reason why the active model cannot work; undefined when no reason is known. */
    problem (): string | undefined {
      try {
        return registry.warning(registry.active())
      } catch (error) {
        return (error as Error).message
      }
    },

    overview: (): ProviderList => ({
      active_model: registry.active(),
      gateway_configured: registry.gatewayConfigured(),
      providers: registry.list(),
      roles: registry.roles()
    }),

    /**
     * Stores a model and keys; the next run uses them. Throws InvalidModelId and UnknownProvider (400) before anything changes.
     */
    async configure ({ model, gateway_key: gatewayKey, keys: given }: ConfigureBody) {
      for (const [name, key] of Object.entries(given ?? {})) {
        const isRemoved = key === null && keys.isStored(name)
        if (!isRemoved && !isInConfig(name) && !isNative(name)) throw new UnknownProvider(JSON.stringify(name))
      }
      if (model !== undefined) registry.parseModelId(model)
      if (gatewayKey !== undefined || given !== undefined) {
        await keys.change({ gateway_key: gatewayKey, keys: given })
        catalog.drop()
        keyChanges++
      }
      if (model !== undefined) await config.update((current) => ({ ...current, model }))
      const warning = registry.warning(registry.active())
      return {
        status: 'configured' as const,
        active_model: registry.active(),
        gateway_configured: registry.gatewayConfigured(),
        ...(warning !== undefined && { warning })
      }
    },

    /** Lists the models of every provider; with `discover`, also the model servers of this machine. */
    async models (signal: AbortSignal, { discover = false } = {}): Promise<ModelList> {
      if (!discover) return catalog.list(signal)
      const { createDiscovery } = await import('./discovery.ts')
      const [list, discovered] = await Promise.all([catalog.list(signal), createDiscovery({ settings, clock }).find(signal)])
      return { ...list, discovered }
    },

    /** Tests whether a model answers; without an id, the active model. Throws InvalidModelId (400). */
    async test (id: string | undefined, meter: Meter, signal: AbortSignal): Promise<ProviderTested> {
      if (id !== undefined) registry.parseModelId(id)
      return probeModel({ id: id ?? registry.active(), load: registry.model, describe: registry.describeFailure, clock, meter, signal })
    }
  }
}
