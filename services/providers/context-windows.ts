import type { ModelInfo, Provider } from './provider.ts'

/** Tokens, where neither the configuration nor the provider's list says more. The offline model reads whatever there is. */
const DEFAULTS: Record<Provider['kind'], number> = { offline: Infinity, gateway: 200_000, direct: 32_768 }
/** No model of use reads less; a conversation that is well within needs no asking. */
const SMALLEST = 8_192
const WELL_WITHIN = 0.5

/** See `createWindows`. */
export interface ContextWindows {
  contextWindow(id: string, tokens: number, signal: AbortSignal): Promise<number>
}

interface Parts {
  settings: () => { contextWindows?: Record<string, number> }
  /** Throws for what is no model. */
  providerOf: (id: string) => Provider
  catalog: { find(provider: Provider, id: string, signal: AbortSignal): Promise<ModelInfo | undefined> }
}

/**
 * How many tokens a model reads at once: what `contextWindows` of the configuration says of it or of its provider, what
 * its provider's list says, else a default. Nobody is asked for the sake of a conversation of few `tokens`.
 */
export function createContextWindows ({ settings, providerOf, catalog }: Parts): ContextWindows['contextWindow'] {
  return async (id, tokens, signal) => {
    const configured = settings().contextWindows ?? {}
    for (const name of [id, id.slice(0, id.indexOf('/'))]) if (Object.hasOwn(configured, name)) return configured[name]
    let provider: Provider
    try {
      provider = providerOf(id)
    } catch {
      return DEFAULTS.gateway
    }
    // Only servers that are asked directly tell it.
    if (provider.kind !== 'direct' || tokens <= SMALLEST * WELL_WITHIN) return DEFAULTS[provider.kind]
    return (await catalog.find(provider, id, signal))?.contextWindow ?? DEFAULTS.direct
  }
}
