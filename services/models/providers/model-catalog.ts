import type { ModelList } from '../../../schemas/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ModelInfo, Provider } from './provider.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { Failure } from './failures.ts'

/** How long a list is cached, and how long a provider may take to answer, in milliseconds. */
const CACHE_MS = 5 * 60_000
const LIST_TIMEOUT_MS = 10_000
/** How long a run waits for a list, in milliseconds. */
const FIND_TIMEOUT_MS = 2_000
/** Models of one provider that are kept. */
const MAX_MODELS = 2_000

interface Parts {
  providers: () => Provider[]
  /** Returns a different object after each change of the configuration. */
  settings: () => object
  describe(error: unknown, provider: Provider): Failure
  clock: Clock
}

/** Creates the catalog of all providers' models. Each provider's list is cached for five minutes. */
export function createModelCatalog ({ providers, settings, describe, clock }: Parts) {
  let cache = new Map<string, { models: ModelInfo[], at: number }>()
  let cachedSettings = settings()
  /** For each provider whose list could not be read: the time before which `find` does not request the list again. */
  const retryAt = new Map<string, number>()

  /** Empties the cache. Requests that are under way store their lists in the old cache, which is discarded. */
  function drop () {
    cache = new Map()
    retryAt.clear()
    cachedSettings = settings()
  }

  async function modelsOf (provider: Provider, signal: AbortSignal): Promise<ModelInfo[]> {
    const lists = cache
    const known = lists.get(provider.name)
    if (known && clock.now() - known.at < CACHE_MS && clock.now() >= known.at) return known.models
    const all = await withDeadline({ clock, ms: LIST_TIMEOUT_MS, signal }, (deadline) => provider.listModels(deadline))
    const models = all.slice(0, MAX_MODELS)
    lists.set(provider.name, { models, at: clock.now() })
    return models
  }

  return {
    drop,

    /** Drops the cached list of a provider, so that it is read anew. */
    dropListOf: (name: string): void => void cache.delete(name),

    /**
     * Returns a model's entry in its provider's list; undefined if there is none. If the list does not arrive in time, the previous one is
     * used: otherwise no model could be called under a budget in dollars.
     */
    async find (provider: Provider, id: string, signal: AbortSignal): Promise<ModelInfo | undefined> {
      if (settings() !== cachedSettings) drop()
      const inLastList = () => cache.get(provider.name)?.models.find((model) => model.id === id)
      if (clock.now() < (retryAt.get(provider.name) ?? 0)) return inLastList()
      try {
        const models = await withDeadline({ clock, ms: FIND_TIMEOUT_MS, signal }, (deadline) => modelsOf(provider, deadline))
        return models.find((model) => model.id === id)
      } catch {
        signal.throwIfAborted()
        retryAt.set(provider.name, clock.now() + CACHE_MS)
        return inLastList()
      }
    },

    /** Lists all models. `errors` names each provider whose list cannot be read; a gateway without a key is left out. */
    async list (signal: AbortSignal): Promise<ModelList> {
      if (settings() !== cachedSettings) drop()
      const present = providers()
      const directNames = new Set(present.map(({ name }) => name))
      const asked = present.filter((provider) => provider.kind !== 'gateway' || provider.configured())
      const answers = await Promise.all(asked.map(async (provider) => {
        try {
          const models = await modelsOf(provider, signal)
          return { models: provider.kind === 'gateway' ? models.map((model) => withUniqueId(model, directNames)) : models, errors: [] }
        } catch (error) {
          return { models: [], errors: [{ provider: provider.name, error: describe(error, provider).message }] }
        }
      }))
      return { models: answers.flatMap(({ models }) => models), errors: answers.flatMap(({ errors }) => errors) }
    }
  }
}

/** Prefixes a gateway model's id with `gateway/` when its first part is also the name of another provider. */
function withUniqueId (model: ModelInfo, otherNames: Set<string>): ModelInfo {
  return otherNames.has(model.provider) ? { ...model, id: `gateway/${model.id}`, provider: 'gateway' } : model
}
