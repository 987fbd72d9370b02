import type { ModelInfo, Provider } from './provider.ts'

/** Tokens, used when neither the configuration nor the provider's list gives a number. The offline model has no limit. */
const DEFAULTS: Record<Provider['kind'], number> = { offline: Infinity, gateway: 200_000, direct: 32_768 }
/** Tokens. No usable model has a smaller context window, so a conversation of at most half of it needs no look-up. */
const SMALLEST_WINDOW = 8_192
const SAFE_SHARE = 0.5

/** See `createWindows`. */
export interface ContextWindows {
  contextWindow(id: string, tokens: number, signal: AbortSignal): Promise<number>
}

interface Parts {
  settings: () => { contextWindows?: Record<string, number> }
  /** Throws when the id names no model. */
  providerOf: (id: string) => Provider
  catalog: { find(provider: Provider, id: string, signal: AbortSignal): Promise<ModelInfo | undefined> }
}

/**
 * Creates the function that returns a model's context window in tokens: from `contextWindows` in the configuration (by
 * model, then by provider), else from the provider's model list, else a default. The list is not requested for a
 * conversation of few `tokens`.
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
    // Only direct providers report context windows in their lists.
    const assumed = provider.contextWindow ?? DEFAULTS[provider.kind]
    if (provider.kind !== 'direct' || tokens <= SMALLEST_WINDOW * SAFE_SHARE) return assumed
    return (await catalog.find(provider, id, signal))?.contextWindow ?? assumed
  }
}
