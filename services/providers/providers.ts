import type { ConfigureBody, ProviderList } from '../../schemas/providers.ts'
import type { Clock } from '../clock/clock.ts'
import type { ConfigService } from '../config/config.ts'
import type { StoredRecord } from '../store/contract.ts'
import { createGatewayProvider } from './gateway.ts'
import { createOfflineProvider } from './offline/provider.ts'
import { createRegistry } from './registry.ts'

export type Providers = Awaited<ReturnType<typeof createProviders>>

interface Secrets { gateway_key?: string }

interface Parts {
  /** Encrypted; the only place a configured key is kept. */
  keys: StoredRecord<Secrets>
  config: Pick<ConfigService, 'current' | 'update'>
  clock: Clock
  environment: { gatewayKey?: string, gatewayBaseURL?: string }
}

/** The service's models: the registry of roles, and how the user changes it. */
export async function createProviders ({ keys, config, clock, environment }: Parts) {
  let { gateway_key: configuredKey } = await keys.get()
  const registry = createRegistry({
    providers: [
      createOfflineProvider({ clock, script: () => config.current.offline?.script }),
      createGatewayProvider({
        settings: () => ({
          apiKey: configuredKey ?? environment.gatewayKey,
          baseURL: environment.gatewayBaseURL ?? config.current.gateway?.baseURL
        })
      })
    ],
    settings: () => config.current,
    clock
  })

  return {
    ...registry,

    secrets: (): string[] => [configuredKey, environment.gatewayKey].filter((secret) => secret !== undefined),

    /** What keeps the active model from working, in a sentence; undefined when nothing is known to. */
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

    /** Takes a model, a key or both, durably; the next run uses them. Throws InvalidModelId (400) and then changes nothing. */
    async configure ({ model, gateway_key: key }: ConfigureBody) {
      if (model !== undefined) registry.parseModelId(model)
      if (key !== undefined) {
        await keys.update((secrets) => ({ ...secrets, gateway_key: key }))
        configuredKey = key
      }
      if (model !== undefined) await config.update((current) => ({ ...current, model }))
      const warning = registry.warning(registry.active())
      return {
        status: 'configured' as const,
        active_model: registry.active(),
        gateway_configured: registry.gatewayConfigured(),
        ...(warning !== undefined && { warning })
      }
    }
  }
}
