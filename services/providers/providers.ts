import type { ConfigureBody, ModelList, ProviderList, ProviderTested } from '../../schemas/providers.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConfigService } from '../config/config.ts'
import { emptyIfDamaged } from '../store/damaged-record.ts'
import type { StoredRecord } from '../store/store-types.ts'
import { createModelCatalog } from './model-catalog.ts'
import type { Provider } from './provider.ts'
import { createDirectProvider } from './direct.ts'
import { createGatewayProvider } from './gateway.ts'
import { createOfflineProvider } from './offline/index.ts'
import { probeModel } from './probe.ts'
import { createRegistry } from './registry.ts'
import { createContextWindows } from './context-windows.ts'

export type Providers = Awaited<ReturnType<typeof createProviders>>

interface Secrets {
  gateway_key?: string
}

interface Parts {
  /** Encrypted; the only place a configured key is kept. */
  keys: StoredRecord<Secrets>
  config: Pick<ConfigService, 'current' | 'update'>
  clock: Clock
  environment: { gatewayKey?: string, gatewayBaseURL?: string }
  /** Where `${VAR}` in the key of a provider is looked up. */
  variables: Record<string, string | undefined>
}

/** Creates the service's access to models: the registry of roles, the model lists, and the operations that change them. */
export async function createProviders ({ keys, config, clock, environment, variables }: Parts) {
  // A damaged key record must not prevent the start: the user can configure the key again.
  let { gateway_key: configuredKey } = await keys.get().catch(emptyIfDamaged)
  const offline = createOfflineProvider({ clock, script: () => config.current.offline?.script })
  const gateway = createGatewayProvider({
    settings: () => ({
      apiKey: configuredKey ?? environment.gatewayKey,
      baseURL: environment.gatewayBaseURL ?? config.current.gateway?.baseURL
    })
  })
  const direct = new Map<string, Provider>()

  function directProvider (name: string): Provider {
    let provider = direct.get(name)
    if (!provider) {
      // hasOwn: a name such as "constructor" exists on every object but is no provider.
      const own = () => Object.hasOwn(config.current.providers ?? {}, name) ? config.current.providers![name] : undefined
      direct.set(name, provider = createDirectProvider({ name, settings: own, variables }))
    }
    return provider
  }

  const settings = () => config.current
  const providers = () => [offline, ...Object.keys(config.current.providers ?? {}).map(directProvider), gateway]
  const registry = createRegistry({ providers, settings, clock })
  const catalog = createModelCatalog({ providers, settings, describe: registry.describeListFailure, clock })
  const contextWindow = createContextWindows({ settings, providerOf: (id) => registry.parseModelId(id).provider, catalog })

  return {
    ...registry,
    contextWindow,

    secrets: (): string[] => [...registry.secrets(), configuredKey, environment.gatewayKey].filter((secret) => secret !== undefined),

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

    /** Stores a model, a key or both; the next run uses them. Throws InvalidModelId (400) before anything changes. */
    async configure ({ model, gateway_key: key }: ConfigureBody) {
      if (model !== undefined) registry.parseModelId(model)
      if (key !== undefined) {
        await keys.update((secrets) => ({ ...secrets, gateway_key: key })).catch((error) =>
          keys.replace({ ...emptyIfDamaged(error), gateway_key: key })
        )
        configuredKey = key
        catalog.drop()
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

    /** Lists the models of every provider. */
    models: (signal: AbortSignal): Promise<ModelList> => catalog.list(signal),

    /** Tests whether a model answers; without an id, the active model. Throws InvalidModelId (400). */
    async test (id: string | undefined, signal: AbortSignal): Promise<ProviderTested> {
      if (id !== undefined) registry.parseModelId(id)
      return probeModel({ id: id ?? registry.active(), load: registry.model, describe: registry.describeFailure, clock, signal })
    }
  }
}
